/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The node: its shape by hwloc, the part that this process may use, and the limits that programs
 * meet first.
 */
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "report.h"
#include "rte/text/text.h"

/* --- Control groups: the process's own group or any group above it may set a limit --- */

struct group_limit {
	const char *controller; /* version 1 has a tree of groups for each */
	const char *file_v1;
	const char *file_v2;
};

/* Calls visit(folder/file) for the process's group and for each group above it. */
static void groups_visit(const struct group_limit *limit, void (*visit)(const char *path, void *result), void *result)
{
	char line[4096], path[8192];
	FILE *file = fopen("/proc/self/cgroup", "re");

	while (file && fgets(line, sizeof line, file)) {
		char *names = strchr(line, ':');
		char *group = names ? strchr(names + 1, ':') : NULL;
		bool v2 = group == names + 1;

		if (!group)
			continue;
		*group++ = '\0';
		group[strcspn(group, "\n")] = '\0';
		if (!v2 && strcmp(names + 1, limit->controller))
			continue;
		for (char *end = group + strlen(group); end; end = strrchr(group, '/')) {
			*end = '\0';
			snprintf(path, sizeof path, "/sys/fs/cgroup%s%s%s/%s", v2 ? "" : "/",
				 v2 ? "" : limit->controller, group, v2 ? limit->file_v2 : limit->file_v1);
			visit(path, result);
		}
	}
	if (file)
		fclose(file);
}

static void read_memory_limit(const char *path, void *result)
{
	char line[64], *end;
	unsigned long long bytes;

	if (!read_line(path, line, sizeof line))
		return;
	bytes = strtoull(line, &end, 10);
	if (end != line && bytes < *(unsigned long long *)result)
		*(unsigned long long *)result = bytes;
}

/*
 * The number of processors that the quota of time allows. Version 2 has quota and period in one
 * file, version 1 in two.
 */
static void read_processor_quota(const char *path, void *result)
{
	char line[64], other[8192];
	double quota, period = 0;

	if (!read_line(path, line, sizeof line) || sscanf(line, "%lf %lf", &quota, &period) < 1 || quota <= 0)
		return;
	if (period <= 0) {
		snprintf(other, sizeof other, "%.*s/cpu.cfs_period_us", (int)(strrchr(path, '/') - path), path);
		if (!read_line(other, line, sizeof line) || sscanf(line, "%lf", &period) < 1 || period <= 0)
			return;
	}
	if (quota / period < *(double *)result)
		*(double *)result = quota / period;
}

/* --- Shape --- */

static int count(hwloc_topology_t topology, hwloc_obj_type_t type)
{
	int number = hwloc_get_nbobjs_by_type(topology, type);

	return number < 0 ? 0 : number;
}

static void report_shape(struct report *report)
{
	hwloc_topology_t topology;

	/* Without devices, whose plug-ins search for X servers and so on, which takes long. */
	setenv("HWLOC_COMPONENTS", "-gl,-opencl,-cuda,-nvml,-rsmi,-levelzero,-pci,-linuxio", 0);
	if (hwloc_topology_init(&topology))
		return;
	hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
	if (hwloc_topology_load(topology) == 0) {
		report_fact(report, "sockets", "sockets", "%d", count(topology, HWLOC_OBJ_PACKAGE));
		report_fact(report, "cores", "cores", "%d", count(topology, HWLOC_OBJ_CORE));
		report_fact(report, "threads", "threads", "%d", count(topology, HWLOC_OBJ_PU));
		report_fact(report, "numa_nodes", "NUMA nodes", "%d", count(topology, HWLOC_OBJ_NUMANODE));
	}
	hwloc_topology_destroy(topology);
}

static void report_processors(struct report *report)
{
	static const struct group_limit quota = {"cpu,cpuacct", "cpu.cfs_quota_us", "cpu.max"};
	static const struct group_limit quota_alone = {"cpu", "cpu.cfs_quota_us", "cpu.max"};
	double share = 1e9;
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		report_fact(report, "usable", "usable threads", "%d", CPU_COUNT(&set));
	groups_visit(&quota, read_processor_quota, &share);
	groups_visit(&quota_alone, read_processor_quota, &share);
	if (share < 1e9)
		report_fact(report, "share", "processor share", "%.2f of time, by the control group", share);
}

static void report_bytes(struct report *report, const char *key, const char *label, unsigned long long bytes,
			 const char *remark)
{
	char size[32];

	if (report->form != FOR_PEOPLE)
		report_fact(report, key, label, "%llu", bytes);
	else
		report_fact(report, key, label, "%s%s", text_size(bytes, size), remark);
}

static void report_memory(struct report *report)
{
	static const struct group_limit limit = {"memory", "memory.limit_in_bytes", "memory.max"};
	unsigned long long total =
		(unsigned long long)sysconf(_SC_PHYS_PAGES) * (unsigned long long)sysconf(_SC_PAGESIZE);
	unsigned long long bytes = total;

	report_bytes(report, "memory", "memory", total, "");
	groups_visit(&limit, read_memory_limit, &bytes);
	if (bytes < total)
		report_bytes(report, "memory_limit", "memory limit", bytes, ", by the control group");
}

void report_machine(struct report *report)
{
	struct utsname system;

	report_section(report, "machine", "Machine");
	if (uname(&system) == 0) {
		report_fact(report, "host", "host", "%s", system.nodename);
		report_fact(report, "system", "system", "%s %s, %s", system.sysname, system.release, system.machine);
	}
	report_shape(report);
	report_processors(report);
	/* The kernel's number: sysfs, which hwloc adds up, may lack memory plugged in later. */
	report_memory(report);
}

/* --- Limits --- */

static void report_limit(struct report *report, int resource, const char *key, const char *label, const char *unit)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit))
		return;
	if (limit.rlim_cur == RLIM_INFINITY)
		report_fact(report, key, label, "unlimited");
	else
		report_fact(report, key, label, "%llu%s", (unsigned long long)limit.rlim_cur,
			    report->form == FOR_PEOPLE ? unit : "");
}

static void report_shared_memory(struct report *report)
{
	struct statvfs fs;

	if (statvfs("/dev/shm", &fs)) {
		report_fact(report, "dev_shm", "/dev/shm", "%s", "absent");
		return;
	}
	report_bytes(report, "dev_shm", "/dev/shm", (unsigned long long)fs.f_blocks * fs.f_frsize, "");
	report_bytes(report, "dev_shm_free", "/dev/shm free", (unsigned long long)fs.f_bavail * fs.f_frsize, "");
}

static void report_ptrace(struct report *report)
{
	static const char *const meaning[] = {
		"any process of the same user",
		"only a debugger's own children",
		"administrators only",
		"nobody",
	};
	char line[16];
	unsigned scope;

	if (!read_line("/proc/sys/kernel/yama/ptrace_scope", line, sizeof line)) {
		report_fact(report, "ptrace_scope", "ptrace scope", "%s", "none (no Yama in this kernel)");
		return;
	}
	scope = (unsigned)atoi(line);
	report_fact(report, "ptrace_scope", "ptrace scope", "%s (%s)", line, scope < 4 ? meaning[scope] : "unknown");
}

static void report_overcommit(struct report *report)
{
	static const char *const meaning[] =
		{"by a guess", "always",
		 "never: large heaps count in full, so set SHMEM_SYMMETRIC_SIZE to what is needed"};
	char line[16];
	unsigned mode;

	if (!read_line("/proc/sys/vm/overcommit_memory", line, sizeof line))
		return;
	mode = (unsigned)atoi(line);
	report_fact(report, "overcommit", "overcommit", "%s (%s)", line, mode < 3 ? meaning[mode] : "unknown");
}

void report_limits(struct report *report)
{
	report_section(report, "limits", "Limits");
	report_limit(report, RLIMIT_NOFILE, "open_files", "open files", " (ulimit -n)");
	report_limit(report, RLIMIT_MEMLOCK, "locked_memory", "locked memory", " bytes (ulimit -l)");
	report_limit(report, RLIMIT_NPROC, "processes", "processes", " (ulimit -u)");
	report_limit(report, RLIMIT_AS, "address_space", "address space", " bytes (ulimit -v)");
	report_limit(report, RLIMIT_CORE, "core_file", "core file", " bytes (ulimit -c)");
	report_shared_memory(report);
	report_ptrace(report);
	report_overcommit(report);
}
