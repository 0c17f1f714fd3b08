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
struct torus_gathering {
	const struct torus_topology *topology;
	uint64_t number; /* of the operation in this area, as for torus_tree_collective */
	struct torus_area *area;
	char *dest;
	/* by place: where the data of the node there is in dest. The own data is there already. */
	const size_t *at, *bytes;
	const char *routine;
};

/* Call on node leaders only. On return all data is in dest. */
void torus_gather(const struct torus_gathering *gathering);

/* Does the schedule fit in the flag array? */
bool torus_can_gather(const struct torus_topology *topology);

#endif
