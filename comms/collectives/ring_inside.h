/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_RING_INSIDE_H
#define COMMS_RING_INSIDE_H

#include "torus_allreduce.h"
#include "torus_stream.h"

/* A ring all-reduce under way: what torus_allreduce.c and the plans of torus_ring_plan.c share. */

/*
 * A part that travels to one node: from how many neighbours it comes here, and how many pieces have been combined. Then, on its way back, how
 * many pieces of the result are here.
 */
struct ring_pile {
	int from;
	size_t combined, complete;
};

/* The steps of a stream, gone through once in each round. */
struct ring_list {
	const struct torus_ring_step *steps;
	size_t count;
};

/* One of the two schedules. */
struct ring_traffic {
	struct torus_streams streams;
	struct ring_list out[TORUS_DIRECTIONS], in[TORUS_DIRECTIONS]; /* by stream */
};

struct ring_reduce {
	const struct torus_ring_allreduce *allreduce;
	size_t *at, *bytes; /* by place: its block */
	struct torus_ring_shares shares;
	size_t rounds;
	struct ring_pile *pile;		 /* by part and place */
	struct ring_traffic back, forth; /* to be combined; complete */
};

/* What the call lacks is filled in: the arguments stay where they are until the end. */
void ring_reduce_prepare(struct ring_reduce *r, const struct torus_ring_allreduce *allreduce);
/* Does what can be done now, and waits for nothing. Returns true when the result is here, and all that others need is sent. */
bool ring_reduce_advance(struct ring_reduce *r);
void ring_reduce_dispose(struct ring_reduce *r);

/* The pieces and slots of the streams that combine. */
void ring_cut_streams(struct torus_streams *streams, size_t bytes, size_t rounds);

#endif
