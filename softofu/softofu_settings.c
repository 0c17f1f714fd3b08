/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu_settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static const char *first_of(const char *const names[])
{
	for (int i = 0; names[i]; i++)
		if (getenv(names[i]) && *getenv(names[i]))
			return names[i];
	return NULL;
}

static bool complain_about(const char *name, const char *wrong)
{
	fprintf(stderr, "softofu: %s=%s: %s\n", name, getenv(name), wrong);
	return false;
}

/* A number from the environment, or the default. Ends the process if the text is not a number. */
static long number_setting(const char *name, long least, long most, long otherwise)
{
	const char *text = name ? getenv(name) : NULL;
	char *end;
	long value;

	if (!text || !*text)
		return otherwise;
	errno = 0;
	value = strtol(text, &end, 0);
	if (*end || errno || value < least || value > most) {
		fprintf(stderr, "softofu: %s=%s: a number from %ld to %ld is wanted\n", name, text, least, most);
		exit(1);
	}
	return value;
}

static bool yes_setting(const char *name)
{
	const char *text = getenv(name);

	return text && *text && strcmp(text, "0") != 0 && strcmp(text, "no") != 0;
}

bool settings_grid(struct node_grid *grid, long ranks)
{
	const char *shape = getenv("SOFTOFU_SHAPE"), *holes = getenv("SOFTOFU_HOLES");
	long per_node = number_setting("SOFTOFU_RANKS_PER_NODE", 1, GRID_PER_NODE_MOST, 1);
	const char *wrong;

	if (!shape || !*shape) {
		node_grid_around(grid, ranks > 0 ? ranks : 288 * per_node, (int)per_node);
		return true;
	}
	wrong = node_grid_read(grid, shape, NULL, (int)per_node);
	if (wrong)
		return complain_about("SOFTOFU_SHAPE", wrong);
	wrong = node_grid_read(grid, shape, holes, (int)per_node);
	if (wrong)
		return complain_about("SOFTOFU_HOLES", wrong);
	if (ranks > node_grid_capacity(grid)) {
		fprintf(stderr, "softofu: SOFTOFU_SHAPE=%s has room for %ld ranks at %ld per node, the job has %ld\n",
			shape, node_grid_capacity(grid), per_node, ranks);
		return false;
	}
	return true;
}

/* FNV-1a. */
static uint64_t mix_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return (hash ^ 0xff) * 0x100000001b3;
}

/*
 * Whether a process has PMI_RANK in its environment, as processes of a job of MPICH's launcher do.
 */
static bool has_pmi_rank(long pid)
{
	char path[64], *entry = NULL;
	size_t room = 0;
	bool found = false;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%ld/environ", pid);
	file = fopen(path, "re");
	while (file && !found && getdelim(&entry, &room, '\0', file) > 0)
		found = strncmp(entry, "PMI_RANK=", 9) == 0;
	free(entry);
	if (file)
		fclose(file);
	return found;
}

/* Parent of a process, and its start time in ticks since boot. */
static bool read_parent(long pid, long *parent, unsigned long long *began)
{
	char path[64], line[1024];
	const char *rest;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%ld/stat", pid);
	file = fopen(path, "re");
	rest = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
	if (file)
		fclose(file);
	return rest &&
	       sscanf(rest, ") %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
		      parent, began) == 2;
}

/*
 * MPICH's launcher names no job. The nearest ancestor that is not of the job is the launcher's
 * process on this machine, the same for all ranks.
 */
static bool name_by_ancestor(char *name, size_t room)
{
	unsigned long long began;
	long pid = getpid(), parent;

	while (pid > 1 && read_parent(pid, &parent, &began)) {
		if (!has_pmi_rank(pid)) {
			snprintf(name, room, "%ld began at %llu", pid, began);
			return true;
		}
		pid = parent;
	}
	return false;
}

/*
 * Sets the name of the job, which all its processes share and no other job has. Launchers reuse
 * names, so the name also depends on the address of the server.
 */
static void set_job_name(struct settings *settings)
{
	static const char *const names[] = {"SOFTOFU_JOB", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid",
					    "PMI_JOBID",   "SLURM_JOB_ID",   NULL};
	const char *name = first_of(names);
	uint64_t hash = 0xcbf29ce484222325;
	char ancestor[64] = "";

	settings->job[0] = '\0';
	if (!name && !(getenv("PMI_RANK") && name_by_ancestor(ancestor, sizeof ancestor)))
		return;
	hash = mix_hash(hash, name ? getenv(name) : ancestor);
	if (name != names[0])
		for (char **entry = environ; *entry; entry++)
			if (!strncmp(*entry, "PMIX_SERVER_URI", 15) || !strncmp(*entry, "SLURM_STEP_ID=", 14))
				hash = mix_hash(hash, *entry);
	snprintf(settings->job, sizeof settings->job, "%016llx", (unsigned long long)hash);
}

/* One of two words; the first is the default. */
static bool is_second(const char *name, const char *first, const char *second)
{
	const char *value = getenv(name);
	char wanted[64];

	if (!value || !*value || !strcmp(value, first))
		return false;
	if (!strcmp(value, second))
		return true;
	snprintf(wanted, sizeof wanted, "%s or %s is wanted", first, second);
	complain_about(name, wanted);
	exit(1);
}

/* Byte of a line in whose word readers find a marker; returns the place of the word. */
static unsigned marker_setting(void)
{
	static const char name[] = "SOFTOFU_MARKER";
	const char *value = getenv(name);
	unsigned long byte;
	char *end;

	if (!value || !*value || !strcmp(value, "last"))
		return 248;
	if (!strcmp(value, "first"))
		return 0;
	byte = strtoul(value, &end, 10);
	if (*value >= '0' && *value <= '9' && !*end && byte < 256)
		return (unsigned)byte / 8 * 8;
	complain_about(name, "last, first, or a number from 0 to 255 is wanted, the byte of a line with the marker");
	exit(1);
}

/* direct, or packets and, behind a colon, what they go through. */
static void read_net(struct settings *settings)
{
	const char *net = getenv("SOFTOFU_NET");

	if (!net || !*net || !strcmp(net, "direct"))
		return;
	if (!strcmp(net, "packets") || !strncmp(net, "packets:", 8)) {
		settings->net = net + (net[7] ? 8 : 7);
		return;
	}
	complain_about("SOFTOFU_NET", "direct, packets or packets:SETTINGS is wanted, as in packets:errors=1e-4");
	exit(1);
}

void settings_read(struct settings *settings)
{
	static const char *const ranks[] = {"SOFTOFU_RANK", "PMIX_RANK",    "OMPI_COMM_WORLD_RANK",
					    "PMI_RANK",	    "SLURM_PROCID", NULL};
	static const char *const sizes[] = {"SOFTOFU_RANKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS", NULL};

	memset(settings, 0, sizeof *settings);
	set_job_name(settings);
	settings->run = getenv("SOFTOFU_RUN_DIRECTORY");
	if (settings->run && !*settings->run)
		settings->run = NULL;
	settings->rank = number_setting(first_of(ranks), 0, 1 << 20, 0);
	settings->ranks = number_setting(first_of(sizes), 1, 1 << 20, 0);
	if (!settings->ranks && !settings->job[0] && !settings->run && !first_of(ranks))
		settings->ranks = 1;
	if (settings->ranks && settings->rank >= settings->ranks) {
		fprintf(stderr, "softofu: %s says rank %ld, %s says that there are %ld; they belong together\n",
			first_of(ranks), settings->rank, first_of(sizes), settings->ranks);
		exit(1);
	}
	settings->seed = (unsigned long)number_setting("SOFTOFU_SEED", 0, 0x7fffffffffffffff, 1);
	settings->mrq_size = number_setting("SOFTOFU_MRQ_SIZE", 16, 1 << 20, 65536);
	settings->stats = yes_setting("SOFTOFU_STATS");
	settings->record = getenv("SOFTOFU_RECORD");
	settings->order = is_second("SOFTOFU_ORDER", "adversarial", "posted") ? ORDER_POSTED : ORDER_REORDERED;
	settings->tear = is_second("SOFTOFU_TEAR", "no", "yes");
	settings->marker = marker_setting();
	settings->sps_by_block = is_second("SOFTOFU_SPS", "descriptor", "block");
	settings->early_cqs = is_second("SOFTOFU_CQS", "late", "early");
	read_net(settings);
	if (!settings_grid(&settings->grid, settings->ranks))
		exit(1);
	if (settings->rank >= node_grid_capacity(&settings->grid)) {
		fprintf(stderr, "softofu: rank %ld has no place in a grid for %ld ranks; set SOFTOFU_SHAPE\n",
			settings->rank, node_grid_capacity(&settings->grid));
		exit(1);
	}
}
