/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_ALLGATHER_H
#define TORUS_ALLGATHER_H

#include "tree_collective.h"
#include "comms/torus/ring_schedule.h"

/*
 * All-gather on a torus by the ring schedule (torus/ring_schedule.h): each node's data goes from neighbour to neighbour, straight into its
 * place in every dest.
 *
 * Flags are those of trees downwards, with the same meaning: leave shows that the receiver has begun, came[i] that the i-th step
 * of the sender in this direction has arrived. All nodes know all schedules, so a flag need not say which step it belongs to.
 */
struct torus_gathering_run {
	size_t at, bytes; /* in dest */
};

struct torus_gathering {
	const struct torus_topology *topology;
	uint64_t number; /* of the operation in this area, as for torus_tree_collective */
	struct torus_area *area;
	char *dest;
	/*
	 * By place: which of the runs are the data of the node there, from this one up to that of the next place. A node whose members are not
	 * side by side in the team has several. The own data is in dest already.
	 */
	const int *first;
	const struct torus_gathering_run *run;
	const char *routine;
};

/* Call on node leaders only. On return all data is in dest. */
void torus_gather(const struct torus_gathering *gathering);

/* Does the schedule fit in the flag array? */
bool torus_can_gather(struct torus_topology *topology);

#endif
