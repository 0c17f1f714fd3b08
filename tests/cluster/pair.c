/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two PEs on two hosts: how long PE 0 takes for 8-byte operations on PE 1 and what 1 MiB puts reach, while PE 1 is inside the
 * library and while it computes; before that the first contact. Prints a line for each: name, value, unit. See
 * tests/cluster/figures.
 */
#include <shmem.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCHES 41
#define LARGE (1UL << 20)
#define AT_ONCE 16

static long word, over;
static char *large;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static void get(void)
{
	shmem_long_g(&word, 1);
}

static void fetch_add(void)
{
	shmem_long_atomic_fetch_add(&word, 1, 1);
}

static void put_quiet(void)
{
	shmem_long_p(&word, 1, 1);
	shmem_quiet();
}

static void put_large(void)
{
	for (int i = 0; i < AT_ONCE; i++)
		shmem_putmem_nbi(large, large + LARGE, LARGE, 1);
	shmem_quiet();
}

/* The median over batches of microseconds for one. */
static double measure(void (*operation)(void), int count)
{
	double each[BATCHES];

	for (int b = 0; b < BATCHES; b++) {
		double start = now();

		for (int i = 0; i < count; i++)
			operation();
		each[b] = (now() - start) / count;
	}
	qsort(each, BATCHES, sizeof *each, compare);
	return each[BATCHES / 2];
}

static void measure_all(const char *state, int count, int count_large)
{
	printf("get8/%s %.2f us\n", state, measure(get, count));
	printf("fetch_add8/%s %.2f us\n", state, measure(fetch_add, count));
	printf("put8+quiet/%s %.2f us\n", state, measure(put_quiet, count));
	if (count_large)
		printf("put1m/%s %.1f MB/s\n", state, AT_ONCE * (double)LARGE / measure(put_large, count_large));
	fflush(stdout);
}

/* PE 1 computes until PE 0 says that it is over; nothing of it is inside the library. */
static void compute(void)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		;
}

static void contact(void)
{
	struct mallinfo2 before = mallinfo2(), behind;
	double start = now();

	put_quiet();
	start = now() - start;
	behind = mallinfo2();
	printf("first_contact %.0f us\n", start);
	printf("memory_per_peer %.0f KiB\n",
	       ((double)(behind.uordblks + behind.hblkhd) - (double)(before.uordblks + before.hblkhd)) / 1024);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 200, count_large = argc > 2 ? atoi(argv[2]) : 0, me;

	shmem_init();
	me = shmem_my_pe();
	if (me == 0)
		contact();
	large = shmem_malloc(2 * LARGE);
	if (!large || shmem_n_pes() < 2)
		shmem_global_exit(1);
	memset(large, 1, 2 * LARGE);
	shmem_barrier_all();
	if (me == 0)
		measure_all("inside", count, count_large);
	shmem_barrier_all();
	if (me == 0) {
		measure_all("computing", count, count_large);
		shmem_long_p(&over, 1, 1);
	} else if (me == 1) {
		compute();
	}
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
