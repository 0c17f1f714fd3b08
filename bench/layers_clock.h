/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_LAYERS_CLOCK_H
#define BENCH_LAYERS_CLOCK_H

#include <stdbool.h>

/*
 * What a cycle of the counter is, and what reading it costs, in cycles: by itself; unordered, where nothing waits for the result; and
 * unordered in the midst of a batch of posts.
 */
struct layer_clock {
	double ns_per_cycle, timer, unordered, stamp;
};
extern struct layer_clock layer_clock;

void clock_start(void);
/*
 * Before each round: where two processors are one in truth, what the other does changes what reading costs. The batch is of posts that do
 * nothing, with a stamp in it or none, and takes so many cycles. Some tens of microseconds.
 */
void clock_calibrate(double (*batch)(bool stamped));

/* Between two stamps of which one is in a batch there is half of each: what is taken off too much for a pair of timers. */
double clock_stamp_share(void);

/* Nobody waits for the time it takes to read the counter here. */
void clock_delay(double ns);

/*
 * How far apart PEs 0 and 1 are now: half a round trip of a cache line, both take part. 0: not known. A few microseconds, where
 * line_half_round_trip takes its time.
 */
double clock_probe(void);

#endif
