/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rte/rte.h"
#include "rte/text/text.h"

int rte_processors(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return CPU_COUNT(&set);
	return (int)sysconf(_SC_NPROCESSORS_ONLN); /* more processors than a cpu_set_t holds */
}

/* A list of numbers such as 0-11,24, read from a file. */
static bool read_number_list(const char *path, bool *set)
{
	FILE *file = fopen(path, "re");
	char list[4096];
	bool good;

	memset(set, 0, CPU_SETSIZE * sizeof *set);
	if (!file)
		return false;
	good = fscanf(file, "%4095s", list) == 1 && text_parse_list(list, set, CPU_SETSIZE);
	fclose(file);
	return good;
}

int rte_container_processors(void)
{
	static const char *const files[] = {"/sys/fs/cgroup/cpuset.cpus.effective",
					    "/sys/fs/cgroup/cpuset/cpuset.effective_cpus"};
	bool usable[CPU_SETSIZE];
	int count = 0;

	for (size_t i = 0; count == 0 && i < sizeof files / sizeof files[0]; i++)
		if (read_number_list(files[i], usable))
			for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
				count += usable[cpu];
	return count > 0 ? count : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

/* Are all processors of this process in the list? */
static bool runs_within(const bool *list)
{
	cpu_set_t mine;

	if (sched_getaffinity(0, sizeof mine, &mine))
		return false;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &mine) && !list[cpu])
			return false;
	return true;
}

int rte_memory_group_by_affinity(int *groups)
{
	bool nodes[CPU_SETSIZE], cpus[CPU_SETSIZE];
	int group = -1;

	*groups = 0;
	if (!read_number_list("/sys/devices/system/node/has_cpu", nodes))
		return -1;
	for (int node = 0; node < CPU_SETSIZE; node++) {
		char path[64];

		if (!nodes[node])
			continue;
		snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
		if (group < 0 && read_number_list(path, cpus) && runs_within(cpus))
			group = *groups;
		++*groups;
	}
	return group;
}

/* The number on the first line of a file; SIZE_MAX if there is none ("max"). */
static size_t number_in_file(const char *path)
{
	unsigned long long number = 0;
	FILE *file = fopen(path, "re");
	size_t result = SIZE_MAX;

	if (!file)
		return result;
	if (fscanf(file, "%llu", &number) == 1)
		result = (size_t)number;
	fclose(file);
	return result;
}

/* The tightest memory limit on the path from this process's cgroup (version 2) up to the root. */
static size_t cgroup_limit(void)
{
	char line[4096], path[4300];
	size_t limit = SIZE_MAX;
	FILE *file = fopen("/proc/self/cgroup", "re");

	if (!file)
		return limit;
	while (fgets(line, sizeof line, file)) {
		char *group = line + 3;

		if (strncmp(line, "0::", 3))
			continue;
		group[strcspn(group, "\n")] = '\0';
		while (group[0] == '/') {
			size_t here;

			snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
			here = number_in_file(path);
			limit = here < limit ? here : limit;
			if (!group[1])
				break;
			*(strrchr(group, '/') + (strrchr(group, '/') == group)) = '\0';
		}
	}
	fclose(file);
	return limit;
}

size_t rte_memory(void)
{
	size_t machine = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
	size_t limit = cgroup_limit();

	return limit < machine ? limit : machine;
}
