/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writers among the other processes of a node: those that map the heap or the global data of a PE,
 * those that descend from a PE, and those that have the job's name in their environment, which
 * children keep after exec and when their parent has ended. PEs themselves are examined by
 * writers_find. Processes that start a PE, such as a shell or a debugger's wrapper, run another
 * program and wait; a debugger itself is found as the tracer of a PE.
 *
 * One PE of a node does this, for all of them. A process of another user cannot be read, and cannot
 * store to a PE's memory either.
 */
#include "writers.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "comms/core/comms.h"
#include "comms/core/memory.h"
#include "comms/core/peers.h"
#include "comms/core/regions.h"
#include "rte/rte.h"

#define ENVIRONMENT (1 << 20) /* bytes of it that are searched */
#define DEEPEST 256	      /* generations of processes */

struct process {
	pid_t pid, parent;
	bool is_pe, of_job, runs; /* of_job: the job's name is in its environment */
	char name[32];
};
struct table {
	struct process *process;
	int count, room;
	struct memory_handle (*pes)[COMMS_FIXED_SEGMENTS]; /* of each PE of the node */
	int n_pes;
	char job[300]; /* PMIX_NAMESPACE=NAME; empty: none */
};

static char *file_of_process(pid_t pid, const char *name, char *path, size_t size)
{
	snprintf(path, size, "/proc/%d/%s", (int)pid, name);
	return path;
}

/* --- The PEs --- */

static bool find_pes(struct table *table)
{
	const char *job = rte.connected ? getenv("PMIX_NAMESPACE") : NULL;

	if (job)
		snprintf(table->job, sizeof table->job, "PMIX_NAMESPACE=%s", job);
	table->pes = calloc((size_t)rte.n_local, sizeof *table->pes);
	if (!table->pes)
		return false;
	for (int i = 0; i < rte.n_local; i++)
		table->n_pes += peers_memory(rte.local_pes[i], table->pes[table->n_pes]);
	return table->n_pes == rte.n_local;
}

static bool is_pe(const struct table *table, pid_t pid)
{
	for (int i = 0; i < table->n_pes; i++)
		if (table->pes[i][COMMS_HEAP].pid == pid)
			return true;
	return false;
}

/* --- One process --- */

static bool is_memory_of_pe(const struct table *table, uint64_t device, uint64_t inode)
{
	for (int i = 0; i < table->n_pes; i++)
		for (int s = 0; s < COMMS_FIXED_SEGMENTS; s++) {
			const struct memory_handle *handle = &table->pes[i][s];

			if (handle->fd >= 0 && handle->device == device && handle->inode == inode)
				return true;
		}
	return comms_region_has_file(device, inode);
}

/* Does it map memory of a PE? runs: it has memory, so it is no zombie and no kernel thread. */
static bool maps_memory(const struct table *table, pid_t pid, bool *runs)
{
	char path[64], *line = NULL;
	FILE *file = fopen(file_of_process(pid, "maps", path, sizeof path), "r");
	size_t room = 0;
	bool found = false;

	*runs = !file && errno == EACCES; /* as far as known */
	while (file && !found && getline(&line, &room, file) > 0) {
		unsigned major_number, minor_number;
		unsigned long long inode;

		*runs = true;
		found = strchr(line, '/') &&
			sscanf(line, "%*x-%*x %*s %*x %x:%x %llu", &major_number, &minor_number, &inode) == 3 &&
			is_memory_of_pe(table, makedev(major_number, minor_number), inode);
	}
	free(line);
	if (file)
		fclose(file);
	return found;
}

static bool has_job_in_environment(const struct table *table, pid_t pid)
{
	char path[64], *entry = NULL;
	FILE *file = table->job[0] ? fopen(file_of_process(pid, "environ", path, sizeof path), "r") : NULL;
	size_t room = 0, bytes = 0;
	ssize_t length;
	bool found = false;

	while (file && !found && bytes < ENVIRONMENT && (length = getdelim(&entry, &room, '\0', file)) > 0) {
		found = !strcmp(entry, table->job);
		bytes += (size_t)length;
	}
	free(entry);
	if (file)
		fclose(file);
	return found;
}

/* The name and the parent: "PID (NAME) STATE PARENT ...", where the name may contain anything. */
static bool read_parent(struct process *process)
{
	char path[64], text[256] = "", *begin, *end;
	FILE *file = fopen(file_of_process(process->pid, "stat", path, sizeof path), "r");

	if (!file)
		return false;
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	begin = strchr(text, '(');
	end = strrchr(text, ')');
	if (!begin || !end || sscanf(end + 1, " %*c %d", &process->parent) != 1)
		return false;
	*end = '\0';
	snprintf(process->name, sizeof process->name, "%s", begin + 1);
	return true;
}

static bool make_room(struct table *table)
{
	int room = table->room ? 2 * table->room : 256;
	struct process *more;

	if (table->count < table->room)
		return true;
	more = realloc(table->process, (size_t)room * sizeof *more);
	if (!more)
		return false;
	table->process = more;
	table->room = room;
	return true;
}

/* --- All processes --- */

static const struct process *find_process(const struct table *table, pid_t pid)
{
	for (int i = 0; i < table->count; i++)
		if (table->process[i].pid == pid)
			return &table->process[i];
	return NULL;
}

/* Is this process, or one that started it, a descendant of the ancestor? */
static bool descends_from(const struct table *table, const struct process *process, pid_t ancestor)
{
	for (int i = 0; process && i < DEEPEST; i++) {
		if (process->parent == ancestor)
			return true;
		process = process->parent > 0 ? find_process(table, process->parent) : NULL;
	}
	return false;
}

static bool descends_from_pe(const struct table *table, const struct process *process)
{
	for (int i = 0; i < DEEPEST && process && process->parent > 0; i++) {
		if (is_pe(table, process->parent))
			return true;
		process = find_process(table, process->parent);
	}
	return false;
}

/* Returns true, to be safe, if the system does not tell. */
static bool runs_program_of(pid_t pid, pid_t pe)
{
	char path[64], one[PATH_MAX], other[PATH_MAX];
	ssize_t length = readlink(file_of_process(pid, "exe", path, sizeof path), one, sizeof one);
	ssize_t pe_length = readlink(file_of_process(pe, "exe", path, sizeof path), other, sizeof other);

	return length < 0 || pe_length < 0 || (length == pe_length && !memcmp(one, other, (size_t)length));
}

/* A shell that runs a PE, or a tool such as time: it runs another program than the PE does. */
static bool only_starts_pe(const struct table *table, const struct process *process)
{
	for (int i = 0; i < table->n_pes; i++) {
		pid_t pe = table->pes[i][COMMS_HEAP].pid;

		if (descends_from(table, find_process(table, pe), process->pid))
			return !runs_program_of(process->pid, pe);
	}
	return false;
}

static bool describe(const struct process *process, const char *what, char *text, size_t size)
{
	snprintf(text, size, "process %d (%s), which %s", (int)process->pid, process->name, what);
	return true;
}

/* Returns false: the next one may be examined. */
static bool examine_process(struct table *table, pid_t pid, char *text, size_t size)
{
	struct process process = {.pid = pid, .is_pe = is_pe(table, pid)};

	if (!read_parent(&process))
		return false;
	if (!process.is_pe && maps_memory(table, pid, &process.runs))
		return describe(&process, "maps memory of a PE", text, size);
	process.of_job = process.runs && has_job_in_environment(table, pid);
	if (!make_room(table)) {
		snprintf(text, size, "a process that cannot be seen for lack of memory");
		return true;
	}
	table->process[table->count++] = process;
	return false;
}

static bool examine_relations(const struct table *table, char *text, size_t size)
{
	for (int i = 0; i < table->count; i++) {
		const struct process *process = &table->process[i];

		if (process->is_pe || !process->runs)
			continue;
		if (descends_from_pe(table, process))
			return describe(process, "a PE started", text, size);
		if (process->of_job && !only_starts_pe(table, process))
			return describe(process, "belongs to the job", text, size);
	}
	return false;
}

static bool examine_processes(struct table *table, char *text, size_t size)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	bool found = false;

	if (!folder) {
		snprintf(text, size, "a process that cannot be seen without /proc");
		return true;
	}
	while (!found && (entry = readdir(folder)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			found = examine_process(table, atoi(entry->d_name), text, size);
	closedir(folder);
	return found || examine_relations(table, text, size);
}

/* Other PEs of the node leave it to the first one, unless that is in another PID namespace. */
static bool is_examiner(void)
{
	struct memory_handle first[COMMS_FIXED_SEGMENTS];
	char path[64];

	if (rte.local_pes[0] == rte.pe || !peers_memory(rte.local_pes[0], first))
		return true;
	if (first[COMMS_HEAP].fd >= 0)
		return !memory_is_there(&first[COMMS_HEAP]);
	return access(file_of_process(first[COMMS_HEAP].pid, "stat", path, sizeof path), F_OK) != 0;
}

bool writers_find_process(char *text, size_t size)
{
	struct table table = {0};
	bool found;

	if (!is_examiner())
		return false;
	found = !find_pes(&table);
	if (found)
		snprintf(text, size, "a process of a PE whose number is not known");
	else
		found = examine_processes(&table, text, size);
	free(table.pes);
	free(table.process);
	return found;
}
