/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver for MPI: MPI_Allreduce of what bench sums, measured in the same way. Compiled by
 * bench/compare/libraries with the compiler wrapper of an MPI library.
 */
#include "measure.h"

#include <mpi.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char driver_name[] = "sums_mpi";
const char driver_help[] = "mpirun -n PES sums_mpi [options] [reduce]\n\nMeasures MPI_Allreduce.";

static void measure_sums(void);

const struct measure measures[] = {{"reduce", "sums of long over all processes", 2, measure_sums},
				   {NULL, NULL, 0, NULL}};

void driver_hand_over(int argc, char *argv[])
{
	(void)argc;
	(void)argv;
}

/* --- The members --- */

void group_start(void)
{
	char name[MPI_MAX_LIBRARY_VERSION_STRING];
	int length;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &group.me);
	MPI_Comm_size(MPI_COMM_WORLD, &group.size);
	MPI_Get_library_version(name, &length);
	name[strcspn(name, ",\"\n")] = '\0';
	snprintf(group.library, sizeof group.library, "%.60s", name);
	group.oversubscribed = group.size > sysconf(_SC_NPROCESSORS_ONLN);
	group_find_processors();
	group_find_raw();
}

void group_end(void)
{
	MPI_Finalize();
}

void group_barrier(void)
{
	MPI_Barrier(MPI_COMM_WORLD);
}

long group_broadcast(long value)
{
	MPI_Bcast(&value, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	return value;
}

void group_gather(double mine, double *all)
{
	MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

void group_fail(const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s: process %d: %s\n", driver_name, group.me, text);
	fflush(NULL);
	MPI_Abort(MPI_COMM_WORLD, 1);
	_exit(1);
}

/* --- Sums --- */

struct sums {
	long *from, *to;
	int count;
	long spot;
};

static double sum_all(void *context, long n)
{
	const struct sums *s = context;
	double start = now_ns();

	for (long i = 0; i < n; i++)
		MPI_Allreduce(s->from, s->to, s->count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	return now_ns() - start;
}

static bool is_sum(void *context)
{
	const struct sums *s = context;

	for (long i = 0; i < s->count; i++)
		if (s->to[i] != (long)group.size * (group.size + 1) / 2 + group.size * (i + s->spot))
			return false;
	return true;
}

static void measure_size(size_t bytes, const char *variant)
{
	struct sums s = {malloc(bytes), malloc(bytes), (int)(bytes / sizeof(long)), (long)bytes};

	if (!s.from || !s.to)
		group_fail("no memory for %zu bytes", bytes);
	for (long i = 0; i < s.count; i++)
		s.from[i] = group.me + 1 + i + s.spot;
	memset(s.to, 0, bytes);
	harness_measure(&(struct spot){.measure = "reduce",
				       .variant = variant,
				       .bytes = bytes,
				       .sample = sum_all,
				       .context = &s,
				       .check = is_sum});
	free(s.from);
	free(s.to);
}

/* Once beside each of an OpenSHMEM's two forms. */
static void measure_sums(void)
{
	static const char *const variants[] = {"set", "team"};

	for (int v = 0; v < 2; v++)
		for (int i = 0; options.sizes[i] && options.sizes[i] <= 16 * MIB; i++)
			if (options.sizes[i] % sizeof(long) == 0)
				measure_size(options.sizes[i], variants[v]);
}
