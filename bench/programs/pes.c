/* SPDX-License-Identifier: BSD-3-Clause */
/* The members are PEs. */
#include "bench.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double *gathered; /* a place for each PE, used at PE 0 */
static long *received;

void group_start(void)
{
	char name[SHMEM_MAX_NAME_LEN];
	int major, minor;

	shmem_init();
	group.me = shmem_my_pe();
	group.size = shmem_n_pes();
	shmem_info_get_name(name);
	shmem_info_get_version(&major, &minor);
	name[strcspn(name, ",\"\n")] = '\0';
	snprintf(group.library, sizeof group.library, "%.40s (OpenSHMEM %d.%d)", name, major, minor);
	gathered = shmem_malloc((size_t)group.size * sizeof *gathered);
	received = shmem_malloc(sizeof *received);
	if (!gathered || !received)
		group_fail("no symmetric memory at all");
	/*
	 * PEs on other machines have processors of their own; then this says oversubscribed too
	 * often, which does no harm.
	 */
	group.oversubscribed = group.size > sysconf(_SC_NPROCESSORS_ONLN);
	group_find_processors();
	group_find_raw();
}

void group_end(void)
{
	shmem_free(received);
	shmem_free(gathered);
	shmem_finalize();
}

void group_barrier(void)
{
	shmem_barrier_all();
}

long group_broadcast(long value)
{
	if (group.me == 0)
		for (int pe = 0; pe < group.size; pe++)
			shmem_long_p(received, value, pe);
	shmem_barrier_all();
	value = *(volatile long *)received;
	shmem_barrier_all();
	return value;
}

void group_gather(double mine, double *all)
{
	shmem_double_p(&gathered[group.me], mine, 0);
	shmem_barrier_all();
	if (group.me == 0)
		memcpy(all, gathered, (size_t)group.size * sizeof *all);
	shmem_barrier_all();
}

void group_fail(const char *format, ...)
{
	char text[512];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s: PE %d: %s\n", driver_name, group.me, text);
	fflush(NULL);
	shmem_global_exit(1);
	_exit(1);
}
