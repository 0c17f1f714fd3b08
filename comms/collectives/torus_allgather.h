/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_ALLGATHER_H
#define TORUS_ALLGATHER_H

#include "tree_collective.h"
#include "comms/torus/ring_schedule.h"

/*
 * All-gather on a torus by the ring schedule (torus/ring_schedule.h): each node's data goes from
 * neighbour to neighbour, straight into its place in every dest.
 *
 * The flags are those of trees going down, with the same meaning: `leave` shows that the receiver
 * has begun, came[i] that step i of the sender in this direction has arrived. All nodes know all
 * schedules, so a flag need not name its step.
 */
struct torus_gathering_run {
	size_t at, bytes; /* in dest */
};

struct torus_gathering {
	const struct torus_topology *topology;
	uint64_t number; /* of the operation in this area, as in torus_tree_collective */
	struct torus_words *words;
	/* Of a plan: see struct torus_ring_room in torus_allreduce.h. */
	const ptrdiff_t *there;
	char *dest;
	/*
	 * By place: the index of the first run that belongs to its node; its last run is before
	 * that of the next place. A node has several runs if its members are not consecutive in the
	 * team. This node's own data is in dest already.
	 */
	const int *first;
	const struct torus_gathering_run *run;
	const char *routine;
};

/* Call on node leaders only. On return all data is in dest. */
void torus_gather(const struct torus_gathering *gathering);

/*
 * In steps, for plans: made once, then run repeatedly, as those of torus_allreduce.h. Keeps copies
 * of the runs.
 */
struct torus_gather_plan;
struct torus_gather_plan *torus_gather_plan_make(const struct torus_gathering *gathering);
bool torus_gather_plan_advance(struct torus_gather_plan *plan, uint64_t run, bool *moved);
void torus_gather_plan_free(struct torus_gather_plan *plan);

/* Does the schedule fit in the flag array? */
bool torus_can_gather(struct torus_topology *topology);

#endif
