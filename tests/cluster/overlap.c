/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * overlap SIZES: how much of what a plan takes goes on while the PEs are in no routine of the
 * library: they compute where each has a processor, else they sleep, as PEs do that compute on
 * processors which hosts of one machine only share. For each kind of plan and size prints the
 * milliseconds of start and wait at once, of the time away, and of start, time away and wait; and
 * what is hidden, 1 - (the last - the time away) / the first. Medians of nine. Run by
 * tests/cluster/torus-bench.
 */
#include <shmemx.h>

#include <unistd.h>

#include "torus_times.h"

#define ROUNDS 9

static const char *const names[] = {"broadcast", "reduce", "allreduce", "allgather", "alltoall"};
static double *spread; /* a number of this PE's, and the greatest of all */
static int computes;

static double greatest(double mine)
{
	spread[0] = mine;
	shmem_double_max_reduce(SHMEM_TEAM_WORLD, &spread[1], &spread[0], 1);
	return spread[1];
}

static void be_away(double seconds)
{
	double begun = seconds_now();

	if (!computes)
		usleep((unsigned)(seconds * 1e6));
	while (seconds_now() - begun < seconds)
		;
}

static int by_value(const void *left, const void *right)
{
	double difference = *(const double *)left - *(const double *)right;

	return (difference > 0) - (difference < 0);
}

/* From the first start to the last PE that has waited. */
static double median_of(shmemx_plan_t plan, double away)
{
	double took[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		double begun;

		shmem_barrier_all();
		begun = seconds_now();
		shmemx_plan_start(plan);
		if (away > 0)
			be_away(away);
		shmemx_plan_wait(plan);
		took[i] = greatest(seconds_now() - begun);
	}
	qsort(took, ROUNDS, sizeof *took, by_value);
	return took[ROUNDS / 2];
}

static shmemx_plan_t make(int kind, size_t bytes, void *dest, void *source)
{
	size_t each = bytes / (size_t)shmem_n_pes() / 8 * 8, count = bytes / sizeof(int);
	shmemx_plan_t plan = SHMEMX_PLAN_INVALID;

	switch (kind) {
	case 0: shmemx_broadcast_init(SHMEM_TEAM_WORLD, dest, source, bytes, 0, SHMEMX_PLAN_LIST, &plan); break;
	case 1:
		shmemx_reduce_init(SHMEM_TEAM_WORLD, dest, source, count, SHMEMX_INT, SHMEMX_SUM, 0, SHMEMX_PLAN_LIST,
				   &plan);
		break;
	case 2:
		shmemx_allreduce_init(SHMEM_TEAM_WORLD, dest, source, count, SHMEMX_INT, SHMEMX_SUM, SHMEMX_PLAN_LIST,
				      &plan);
		break;
	case 3: shmemx_allgather_init(SHMEM_TEAM_WORLD, dest, source, each, SHMEMX_PLAN_LIST, &plan); break;
	default: shmemx_alltoall_init(SHMEM_TEAM_WORLD, dest, source, each, SHMEMX_PLAN_LIST, &plan);
	}
	if (plan == SHMEMX_PLAN_INVALID)
		shmem_global_exit(1);
	return plan;
}

static void measure(int kind, size_t bytes)
{
	int *dest = shmem_malloc(bytes), *source = shmem_malloc(bytes);
	double alone, away, both;
	shmemx_plan_t plan;

	if (!dest || !source)
		shmem_global_exit(1);
	memset(source, 1, bytes);
	plan = make(kind, bytes, dest, source);
	median_of(plan, 0); /* connections come up */
	alone = median_of(plan, 0);
	away = greatest(1.25 * alone);
	both = median_of(plan, away);
	if (shmem_my_pe() == 0) {
		printf("overlap %-10s %10zu %10.3f %10.3f %10.3f %8.1f%%\n", names[kind], bytes, alone * 1e3,
		       away * 1e3, both * 1e3, 100 * (1 - (both - away) / alone));
		fflush(stdout);
	}
	shmemx_plan_free(plan);
	shmem_free(source);
	shmem_free(dest);
}

int main(int argc, char **argv)
{
	const char *sizes = argc > 1 ? argv[1] : "";
	size_t bytes;

	shmem_init();
	computes = shmem_n_pes() <= sysconf(_SC_NPROCESSORS_ONLN);
	spread = shmem_malloc(2 * sizeof *spread);
	while ((bytes = next_size(&sizes)) > 0)
		for (int kind = 0; kind < 5; kind++)
			measure(kind, bytes);
	shmem_finalize();
	return 0;
}
