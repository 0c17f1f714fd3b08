/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_LAYERS_CLOCK_H
#define BENCH_LAYERS_CLOCK_H

/* What a cycle of the counter is, and what reading it costs, in cycles: by itself, and in passing, in the midst of other things. */
struct layer_clock {
	double ns_per_cycle, timer, stamp;
};
extern struct layer_clock layer_clock;

void clock_calibrate(void);

/* Nobody waits for the time it takes to read the counter here. */
void clock_delay(double ns);

/*
 * How far apart PEs 0 and 1 are now: half a round trip of a cache line, both take part. 0: not known. A few microseconds, where
 * line_half_round_trip takes its time.
 */
double clock_probe(void);

#endif
