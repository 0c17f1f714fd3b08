/* SPDX-License-Identifier: BSD-3-Clause */
/* The same as torus_times.c with MPI; compiled by tests/cluster/torus-bench where there is an mpicc. */
#include <mpi.h>

#include "torus_times.h"

static double greatest(double mine)
{
	double most;

	MPI_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	return most;
}

static void run(int sums, unsigned char *dest, unsigned char *source, size_t bytes, int me)
{
	if (sums)
		MPI_Allreduce(source, dest, (int)(bytes / sizeof(unsigned)), MPI_UNSIGNED, MPI_SUM, MPI_COMM_WORLD);
	else
		MPI_Bcast(me == 0 ? source : dest, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void measure(const char *name, size_t bytes, int me)
{
	unsigned char *dest = malloc(bytes), *source = malloc(bytes);
	int sums = !strcmp(name, "reduce");
	struct cables before;
	double begun, took, busiest, again;

	for (size_t i = 0; i < bytes; i++)
		source[i] = byte_at(i, me);
	run(sums, dest, source, bytes < 65536 ? bytes : 65536, me);
	MPI_Barrier(MPI_COMM_WORLD);
	read_cables(&before);
	again = sent_again();
	MPI_Barrier(MPI_COMM_WORLD);
	begun = seconds_now();
	run(sums, dest, source, bytes, me);
	took = greatest(seconds_now() - begun);
	busiest = greatest(busiest_since(&before));
	again = greatest(sent_again() - again);
	if (me == 0)
		print_time(name, bytes, took, busiest, again);
	free(source);
	free(dest);
}

int main(int argc, char **argv)
{
	const char *sizes = argc > 2 ? argv[2] : "";
	size_t bytes;
	int me;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	while ((bytes = next_size(&sizes)) > 0)
		measure(argv[1], bytes, me);
	MPI_Finalize();
	return 0;
}
