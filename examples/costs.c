/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches how to time one-sided operations, and measures what messages cost here, for SHMEM_COSTS:
 * latency, interval and rate between the first PE and the last. Run it on a quiet machine, with two
 * PEs where both ends shall be:
 *
 *     export SHMEM_COSTS=$(oshrun -n 2 ./costs)                      PEs of one node
 *     export SHMEM_COSTS=$(oshrun --hostfile hosts -n 2 ./costs ucx) PEs of two nodes, over UCX
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 15, SHORT = 200, LONG_BYTES = 1 << 20, LONG = 20 };

static long ball, words[SHORT];
static char data[LONG_BYTES], source[LONG_BYTES];
static int other;

static double now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* Half of the way of a word there and back. Both PEs call it. */
static double latency_ns(void)
{
	static long last;
	double begun = now_ns();

	for (int i = 0; i < SHORT; i++) {
		last++;
		if (shmem_my_pe() == 0)
			shmem_long_p(&ball, last, other);
		shmem_long_wait_until(&ball, SHMEM_CMP_EQ, last);
		if (shmem_my_pe() != 0)
			shmem_long_p(&ball, last, other);
	}
	return (now_ns() - begun) / (2 * SHORT);
}

/* From one message to the next, where nobody waits for each of them. */
static double interval_ns(void)
{
	double begun = now_ns();

	for (int i = 0; i < SHORT; i++)
		shmem_long_put_nbi(&words[i], &ball, 1, other);
	shmem_quiet();
	return (now_ns() - begun) / SHORT;
}

static double mb_per_s(void)
{
	double begun = now_ns();

	for (int i = 0; i < LONG; i++)
		shmem_putmem_nbi(data, source, LONG_BYTES, other);
	shmem_quiet();
	return 1e3 * LONG * LONG_BYTES / (now_ns() - begun);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of some rounds, without the first one, which connects the PEs. */
static long median(double (*measure)(void), int both)
{
	double result[ROUNDS] = {0};

	for (int round = -1; round < ROUNDS; round++) {
		double value = 0;

		shmem_barrier_all();
		if (shmem_my_pe() == 0 || both)
			value = measure();
		if (round >= 0)
			result[round] = value;
	}
	qsort(result, ROUNDS, sizeof *result, compare);
	return result[ROUNDS / 2] < 1 ? 1 : (long)result[ROUNDS / 2];
}

int main(int argc, char *argv[])
{
	long latency, interval, rate;

	shmem_init();
	other = shmem_my_pe() == 0 ? 1 : 0;
	if (shmem_n_pes() != 2) {
		if (shmem_my_pe() == 0)
			fprintf(stderr, "costs: run it with two PEs, as in oshrun -n 2 ./costs\n");
		shmem_barrier_all(); /* the line is out before another PE ends the job */
		shmem_global_exit(2);
	}
	latency = median(latency_ns, 1);
	interval = median(interval_ns, 0);
	rate = median(mb_per_s, 0);
	if (shmem_my_pe() == 0)
		printf("%s:%ld:%ld:%ld\n",
		       argc > 1			? argv[1]
		       : shmem_ptr(data, other) ? "local"
						: "ucx",
		       latency, interval, rate);
	shmem_finalize();
	return 0;
}
