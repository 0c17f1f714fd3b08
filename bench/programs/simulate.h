/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_SIMULATE_H
#define BENCH_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>

#include "comms/torus/shape.h"

/*
 * A schedule of a collective: transfers between places, in an order in which each comes after those
 * that it waits for. The library's trees and ring schedules are replayed as they are.
 */
struct transfer {
	int from, to;
	/*
	 * Transfers that must be over: the one that brings it, the one before it on its link; -1:
	 * none.
	 */
	int after[2];
	float bytes;
};

struct schedule {
	struct torus_shape shape;
	struct transfer *transfer;
	size_t count, room;
	/* Pairs of transfers, by the second: that waits for the first, too. */
	struct pair {
		int before, then;
	} * more;
	size_t n_more, room_for_more;
	/*
	 * On a torus of rings all nodes do the same: the links of one are replayed, for all of
	 * them.
	 */
	bool one_node;
};

/*
 * twice, up, both, chain: broadcasts; allgather; reduce-scatter; alltoall; allreduce. Ends the
 * program if the algorithm does not fit the shape.
 */
void schedule_make(struct schedule *schedule, const char *algorithm, double bytes, double segment);
/*
 * One transfer that waits for several, and for the one before it on its link, or -1; returns its
 * number.
 */
int schedule_add(struct schedule *schedule, int from, int to, int n_before, const int *before, int behind,
		 double bytes);
/* Memory of zeros; ends the program if there is none. */
void *schedule_allocate(size_t count, size_t size);

/*
 * Is one node replayed, because that is wanted or there are more places than so many? Ends the
 * program where nodes are not alike.
 */
bool schedule_one_node(struct schedule *schedule, int most);
/* Where a place lies as seen from another one, on rings. */
int schedule_seen_from(const struct torus_shape *shape, int place, int from);
/* The i-th of the places whose lists are compared with those of the node that is replayed. */
enum { SCHEDULE_COMPARED = 16 };
int schedule_compared(const struct torus_shape *shape, int i);
/* Ends the program: the list of this place is not that of the replayed one. */
void schedule_differs(int place);

/* In simulate_rings.c and simulate_alltoall.c. */
void schedule_allgather(struct schedule *schedule, double bytes);
void schedule_reduce_scatter(struct schedule *schedule, double bytes);
void schedule_allreduce(struct schedule *schedule, double bytes);
void schedule_alltoall(struct schedule *schedule, double bytes);

#endif
