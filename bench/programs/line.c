/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A cache line goes back and forth between members 0 and 1, by plain stores and loads on memory
 * they share without any library. Virtual processors may be near each other at one moment and far
 * at the next; only results of the same state can be compared. Members that share processors have
 * no state.
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

/* Who waits for the other, and where. */
struct side {
	bool first;
	uint64_t *ping, *pong;
	uint64_t count;
	double half_round_trip;
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

static void bounce(struct side *side)
{
	double times[BATCHES];

	for (int b = 0; b < BATCHES; b++) {
		double start = now_ns();

		for (int i = 0; i < ROUNDS; i++) {
			side->count++;
			if (side->first) {
				__atomic_store_n(side->ping, side->count, __ATOMIC_RELEASE);
				await(side->pong, side->count);
			} else {
				await(side->ping, side->count);
				__atomic_store_n(side->pong, side->count, __ATOMIC_RELEASE);
			}
		}
		times[b] = (now_ns() - start) / (2 * ROUNDS);
	}
	qsort(times, BATCHES, sizeof *times, by_value);
	side->half_round_trip = times[BATCHES / 4]; /* what took longer was interrupted */
}

static double between_members(void)
{
	/* The words are far enough from each other for the prefetcher too. */
	static struct side side;

	if (group.me > 1)
		return 0;
	side.first = group.me == 0;
	side.ping = group.raw;
	side.pong = group.raw + 64;
	bounce(&side);
	return side.half_round_trip;
}

bool move_to_processor(int processor)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	return sched_setaffinity(0, sizeof set, &set) == 0;
}

double line_half_round_trip(void)
{
	if (group.oversubscribed || !group.has_raw)
		return 0;
	group_barrier();
	return between_members();
}

const char *line_state(double half_round_trip)
{
	if (half_round_trip <= 0)
		return "unknown";
	return half_round_trip < FAR_NS ? "near" : "far";
}
