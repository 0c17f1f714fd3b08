/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same as torus_times.c with MPI; compiled by tests/cluster/torus-bench where there is an
 * mpicc.
 */
#include <mpi.h>

#include "torus_times.h"

static double greatest(double mine)
{
	double most;

	MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most;
}

enum kind { BROADCAST, REDUCE, FCOLLECT, ALLTOALL, KINDS };
static const char *const names[KINDS] = {"broadcast", "reduce", "fcollect", "alltoall"};

static void run(enum kind kind, unsigned char *dest, unsigned char *source, size_t bytes, int me)
{
	int count = (int)bytes;

	if (kind == REDUCE)
		MPI_Allreduce(source, dest, count / (int)sizeof(unsigned), MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
	else if (kind == BROADCAST)
		MPI_Bcast(me == 0 ? source : dest, count, MPI_BYTE, 0, MPI_COMM_WORLD);
	else if (kind == FCOLLECT)
		MPI_Allgather(source, count, MPI_BYTE, dest, count, MPI_BYTE, MPI_COMM_WORLD);
	else
		MPI_Alltoall(source, count, MPI_BYTE, dest, count, MPI_BYTE, MPI_COMM_WORLD);
}

struct timing {
	double took, busiest, again;
};

static int compare_timings(const void *left, const void *right)
{
	double a = ((const struct timing *)left)->took, b = ((const struct timing *)right)->took;

	return (a > b) - (a < b);
}

static void measure(enum kind kind, size_t bytes, int me, int n, long repeats, long calls)
{
	size_t all = bytes * (kind >= FCOLLECT ? (size_t)n : 1);
	unsigned char *dest = malloc(all), *source = malloc(all);
	struct timing *timing = calloc((size_t)repeats, sizeof *timing), *median = &timing[repeats / 2];
	struct cables before;
	double begun, again;

	for (size_t i = 0; i < all; i++)
		source[i] = byte_at(i, me);
	run(kind, dest, source, bytes < 65536 ? bytes : 65536, me);
	for (long i = 0; i < repeats; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		read_cables(&before);
		again = sent_again();
		MPI_Barrier(MPI_COMM_WORLD);
		begun = seconds_now();
		for (long call = 0; call < calls; call++)
			run(kind, dest, source, bytes, me);
		timing[i].took = greatest(seconds_now() - begun) / (double)calls;
		timing[i].busiest = greatest(busiest_since(&before)) / (double)calls;
		timing[i].again = greatest(sent_again() - again);
	}
	qsort(timing, (size_t)repeats, sizeof *timing, compare_timings);
	if (me == 0)
		print_time(names[kind], bytes, median->took, median->busiest, median->again);
	free(timing);
	free(source);
	free(dest);
}

int main(int argc, char **argv)
{
	const char *sizes = argc > 2 ? argv[2] : "";
	long repeats = 1, calls = 1;
	size_t bytes;
	int me, n;

	if (argc > 3)
		sscanf(argv[3], "%ldx%ld", &repeats, &calls);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int kind = 0; kind < KINDS; kind++)
		if (argc > 1 && !strcmp(argv[1], names[kind]))
			while ((bytes = next_size(&sizes)) > 0)
				measure((enum kind)kind, bytes, me, n, repeats < 1 ? 1 : repeats,
					calls < 1 ? 1 : calls);
	MPI_Finalize();
	return 0;
}
