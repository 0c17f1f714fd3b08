/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_MODEL_H
#define TORUS_MODEL_H

#include "disjoint_trees.h"
#include "lines.h"

/*
 * The time of collectives on a torus by a simple model, and the choice between them.
 *
 * forward   time from the arrival of a segment at a node to its arrival at the next, without the
 *           time of its bytes
 * handle    part of it during which the node cannot handle another segment
 * rate      of one direction of one link
 */
struct torus_costs {
	double forward, handle; /* seconds */
	double rate;		/* bytes a second */
};

/*
 * A message of this many bytes takes twice as long as an empty one: the latency decides about
 * shorter messages, the rate about longer ones.
 */
size_t torus_balanced_bytes(const struct torus_costs *costs);

struct torus_tree_choice {
	int trees; /* 0: no trees */
	enum torus_trees kind;
	size_t segment; /* bytes; the last one of a part may be shorter */
	double seconds;
};

/*
 * The parts of a message, one per tree, begin at whole lines. Returns the start of part t; for t =
 * trees, the end.
 */
size_t torus_part_begin(size_t bytes, int trees, int t);

/* The collective to choose trees for. */
struct torus_task {
	size_t bytes;
	int root; /* place */
	/* An all-reduce: up the trees and, at the same time, down again. */
	bool up_first;
	size_t most_segments;			     /* of a part; 0: any number */
	size_t longest;				     /* most bytes of a segment; 0: any */
	const struct torus_disjoint_trees *disjoint; /* from this root; NULL: unknown */
	bool damaged;				     /* only disjoint trees may be used */
};

/* The best segment size for trees of this kind. Returns no trees if the shape has none. */
struct torus_tree_choice torus_choose_segment(const struct torus_shape *shape, enum torus_trees kind,
					      const struct torus_task *task, const struct torus_costs *costs);

/*
 * The best kind of trees with its best segment size. Returns no trees if the shape has no links. An
 * all-reduce sends every tree's data up and down, so a tree needs both directions of its links;
 * kinds with twice as many trees (TORUS_TREES_TWICE) then gain nothing.
 */
struct torus_tree_choice torus_choose_trees(const struct torus_shape *shape, const struct torus_task *task,
					    const struct torus_costs *costs);

/* The place nearest to all others. */
int torus_middle(const struct torus_shape *shape);

/* Time of a binomial tree for a message as a whole. */
double torus_binomial_seconds(int nodes, size_t bytes, const struct torus_costs *costs);

/* Time of a chain of all nodes that forward it in segments. */
double torus_chain_seconds(int nodes, size_t bytes, size_t segment, const struct torus_costs *costs);

/* Whether a broadcast is faster down a binomial tree than along such a chain. */
bool torus_tree_beats_chain(int nodes, size_t bytes, size_t segment, const struct torus_costs *costs);

/*
 * Whether several trees that share no link may be faster than one. Each costs a node at least one
 * more message.
 */
bool torus_several_trees_may_pay(size_t bytes, const struct torus_costs *costs);

/*
 * Whether an all-gather of this many bytes in all is faster in rounds, each with a node twice as
 * far, than along one ring of all nodes.
 */
bool torus_rounds_beat_ring(int nodes, size_t bytes, const struct torus_costs *costs);

/*
 * Time of an all-reduce in which each node combines a part of everybody's data and then fetches the
 * others' parts.
 */
double torus_parts_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs);

/*
 * Time of an all-gather of this many bytes in all: in rounds, each with a node twice as far; along
 * one ring of all nodes; in rounds along one axis after the other; and by the ring schedule of all
 * axes (ring_schedule.h).
 */
double torus_rounds_seconds(int nodes, size_t bytes, const struct torus_costs *costs);
double torus_lines_gather_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs);
double torus_ring_seconds(int nodes, size_t bytes, const struct torus_costs *costs);
double torus_gather_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs);

/*
 * Time of an all-reduce by the rings of all axes, with data cut into this many pieces, which go in
 * rounds (comms/collectives/torus_allreduce.h).
 */
double torus_ring_allreduce_seconds(const struct torus_shape *shape, int rounds, size_t bytes,
				    const struct torus_costs *costs);

/*
 * Time of an all-reduce of little data, in pieces of at most `most` bytes, one after another: by
 * recursive doubling over any routes; and along one axis after the other
 * (comms/collectives/torus_lines_allreduce.h).
 */
double torus_doubling_seconds(const struct torus_shape *shape, size_t bytes, size_t most,
			      const struct torus_costs *costs);
double torus_lines_allreduce_seconds(const struct torus_shape *shape, size_t bytes, size_t most,
				     const struct torus_costs *costs);
/*
 * Are the nodes of this line, a ring of four, paired with one neighbour and then with the other?
 * That is a message of each node in a round.
 */
bool torus_lines_by_pairs(const struct torus_axis *axis);

/*
 * Time of an all-to-all of this many bytes per node: directly, by routes in dimension order, which
 * all go upwards half-way round a ring, in this many messages to each; in one message to each node
 * of a line, axis by axis; from neighbour to neighbour by the exchange schedule.
 */
double torus_direct_seconds(const struct torus_shape *shape, size_t bytes, int messages,
			    const struct torus_costs *costs);
double torus_lines_seconds(const struct torus_shape *shape, size_t bytes, const struct torus_costs *costs);
double torus_links_seconds(const struct torus_shape *shape, const struct torus_lines *lines, size_t bytes,
			   const struct torus_costs *costs);

#endif
