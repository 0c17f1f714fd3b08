/* SPDX-License-Identifier: BSD-3-Clause */
/* The counter of cycles and its cost; the state of the two processors between rounds. */
#include "layers_clock.h"

#include <stdlib.h>

#include "layers.h"

enum { TRIALS = 51, PROBES = 5, PROBE_TRIPS = 20 };

struct layer_clock layer_clock;

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_of(double *values, int n)
{
	qsort(values, (size_t)n, sizeof *values, by_value);
	return values[n / 2];
}

static double cost_of_timer(void)
{
	double empty[TRIALS];

	for (int i = 0; i < TRIALS; i++) {
		uint64_t before = cycles();

		empty[i] = (double)(cycles() - before);
	}
	return median_of(empty, TRIALS);
}

/* A stamp in the midst of a batch holds up what is around it. */
static double cost_of_stamp(double (*batch)(bool stamped))
{
	double with[TRIALS], without[TRIALS];

	for (int i = 0; i < TRIALS; i++) {
		with[i] = batch(true);
		without[i] = batch(false);
	}
	return median_of(with, TRIALS) - median_of(without, TRIALS);
}

static double cost_of_unordered(void)
{
	uint64_t start = cycles_unordered();

	for (int i = 1; i < TRIALS; i++)
		cycles_unordered();
	return (double)(cycles_unordered() - start) / TRIALS;
}

void clock_calibrate(double (*batch)(bool stamped))
{
	double unordered[5];

	for (int i = 0; i < 5; i++)
		unordered[i] = cost_of_unordered();
	layer_clock.unordered = median_of(unordered, 5);
	layer_clock.timer = cost_of_timer();
	layer_clock.stamp = cost_of_stamp(batch);
}

double clock_stamp_share(void)
{
	return (layer_clock.timer - layer_clock.stamp) / 2;
}

void clock_start(void)
{
	double start = now_ns();
	uint64_t first = cycles();

	while (now_ns() < start + 5e7)
		;
	layer_clock.ns_per_cycle = (now_ns() - start) / (double)(cycles() - first);
}

void clock_delay(double ns)
{
	uint64_t start = cycles_unordered();

	while ((double)(cycles_unordered() - start) * layer_clock.ns_per_cycle < ns)
		;
}

/* Behind the words that others use of the page. */
static volatile uint64_t *word_of(int member)
{
	return group.raw + 192 + 64 * member;
}

double clock_probe(void)
{
	static uint64_t count;
	double trips[PROBES];

	shmem_barrier_all();
	if (!group.has_raw || group.oversubscribed)
		return 0;
	for (int p = 0; p < PROBES; p++) {
		uint64_t start = cycles();

		for (int i = 0; i < PROBE_TRIPS; i++) {
			count++;
			if (group.me == 0)
				*word_of(1) = count;
			while (*word_of(group.me) < count)
				;
			if (group.me == 1)
				*word_of(0) = count;
		}
		trips[p] = (double)(cycles() - start) * layer_clock.ns_per_cycle / (2 * PROBE_TRIPS);
	}
	return median_of(trips, PROBES);
}
