/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_ALLREDUCE_H
#define TORUS_ALLREDUCE_H

#include "tree_collective.h"

/*
 * All-reduce on a torus by the rings of all axes, over all links at once. Each node reduces one
 * block of the result: a block travels the ring schedule backwards, and each node on its path
 * combines it with its own data. The complete block then goes to all nodes by the ring schedule.
 *
 * piece  what a node sends at a time, of a part of a block. The reverse schedule
 *        (torus/ring_schedule.h) runs with the first pieces of all parts, then with the second
 *        ones, and so on: these are rounds. Complete pieces of one round leave while those of the
 *        next arrive. On a mesh, links that carry little in one direction carry much in the other,
 *        so all stay busy
 *
 * Both schedules are streams (torus_stream.h), each with its own words. Pieces to combine arrive in
 * slots.
 */
struct torus_ring_room {
	struct torus_words *up, *across; /* for pieces to combine, and for results */
	char *staging;
	/*
	 * Of a plan, by direction: offset of the neighbour's words and staging from this node's.
	 * NULL: a team's, at the same address on all PEs.
	 */
	const ptrdiff_t *there;
};

struct torus_ring_allreduce {
	const struct torus_topology *topology;
	uint64_t number; /* of the operation in this area, as in torus_tree_collective */
	struct torus_ring_room room;
	char *dest;
	const char *source; /* this node's data; may be dest */
	size_t bytes;
	torus_combine *combine;
	size_t element; /* bytes; lines are whole elements */
	const char *routine;
	/*
	 * Of a reduce-scatter: where the block of the node at a place begins in source, by place.
	 * All blocks have the same size. `own` gets the result of this node's block, and dest holds
	 * partial results. NULL: an all-reduce.
	 */
	const size_t *blocks;
	char *own;
};

/* Call on node leaders only. On return dest has the result. */
void torus_allreduce(const struct torus_ring_allreduce *allreduce);

/*
 * The first half of it: blocks and own are set, dest is not. On return own has the result, and the
 * program may change source, which may contain own at the place of its block.
 */
void torus_reduce_scatter(const struct torus_ring_allreduce *reduce);

/*
 * Both in steps, for plans (torus_ring_plan.c): made once, then run repeatedly. `advance` does
 * what is possible now without waiting, and sets `moved` if it did anything. It returns true when
 * the run has ended. One thread at a time may call it.
 */
struct torus_ring_plan;
struct torus_ring_plan *torus_ring_plan_make(const struct torus_ring_allreduce *allreduce);
bool torus_ring_plan_advance(struct torus_ring_plan *plan, uint64_t run, bool *moved);
void torus_ring_plan_free(struct torus_ring_plan *plan);
/* Bytes of staging that such a plan needs; for a reduce-scatter, with such blocks. */
size_t torus_ring_plan_staging(const struct torus_topology *topology, size_t bytes);
size_t torus_ring_plan_staging_of_blocks(const struct torus_topology *topology, size_t block);

/* Is the team's torus whole, and does the schedule fit in the flag array of the all-gather? */
bool torus_can_allreduce(struct torus_topology *topology);

/* Number of rounds for a message of this size. */
int torus_allreduce_rounds(const struct torus_shape *shape, size_t bytes);

#endif
