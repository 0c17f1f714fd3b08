/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long a broadcast or a sum takes from the first PE that begins to the last that has its result: torus_times
 * broadcast|reduce SIZES. Run by tests/cluster/torus-bench.
 */
#include <shmem.h>

#include "torus_times.h"

static double *spread; /* a number of this PE's, and the greatest of all */

static double greatest(double mine)
{
	spread[0] = mine;
	shmem_double_max_reduce(SHMEM_TEAM_WORLD, &spread[1], &spread[0], 1);
	return spread[1];
}

static void check(int right, const char *what, size_t i)
{
	if (right)
		return;
	fprintf(stderr, "torus_times: PE %d: %s: element %zu is wrong\n", shmem_my_pe(), what, i);
	shmem_global_exit(1);
}

static void broadcast(unsigned char *dest, unsigned char *source, size_t bytes)
{
	shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, bytes, 0);
}

static void reduce(unsigned char *dest, unsigned char *source, size_t bytes)
{
	shmem_uint_sum_reduce(SHMEM_TEAM_WORLD, (unsigned *)dest, (unsigned *)source, bytes / sizeof(unsigned));
}

static void check_sum(const unsigned *dest, size_t count)
{
	unsigned n = (unsigned)shmem_n_pes();

	for (size_t i = 0; i < count; i++)
		check(dest[i] == (unsigned)i * n + n * (n - 1) / 2, "reduce", i);
}

static void measure(const char *name, size_t bytes, unsigned char *dest, unsigned char *source)
{
	int sums = !strcmp(name, "reduce"), me = shmem_my_pe();
	void (*collective)(unsigned char *, unsigned char *, size_t) = sums ? reduce : broadcast;
	struct cables before;
	double begun, took, busiest, again;

	for (size_t i = 0; i < bytes / sizeof(unsigned) && sums; i++)
		((unsigned *)source)[i] = (unsigned)i + (unsigned)me;
	for (size_t i = 0; i < bytes && !sums; i++)
		source[i] = byte_at(i, me);
	memset(dest, 0xee, bytes);
	collective(dest, source, bytes < 65536 ? bytes : 65536); /* connections come up, links are measured */
	shmem_barrier_all();
	read_cables(&before);
	again = sent_again();
	shmem_barrier_all();
	begun = seconds_now();
	collective(dest, source, bytes);
	took = greatest(seconds_now() - begun);
	busiest = greatest(busiest_since(&before));
	again = greatest(sent_again() - again);
	for (size_t i = 0; i < bytes && !sums; i++)
		check(dest[i] == byte_at(i, 0), name, i);
	if (sums)
		check_sum((unsigned *)dest, bytes / sizeof(unsigned));
	if (me == 0)
		print_time(name, bytes, took, busiest, again);
}

int main(int argc, char **argv)
{
	const char *sizes = argc > 2 ? argv[2] : "";
	size_t bytes;

	shmem_init();
	spread = shmem_malloc(2 * sizeof *spread);
	while ((bytes = next_size(&sizes)) > 0) {
		unsigned char *dest = shmem_malloc(bytes), *source = shmem_malloc(bytes);

		if (!dest || !source)
			shmem_global_exit(1);
		measure(argv[1], bytes, dest, source);
		shmem_free(source);
		shmem_free(dest);
	}
	shmem_finalize();
	return 0;
}
