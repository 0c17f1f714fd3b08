/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cache line goes back and forth between members 0 and 1, by plain stores and loads on memory they share
 * without any library. Virtual processors may be near each other at one moment and far at the next; only
 * results of the same state can be compared.
 */
#include "measure.h"

#include <sched.h>
#include <stdlib.h>

enum {
	BATCHES = 21,
	ROUNDS = 60,
	FAR_NS = 95, /* neighbours need 10 to 60, others 120 to 250 */
	PATIENCE = 1000000
};

static void await(const uint64_t *word, uint64_t value)
{
	for (long polls = 0; __atomic_load_n(word, __ATOMIC_ACQUIRE) != value; polls++) {
		relax();
		if (polls > PATIENCE)
			sched_yield();
	}
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double line_half_round_trip(void)
{
	static uint64_t count;
	double times[BATCHES];
	uint64_t *ping, *pong;

	if (group.oversubscribed || !group.has_raw)
		return 0;
	group_barrier();
	if (group.me > 1)
		return 0;
	ping = group.raw;
	pong = group.raw + 64; /* far enough for the prefetcher too */
	for (int b = 0; b < BATCHES; b++) {
		double start = now_ns();

		for (int i = 0; i < ROUNDS; i++) {
			count++;
			if (group.me == 0) {
				__atomic_store_n(ping, count, __ATOMIC_RELEASE);
				await(pong, count);
			} else {
				await(ping, count);
				__atomic_store_n(pong, count, __ATOMIC_RELEASE);
			}
		}
		times[b] = (now_ns() - start) / (2 * ROUNDS);
	}
	qsort(times, BATCHES, sizeof *times, by_value);
	return times[BATCHES / 4]; /* what took longer was interrupted */
}

const char *line_state(double half_round_trip)
{
	if (group.oversubscribed)
		return "oversubscribed";
	if (half_round_trip <= 0)
		return "unknown";
	return half_round_trip < FAR_NS ? "near" : "far";
}
