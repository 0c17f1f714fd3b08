/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory a PE takes: its resident set, its fair share of what it shares with others (the
 * proportional set), and what is its alone. At start, and after it has put to and received from
 * every PE.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

static const char *const lines[] = {"Rss:", "Pss:", "Private_Dirty:"};
static const char *const names[] = {"resident", "share", "private"};
enum { KINDS = sizeof lines / sizeof *lines };

static bool read_memory(double mib[KINDS])
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	int found = 0;

	if (!file)
		return false;
	while (fgets(line, sizeof line, file))
		for (int i = 0; i < KINDS; i++)
			if (!strncmp(line, lines[i], strlen(lines[i]))) {
				mib[i] = strtod(line + strlen(lines[i]), NULL) / 1024;
				found++;
			}
	fclose(file);
	return found == KINDS;
}

static void report(const char *when)
{
	double mib[KINDS] = {0}, *all = malloc((size_t)group.size * sizeof *all);
	char variant[40];

	if (!all || !read_memory(mib))
		group_fail("cannot read /proc/self/smaps_rollup");
	for (int i = 0; i < KINDS; i++) {
		snprintf(variant, sizeof variant, "%s:%s", names[i], when);
		group_gather(mib[i], all);
		harness_report("memory", variant, 0, "MiB", all, group.size);
	}
	free(all);
}

void memory_per_pe(void)
{
	long *words = shmem_calloc((size_t)group.size, sizeof *words);

	if (!words)
		group_fail("no symmetric memory for %d words", group.size);
	group_barrier();
	report("at-start");
	for (int i = 0; i < group.size; i++)
		shmem_long_p(&words[group.me], 1, (group.me + i) % group.size);
	group_barrier();
	for (int i = 0; i < group.size; i++)
		if (words[i] != 1)
			group_fail("memory: a put did not arrive; the library has an error");
	report("all-met");
	heap_give(words);
}
