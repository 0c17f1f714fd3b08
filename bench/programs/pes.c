/* SPDX-License-Identifier: BSD-3-Clause */
/* The members are PEs. */
#include "bench.h"

#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RAW_BYTES = 4096 };

static double *gathered; /* a place for each PE, used at PE 0 */
static long *received;

/*
 * A page that PEs 0 and 1 share without the library: PE 0 makes it and PE 1 opens it through /proc.
 * A random word in it shows that it is the right one, and not the file of another machine's
 * process.
 */
static uint64_t *share_raw(void)
{
	int fd = -1;
	uint64_t *page = NULL;
	char path[64];
	long pid, number, key = (long)((uint64_t)now_ns() * 0x9e3779b97f4a7c15u ^ (uint64_t)getpid());

	if (group.me == 0) {
		fd = memfd_create("bench", MFD_CLOEXEC);
		if (fd >= 0 && ftruncate(fd, RAW_BYTES) != 0)
			fd = -1;
	}
	pid = group_broadcast(getpid());
	number = group_broadcast(fd);
	if (group.me == 1 && number >= 0) {
		snprintf(path, sizeof path, "/proc/%ld/fd/%ld", pid, number);
		fd = open(path, O_RDWR | O_CLOEXEC);
	}
	if (fd >= 0)
		page = mmap(NULL, RAW_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		page = NULL;
	if (page && group.me == 0)
		page[RAW_BYTES / 8 - 1] = (uint64_t)key;
	key = group_broadcast(key);
	group_barrier();
	if (page && page[RAW_BYTES / 8 - 1] != (uint64_t)key)
		page = NULL;
	if (fd >= 0)
		close(fd);
	return page;
}

/* Both must have it, or neither uses it. */
static void find_raw(void)
{
	double *all = malloc((size_t)group.size * sizeof *all);

	group.raw = share_raw();
	if (!all)
		group_fail("no memory for %d numbers", group.size);
	group_gather(group.raw != NULL, all);
	group.has_raw = group_broadcast(group.me == 0 && group.size > 1 && all[0] > 0 && all[1] > 0);
	if (!group.has_raw)
		group.raw = NULL;
	free(all);
}

static void find_processors(void)
{
	double *all = malloc((size_t)group.size * sizeof *all);
	size_t used = 0;

	if (!all)
		group_fail("no memory for %d numbers", group.size);
	group_gather(sched_getcpu(), all);
	for (int i = 0; group.me == 0 && i < group.size; i++) {
		char word[16];

		snprintf(word, sizeof word, i ? " %.0f" : "%.0f", all[i]);
		if (used + strlen(word) + 4 > sizeof group.processors) {
			strcat(group.processors, " ..");
			break;
		}
		strcat(group.processors, word);
		used += strlen(word);
	}
	free(all);
}

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
	find_processors();
	find_raw();
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
