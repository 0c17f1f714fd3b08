/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PEs on hosts: how long PE 0 takes for 8-byte operations on PE 1 and what 1 MiB puts reach, while
 * PE 1 is inside the library and while it computes; before that the first contact with PE 1, and
 * with the others. Prints a line for each: name, value, unit. Arguments: how many small operations,
 * how many times 1 MiB make a batch (0: none), how many batches (41). See tests/cluster/figures.
 */
#include <shmem.h>

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/lib/huge.h"

#define BATCHES_MOST 41
#define LARGE (1UL << 20)

static long word, over;
static char *large, *source;
static int batches = BATCHES_MOST;

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

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof *values, compare);
	return values[n / 2];
}

/*
 * How the single ones, sorted, lie: so many of a hundred are below; how much of the time the
 * slowest hundredth took.
 */
static void print_spread(const char *name, const char *state, const double *single, size_t n)
{
	double all = 0, slowest = 0;

	for (size_t i = 0; i < n; i++) {
		all += single[i];
		slowest += i >= n - n / 100 ? single[i] : 0;
	}
	printf("%s-90th/%s %.2f us\n", name, state, single[n * 9 / 10]);
	printf("%s-99th/%s %.2f us\n", name, state, single[n * 99 / 100]);
	printf("%s-longest/%s %.2f us\n", name, state, single[n - 1]);
	printf("%s-in-slowest-hundredth/%s %.1f %%\n", name, state, 100 * slowest / all);
}

/*
 * Microseconds for one: the median of single ones, as ucx_perftest has it, and the average, which
 * delays of milliseconds are in.
 */
static void measure(const char *name, const char *state, void (*operation)(void), int count)
{
	double *single = malloc((size_t)count * sizeof *single), start = now(), before = start, average;

	if (!single)
		shmem_global_exit(1);
	for (int i = 0; i < count; i++) {
		double behind;

		operation();
		behind = now();
		single[i] = behind - before;
		before = behind;
	}
	average = (before - start) / count;
	printf("%s/%s %.2f us\n", name, state, median(single, (size_t)count));
	printf("%s-average/%s %.2f us\n", name, state, average);
	print_spread(name, state, single, (size_t)count);
	free(single);
}

/* As ucx_perftest does it: one after the other, and that all is there is waited for in the end. */
static void measure_large(const char *state, int count)
{
	double each[BATCHES_MOST];

	for (int b = 0; b < batches; b++) {
		double start = now();

		for (int i = 0; i < count; i++)
			shmem_putmem(large, source, LARGE, 1);
		shmem_quiet();
		each[b] = (now() - start) / count;
	}
	printf("put1m/%s %.1f MB/s\n", state, (double)LARGE / median(each, (size_t)batches));
}

static void measure_all(const char *state, int count, int count_large)
{
	measure("get8", state, get, count);
	measure("fetch_add8", state, fetch_add, count);
	measure("put8+quiet", state, put_quiet, count);
	if (count_large)
		measure_large(state, count_large);
	fflush(stdout);
}

/* PE 1 computes until PE 0 says that it is over; nothing of it is inside the library. */
static void compute(void)
{
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
		;
}

static double memory_in_use(void)
{
#ifdef HAVE_MALLINFO2
	struct mallinfo2 info = mallinfo2();
#else
	struct mallinfo info = mallinfo(); /* before glibc 2.33 */
#endif

	return (double)(info.uordblks + info.hblkhd) / 1024;
}

/*
 * Until a first put is there, and what the PE has more of then; of all after the first, the
 * averages.
 */
static void contact(void)
{
	double start, memory, took[2] = {0}, used[2] = {0};
	int others = shmem_n_pes() - 2;

	for (int pe = 1; pe < shmem_n_pes(); pe++) {
		memory = memory_in_use();
		start = now();
		shmem_long_p(&word, 1, pe);
		shmem_quiet();
		took[pe > 1] += now() - start;
		used[pe > 1] += memory_in_use() - memory;
	}
	printf("first_contact %.0f us\nfirst_contact_memory %.0f KiB\n", took[0], used[0]);
	if (others > 0)
		printf("next_contact %.0f us\nnext_contact_memory %.1f KiB\n", took[1] / others, used[1] / others);
	fflush(stdout);
}

/* ucx_perftest puts from memory in huge pages, too, where these are not much larger. */
static char *make_source(void)
{
	size_t huge = huge_page_bytes(), bytes = huge >= LARGE && huge <= 32 * LARGE ? huge : LARGE;
	char *memory = aligned_alloc(bytes, bytes);

	return memory && bytes == huge && madvise(memory, bytes, MADV_HUGEPAGE) ? NULL : memory;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 10000, count_large = argc > 2 ? atoi(argv[2]) : 0, me;

	if (argc > 3)
		batches = atoi(argv[3]);
	if (count < 1 || batches < 1 || batches > BATCHES_MOST)
		return 2;
	shmem_init();
	me = shmem_my_pe();
	if (me == 0)
		contact();
	large = shmem_malloc(LARGE);
	source = make_source();
	if (!large || !source || shmem_n_pes() < 2)
		shmem_global_exit(1);
	memset(large, 1, LARGE);
	memset(source, 1, LARGE);
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
