/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The paths to another PE of this node: tries each as the library would use it, and reports why a
 * path does not work.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report.h"
#include "rte/settings.h"

/*
 * Can a process open the memory of another one that is not its child? Returns 0 or the error
 * number.
 */
static int open_of_other(int memory)
{
	pid_t other = fork();
	int status;

	if (other == 0) {
		char path[64];

		snprintf(path, sizeof path, "/proc/%ld/fd/%d", (long)getppid(), memory);
		_exit(open(path, O_RDWR | O_CLOEXEC) >= 0 ? 0 : errno & 0xff);
	}
	if (other < 0 || waitpid(other, &status, 0) != other || !WIFEXITED(status))
		return EAGAIN;
	return WEXITSTATUS(status);
}

static bool path_wanted(const char *path)
{
	const char *found = strstr(setting_text(SETTING_PATHS), path);

	return found && strchr(",", found[strlen(path)]);
}

static void report_local(struct report *report)
{
	int memory = memfd_create("oshinfo", MFD_CLOEXEC);
	int error = memory < 0 ? errno : open_of_other(memory);

	if (memory < 0)
		report_fact(report, "local", "local", "no: memfd_create: %s; UCX is used instead", strerror(error));
	else if (error)
		report_fact(report, "local", "local",
			    "no: a process may not open the memory of another (/proc/PID/fd: %s)", strerror(error));
	else if (!path_wanted("local"))
		report_fact(report, "local", "local", "could be used, but SHMEM_PATHS=%s leaves it out",
			    setting_text(SETTING_PATHS));
	else
		report_fact(report, "local", "local", "yes: load and store in shared memory (memfd, /proc/PID/fd)");
	if (memory >= 0)
		close(memory);
}

static void report_membarrier(struct report *report)
{
	long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	if (commands < 0)
		report_fact(report, "membarrier", "membarrier", "no: %s; waiting PEs poll memory more often",
			    strerror(errno));
	else if (!(commands & MEMBARRIER_CMD_GLOBAL_EXPEDITED))
		report_fact(report, "membarrier", "membarrier", "no: this kernel has not the expedited kind");
	else
		report_fact(report, "membarrier", "membarrier", "yes");
}

/* The word in brackets: "always [never] advise". */
static bool chosen(const char *line, char *word, size_t size)
{
	const char *open = strchr(line, '[');

	if (!open)
		return false;
	snprintf(word, size, "%.*s", (int)strcspn(open + 1, "]"), open + 1);
	return true;
}

static void report_huge_pages(struct report *report, const char *key, const char *name, const char *file)
{
	char path[64], line[128], mode[32];

	snprintf(path, sizeof path, "/sys/kernel/mm/transparent_hugepage/%s", file);
	if (!read_line(path, line, sizeof line) || !chosen(line, mode, sizeof mode))
		report_fact(report, key, name, "no: this kernel has no %s", path);
	else if (!strcmp(mode, "never") || !strcmp(mode, "deny"))
		report_fact(report, key, name, "no: %s says %s; an administrator can write %s there", path, mode,
			    strcmp(file, "enabled") ? "advise" : "madvise");
	else
		report_fact(report, key, name, "yes: %s says %s", path, mode);
}

/* Those that an administrator reserves, for memory that programs map with MAP_HUGETLB. */
static void report_reserved_pages(struct report *report)
{
	FILE *file = fopen("/proc/meminfo", "re");
	long total = 0, unused = 0, size = 0;
	char line[128];

	while (file && fgets(line, sizeof line, file)) {
		sscanf(line, "HugePages_Total: %ld", &total);
		sscanf(line, "HugePages_Free: %ld", &unused);
		sscanf(line, "Hugepagesize: %ld kB", &size);
	}
	if (file)
		fclose(file);
	if (total > 0)
		report_fact(report, "reserved_pages", "huge pages to map",
			    "yes: %ld of %ld free, of %ld KiB; shmemx_heap(3) makes them symmetric", unused, total,
			    size);
	else
		report_fact(report, "reserved_pages", "huge pages to map",
			    "no: none are reserved; an administrator can set vm.nr_hugepages");
}

void report_paths(struct report *report)
{
	report_section(report, "paths", "Paths on a node");
	report_local(report);
	report_membarrier(report);
	report_huge_pages(report, "huge_pages", "huge pages", "shmem_enabled");
	report_huge_pages(report, "huge_pages_alone", "huge pages, PE alone", "enabled");
	report_reserved_pages(report);
}
