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
struct torus_ring_room {
	struct torus_words *up, *across; /* for what is combined, and for results */
	char *staging;
	/* Of a plan, by direction: how much further on the neighbour's words and staging lie. NULL: those of a team, which lie alike. */
	const ptrdiff_t *there;
};

struct torus_ring_allreduce {
	const struct torus_topology *topology;
	uint64_t number; /* of the operation in this room, as for torus_tree_collective */
	struct torus_ring_room room;
	char *dest;
	const char *source; /* this node's data; may be dest */
	size_t bytes;
	torus_combine *combine;
	size_t element; /* bytes; lines are whole elements */
	const char *routine;
};

/* Call on node leaders only. On return dest has the result. */
void torus_allreduce(const struct torus_ring_allreduce *allreduce);

/*
 * The same in steps, for plans (torus_ring_plan.c): made once, then run again and again. Advance does what can be done now and waits for nothing; moved becomes
 * true if that was something. It returns true when the run is over. Whoever advances it, one thread does at a time.
 */
struct torus_ring_plan;
struct torus_ring_plan *torus_ring_plan_make(const struct torus_ring_allreduce *allreduce);
bool torus_ring_plan_advance(struct torus_ring_plan *plan, uint64_t run, bool *moved);
void torus_ring_plan_free(struct torus_ring_plan *plan);
/* Bytes of staging of such a plan. */
size_t torus_ring_plan_staging(const struct torus_topology *topology, size_t bytes);

/* Is the team's torus whole, and does the schedule fit in the flag array of the all-gather? */
bool torus_can_allreduce(struct torus_topology *topology);

/* How many rounds a message of so many bytes takes. */
int torus_allreduce_rounds(const struct torus_shape *shape, size_t bytes);

#endif
