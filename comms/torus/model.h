/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_MODEL_H
#define TORUS_MODEL_H

#include "disjoint_trees.h"
#include "lines.h"

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

struct torus_tree_choice {
	int trees; /* 0: no trees */
	enum torus_trees kind;
	size_t segment; /* bytes; the last one of a part may be shorter */
	double seconds;
};

/* The parts of a message, one a tree, begin at whole lines. Where part t begins; that of t = trees is the end. */
size_t torus_part_begin(size_t bytes, int trees, int t);

/* What is to be done. */
struct torus_task {
	size_t bytes;
	int root;				     /* place */
	bool up_first;				     /* an all-reduce: up the trees and, at the same time, down again */
	size_t most_segments;			     /* of a part; 0: any number */
	size_t longest;				     /* bytes of a segment; 0: any */
	const struct torus_disjoint_trees *disjoint; /* from this root; NULL: none is known */
	bool damaged;				     /* nothing but the disjoint trees may be used */
};

/* The best segments for trees of this kind. No trees where the shape has none. */
struct torus_tree_choice torus_choose_segment(const struct torus_shape *shape, enum torus_trees kind,
					      const struct torus_task *task, const struct torus_costs *costs);

/*
 * The best kind of trees with its best segments. No trees: the shape has no links. An all-reduce uses the links in both directions, so
 * twice as many trees would have half of each.
 */
struct torus_tree_choice torus_choose_trees(const struct torus_shape *shape, const struct torus_task *task,
					    const struct torus_costs *costs);

/* The place from which the others are nearest. */
int torus_middle(const struct torus_shape *shape);

/* What a binomial tree takes for a message as a whole. */
double torus_binomial_seconds(int nodes, size_t bytes, const struct torus_costs *costs);

/* What a chain of all nodes takes that forward it in segments. */
double torus_chain_seconds(int nodes, size_t bytes, size_t segment, const struct torus_costs *costs);

/* What an all-reduce takes in which each node combines a part of everybody's and then takes the others' parts. */
double torus_parts_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs);

/*
 * What an all-gather of so many bytes in all takes: along one ring of all nodes; in rounds along one axis after the other; and by the ring
 * schedule of all axes (ring_schedule.h).
 */
double torus_lines_gather_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs);
double torus_ring_seconds(int nodes, size_t bytes, const struct torus_costs *costs);
double torus_gather_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs);

/*
 * What an all-reduce takes by the rings of all axes, where what comes together is cut into so many pieces that it goes in rounds
 * (comms/collectives/torus_allreduce.h).
 */
double torus_ring_allreduce_seconds(const struct torus_shape *shape, int rounds, size_t bytes,
				    const struct torus_costs *costs);

/*
 * What an all-to-all takes of so many bytes for each: directly, by routes in dimension order, which all go upwards half-way round a ring,
 * in so many messages to each; in one message to each node of a line, axis by axis; from neighbour to neighbour by the exchange schedule.
 */
double torus_direct_seconds(const struct torus_shape *shape, size_t bytes, int messages,
			    const struct torus_costs *costs);
double torus_lines_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs);
double torus_links_seconds(const struct torus_shape *shape, const struct torus_lines *lines, size_t bytes,
			   const struct torus_costs *costs);

#endif
