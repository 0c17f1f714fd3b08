/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_MODEL_H
#define TORUS_MODEL_H

#include "trees.h"

/*
 * What collectives take on a torus by a simple model, and which one to take.
 *
 * forward   time from the arrival of a segment at a node to its arrival at the next, but for its bytes
 * handle    the part of it that a node is busy, so that it cannot handle another
 * rate      of one direction of one link
 */
struct torus_costs {
	double forward, handle; /* seconds */
	double rate;		/* bytes a second */
};

/* Of nodes whose network is the kernel's, with links of some 10 Gbit/s. */
extern const struct torus_costs torus_costs_usual;

struct torus_forest {
	int trees; /* 0: no trees */
	enum torus_trees kind;
	size_t segment; /* bytes; the last one of a part may be shorter */
	double seconds;
};

/* The parts of a message, one a tree, begin at whole lines. Where part t begins; that of t = trees is the end. */
size_t torus_part_begin(size_t bytes, int trees, int t);

/* The best segments for trees of this kind, of which a part may have so many at most. No trees where the shape has none. */
struct torus_forest torus_choose_segment(const struct torus_shape *shape, enum torus_trees kind, int root, size_t bytes,
					 size_t most_segments, const struct torus_costs *costs);

/* The best kind of trees with its best segments. No trees: the shape has no links. */
struct torus_forest torus_choose_trees(const struct torus_shape *shape, int root, size_t bytes, size_t most_segments,
				       const struct torus_costs *costs);

/* What a binomial tree takes for a message as a whole. */
double torus_binomial_seconds(int nodes, size_t bytes, const struct torus_costs *costs);

#endif
