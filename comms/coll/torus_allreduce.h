/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_ALLREDUCE_H
#define TORUS_ALLREDUCE_H

#include "tree_collective.h"

/*
 * All-reduce on a torus by the rings of all axes, over all links at once. Each node gets one block of the result: a block travels the ring
 * schedule backwards, and each node on its path combines it with its own data. From its node a block goes to all by the ring schedule.
 *
 * piece  what a node sends at a time, of a part of a block. The reverse schedule (torus/ring_schedule.h) runs with the first pieces of
 *        all parts, then with the second ones, and so on: these are rounds. What is complete of a round goes out while the next ones come
 *        in. On a mesh the links that have little to carry one way have much the other way, so that they are always busy.
 *
 * Both schedules are streams (torus_stream.h), each with its words. What comes to be combined comes to slots.
 */
struct torus_ring_allreduce {
	const struct torus_topology *topology;
	uint64_t number; /* of the operation in this area, as for torus_tree_collective */
	struct torus_area *area;
	char *dest;
	const char *source; /* this node's data; may be dest */
	size_t bytes;
	torus_combine *combine;
	size_t element; /* bytes; lines are whole elements */
	const char *routine;
};

/* Call on node leaders only. On return dest has the result. */
void torus_allreduce(const struct torus_ring_allreduce *allreduce);

/* Is the team's torus whole, and does the schedule fit in the flag array of the all-gather? */
bool torus_can_allreduce(const struct torus_topology *topology);

/* How many rounds a message of so many bytes takes. */
int torus_allreduce_rounds(const struct torus_shape *shape, size_t bytes);

#endif
