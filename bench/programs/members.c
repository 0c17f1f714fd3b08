/* SPDX-License-Identifier: BSD-3-Clause */
/* What PEs, and processes of MPI, find out by what any group can do. */
#include "measure.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RAW_BYTES = 4096 };

/*
 * A page that members 0 and 1 share without the library: member 0 makes it and member 1 opens it
 * through /proc. A random word in it shows that it is the right one, and not the file of another
 * machine's process.
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
void group_find_raw(void)
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

void group_find_processors(void)
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
