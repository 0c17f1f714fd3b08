/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_ALLREDUCE_H
#define TORUS_ALLREDUCE_H

#include "tree_collective.h"

/*
 * All-reduce on a torus by the rings of all axes, over all links at once: each node gets a block of the result, and then all get all
 * blocks (torus_allgather.h). A block gets to its node on the ways on which it leaves it again, backwards, and is combined with what each
 * node on the way brings.
 *
 * piece  of a part of a block: what a node sends at a time. The list of returns (torus/ring_schedule.h) is gone through with the first
 *        pieces of all parts, then with the second ones, and so on: these are rounds.
 *
 * Words and staging are those of trees on their way up, and mean the same. All know all lists, so a word need not say what it
 * is about.
 */
struct torus_ring_allreduce {
	const struct torus_topology *topology;
	uint64_t number; /* of what is done in this area, as for torus_tree_collective */
	struct torus_area *area;
	char *dest;
	const char *source; /* what this node brings; may be dest */
	size_t bytes;
	torus_combine *combine;
	size_t element; /* bytes; lines are whole elements */
	const char *routine;
};

/* For the one PE of each node that stands for it. On return all of dest is there. */
void torus_allreduce(const struct torus_ring_allreduce *allreduce);

/* Is there a word for each pass? */
bool torus_can_allreduce(const struct torus_topology *topology);

/* How many rounds a message of so many bytes takes. */
int torus_allreduce_rounds(const struct torus_shape *shape, size_t bytes);

#endif
