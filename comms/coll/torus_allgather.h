/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_ALLGATHER_H
#define TORUS_ALLGATHER_H

#include "tree_collective.h"
#include "comms/torus/ring_schedule.h"

/*
 * All-gather on a torus: what each node brings is passed on from neighbour to neighbour (see torus/ring_schedule.h), straight into its
 * place in everybody's dest.
 *
 * Words are those of trees on their way down, and mean the same: leave says that the receiver has begun, came[i] that the i-th of
 * what the sender sends this way is there. All know all lists, so a word need not say what it is about.
 */
struct torus_gathering {
	const struct torus_topology *topology;
	uint64_t number; /* of what is done in this area, as for torus_tree_collective */
	struct torus_area *area;
	char *dest;
	const size_t *at, *bytes; /* by place: what the node there brings, in dest. My own is there already. */
	const char *routine;
};

/* For the one PE of each node that stands for it. On return all is in dest. */
void torus_gather(const struct torus_gathering *gathering);

/* Is there a word for each pass? */
bool torus_can_gather(const struct torus_topology *topology);

#endif
