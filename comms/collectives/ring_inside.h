/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_RING_INSIDE_H
#define COMMS_RING_INSIDE_H

#include "torus_allreduce.h"
#include "torus_stream.h"

/* A ring all-reduce in progress: shared by torus_allreduce.c and torus_ring_plan.c. */

/*
 * A part on its way to one node: the number of neighbours that send it here, and of pieces
 * combined; then, on its way back, the number of pieces of the result that have arrived.
 */
struct ring_pile {
	int from;
	size_t combined, complete;
};

/* The steps of a stream. Each round runs them once. */
struct ring_list {
	const struct torus_ring_step *steps;
	size_t count;
};

/* One of the two schedules: reduce or distribute. */
struct ring_traffic {
	struct torus_streams streams;
	struct ring_list out[TORUS_DIRECTIONS], in[TORUS_DIRECTIONS]; /* by stream */
};

struct ring_reduce {
	const struct torus_ring_allreduce *allreduce;
	size_t *at, *bytes; /* by place: its block */
	struct torus_ring_shares shares;
	size_t rounds;
	struct ring_pile *pile; /* by part and place */
	/* Reverse schedule, which combines; schedule of complete blocks. */
	struct ring_traffic back, forth;
};

/* Fills in the rest of the call. The arguments stay valid until the end. */
void ring_reduce_prepare(struct ring_reduce *r, const struct torus_ring_allreduce *allreduce);
/*
 * Does what is possible now without waiting. Returns true when this node has the result and has
 * sent all that others need.
 */
bool ring_reduce_advance(struct ring_reduce *r);
void ring_reduce_dispose(struct ring_reduce *r);

/*
 * Sets piece size and slots of the streams that combine: of an all-reduce of so many bytes, or of a
 * reduce-scatter with such blocks.
 */
void ring_cut_streams(struct torus_streams *streams, size_t bytes);
void ring_cut_streams_of_blocks(struct torus_streams *streams, size_t block);

#endif
