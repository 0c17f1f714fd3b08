/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_SIMULATE_H
#define BENCH_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "comms/torus/shape.h"

/*
 * A schedule of a collective: transfers between places, in an order in which each comes after those that it waits for. What trees,
 * passes and lists of the library say is replayed as it is.
 */
struct transfer {
	int from, to;
	int after[2]; /* transfers that must be over: the one that brings it, the one before it on its link; -1: none */
	float bytes;
};

struct schedule {
	struct torus_shape shape;
	struct transfer *transfer;
	size_t count, room;
};

/* twice, up, both, chain, binomial: broadcasts; passes: an all-gather. Ends the program if the shape has none of it. */
void schedule_make(struct schedule *schedule, const char *algorithm, double bytes, double segment);

struct outcome {
	double seconds;
	int at_once; /* the most transfers that were on one link in one direction at once; 0: not looked at */
};

struct network {
	double rate, latency; /* of a link: bytes a second, seconds */
};

/* By SimGrid: any schedule, on tori of rings of three and more. In simulate_grid.cpp. */
struct outcome replay_in_simgrid(const struct schedule *schedule, const struct network *network);

#ifdef __cplusplus
}
#endif
#endif
