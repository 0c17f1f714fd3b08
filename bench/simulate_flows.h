/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_SIMULATE_FLOWS_H
#define BENCH_SIMULATE_FLOWS_H

#include "comms/torus/shape.h"

/* A message on its route in dimension order. */
struct flow {
	int from, to; /* places */
	double bytes;
	int hops;	/* 0: it stays on its node, and takes no time here */
	double seconds; /* until its last byte has left every link */
};

/* What flows on shared links come to. */
struct flow_loads {
	double busiest; /* bytes over the link that has most */
	int most;	/* flows over one link */
};

/*
 * All flows begin at once. The flows on a link share it alike, and what one cannot use, because another link holds it back, goes to the others
 * there. Fills hops and seconds. Ends the program if there is no memory.
 */
struct flow_loads flows_share(const struct torus_shape *shape, struct flow *flow, int count, double rate);

#endif
