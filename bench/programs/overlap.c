/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much of a nonblocking sum is hidden behind computing that goes on between its start and the
 * wait for it:
 *
 *   alone    start and wait, without computing
 *   compute  as much computing as takes about this time, without a sum
 *   both     start, computing, wait
 *   hidden   the part of the shorter one that both did not take: (alone + compute - both) / shorter
 *   tested   the same as hidden, but the program calls shmemx_req_test sixteen times meanwhile
 *   away     the same as hidden, but the program sleeps as long as it would compute: the library's
 *            threads have its processor, as if there were one more, or a GPU computed
 *
 * Medians of the slowest PE's times. A program with a processor for the library's
 * thread shows what SHMEM_PLAN_EXECUTOR=thread can hide; over a network, the thread of the network
 * does this with list as well, if a processor is free for it.
 */
#include "bench.h"

#ifdef SHMEMX_REQ_INVALID

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define PARTS 16 /* of the computing, between tests */
#define MOST_SAMPLES 64

enum way { ALONE, COMPUTE, BOTH, TESTED, AWAY, WAYS };

struct overlap {
	float *to, *from;
	size_t count;
	long rounds; /* of computing, in a part */
	bool sums, tests;
	double sleep_ns; /* instead of computing; 0: computes */
};

static void compute(long rounds)
{
	double x = 1;

	for (long i = 0; i < rounds; i++)
		x = x * 1.0000001 + 1e-9;
	keep(&x);
}

static void sleep_for(double ns)
{
	nanosleep(&(struct timespec){(time_t)(ns / 1e9), (long)ns % 1000000000L}, NULL);
}

/* One iteration, at the slowest PE. Values that member 0 gets. */
static double iteration_ns(const struct overlap *o)
{
	shmemx_req_h request = SHMEMX_REQ_INVALID;
	double all[1024], longest = 0, before;

	group_barrier();
	before = now_ns();
	if (o->sums)
		shmemx_float_sum_reduce_nb(SHMEM_TEAM_WORLD, o->to, o->from, o->count, &request);
	if (o->sleep_ns > 0)
		sleep_for(o->sleep_ns);
	for (int i = 0; i < PARTS && o->rounds > 0 && o->sleep_ns <= 0; i++) {
		compute(o->rounds);
		if (o->tests)
			shmemx_req_test(&request);
	}
	shmemx_req_wait(&request);
	group_gather(now_ns() - before, all);
	for (int i = 0; i < group.size && group.me == 0; i++)
		longest = all[i] > longest ? all[i] : longest;
	return longest;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *times, int count)
{
	qsort(times, (size_t)count, sizeof times[0], by_value);
	return times[count / 2];
}

/* The ways take turns, so that other load on the machine meets all of them. */
static void sample_ways(struct overlap *o, double *medians)
{
	static double times[WAYS][MOST_SAMPLES];
	int count = options.samples < MOST_SAMPLES ? options.samples : MOST_SAMPLES;
	long rounds = o->rounds;
	double computing_ns = 0;

	for (int i = -1; i < count; i++)
		for (int way = 0; way < WAYS; way++) {
			double ns;

			o->sums = way != COMPUTE;
			o->tests = way == TESTED;
			o->rounds = way == ALONE ? 0 : rounds;
			o->sleep_ns = way == AWAY && i >= 0 ? computing_ns : 0;
			ns = iteration_ns(o);
			if (way == COMPUTE)
				computing_ns = (double)group_broadcast((long)ns);
			if (i >= 0)
				times[way][i] = ns;
		}
	o->rounds = rounds;
	for (int way = 0; way < WAYS; way++)
		medians[way] = median(times[way], count);
}

/* Until computing takes as long as the sum, to a tenth. The same rounds on all PEs. */
static void find_rounds(struct overlap *o, double *medians)
{
	o->rounds = 1000;
	for (int attempt = 0; attempt < 6; attempt++) {
		double ratio;

		sample_ways(o, medians);
		ratio = medians[ALONE] / medians[COMPUTE];
		if (group_broadcast(ratio > 0.9 && ratio < 1.1))
			return;
		o->rounds = group_broadcast((long)((double)o->rounds * ratio) + 1);
	}
}

static void report(const char *variant, size_t bytes, const char *unit, double value)
{
	harness_report("overlap", variant, bytes, unit, &value, 1);
}

/* In percent; a loss counts as nothing. */
static double hidden(double alone, double computing, double both)
{
	double share = 100 * (alone + computing - both) / (alone < computing ? alone : computing);

	return share < 0 ? 0 : share > 100 ? 100 : share;
}

static void measure_size(struct overlap *o, size_t bytes)
{
	double medians[WAYS];

	o->count = bytes / sizeof(float);
	find_rounds(o, medians);
	report("sum:alone", bytes, "ns", medians[ALONE]);
	report("sum:compute", bytes, "ns", medians[COMPUTE]);
	report("sum:both", bytes, "ns", medians[BOTH]);
	report("sum:hidden", bytes, "%", hidden(medians[ALONE], medians[COMPUTE], medians[BOTH]));
	report("sum:tested", bytes, "%", hidden(medians[ALONE], medians[COMPUTE], medians[TESTED]));
	report("sum:away", bytes, "%", hidden(medians[ALONE], medians[COMPUTE], medians[AWAY]));
}

void collective_overlap(void)
{
	size_t most = largest_size() < 16 * MIB ? largest_size() : 16 * MIB;
	struct overlap o = {.to = heap_take(most), .from = heap_take(most)};
	cpu_set_t own, all;

	if (group.size > 1024)
		group_fail("overlap takes at most 1024 PEs");
	memset(o.from, 0, most);
	/* The kernel chooses where a PE computes while the library's threads work. */
	memset(&all, 0xff, sizeof all);
	sched_getaffinity(0, sizeof own, &own);
	sched_setaffinity(0, sizeof all, &all);
	for (int i = 0; options.sizes[i] && options.sizes[i] <= most; i++)
		if (options.sizes[i] % sizeof(float) == 0)
			measure_size(&o, options.sizes[i]);
	sched_setaffinity(0, sizeof own, &own);
	heap_give(o.from);
	heap_give(o.to);
}

#else
/* Another library has none. */
void collective_overlap(void)
{
}
#endif
