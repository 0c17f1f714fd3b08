/* SPDX-License-Identifier: BSD-3-Clause */
#include "tofu_ranks.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

#include "softofu/rank_map.h"
#include "softofu/softofu_settings.h"

#define RANKS "SOFTOFU_RANKS="

static bool is_ours(const char *entry)
{
	return !strncmp(entry, RANKS, strlen(RANKS)) || !strncmp(entry, "SOFTOFU_RANK=", strlen("SOFTOFU_RANK="));
}

/* Replaces the variables of an outer job. */
static bool set_rank_count(struct job *job)
{
	size_t used = 0, count = 0;
	char entry[64], **grown;

	snprintf(entry, sizeof entry, RANKS "%d", job->count);
	for (; job->environment[count]; count++) {
		if (is_ours(job->environment[count]))
			free(job->environment[count]);
		else
			job->environment[used++] = job->environment[count];
	}
	job->environment[used] = NULL;
	grown = realloc(job->environment, (used + 2) * sizeof *grown);
	if (!grown)
		return false;
	job->environment = grown;
	grown[used] = strdup(entry);
	grown[used + 1] = NULL;
	return grown[used];
}

/*
 * Ranks of different nodes must not find each other's System V memory, which clients make by keys
 * that are the same on all nodes. A namespace lasts as long as a process is in it or its file is
 * open, so a thread can make all of them. Where that is not allowed, the nodes share that of
 * oshrun.
 */
static void *make_namespaces(void *context)
{
	struct job *job = context;
	int nodes = (job->count + job->pes_of_node - 1) / job->pes_of_node, made = 0;

	while (made < nodes && !unshare(CLONE_NEWIPC) &&
	       (job->ipc_of_node[made] = open("/proc/thread-self/ns/ipc", O_RDONLY | O_CLOEXEC)) >= 0)
		made++;
	if (made == nodes)
		return NULL;
	while (made > 0)
		close(job->ipc_of_node[--made]);
	free(job->ipc_of_node);
	job->ipc_of_node = NULL;
	return NULL;
}

static void separate_nodes(struct job *job, const struct node_grid *grid)
{
	const char *shared = getenv("SOFTOFU_IPC");
	pthread_t maker;

	job->pes_of_node = grid->per_node;
	if (job->count <= grid->per_node || (shared && !strcmp(shared, "machine")))
		return;
	job->ipc_of_node = calloc((size_t)job->count, sizeof *job->ipc_of_node);
	if (job->ipc_of_node && !pthread_create(&maker, NULL, make_namespaces, job)) {
		pthread_join(maker, NULL);
		return;
	}
	free(job->ipc_of_node);
	job->ipc_of_node = NULL;
}

int tofu_ranks_prepare(struct job *job)
{
	const char *shape = getenv("SOFTOFU_SHAPE");
	struct node_grid grid;
	struct rank_map *map;

	if (!set_rank_count(job)) {
		say("out of memory");
		return 1;
	}
	if (!shape || !*shape)
		return 0;
	if (!settings_grid(&grid, job->count))
		return 1;
	map = rank_map_make(&grid, (uint32_t)job->count);
	if (!map) {
		say("out of memory for the map of %d ranks", job->count);
		return 1;
	}
	separate_nodes(job, &grid);
	job->tofu_map.bytes = (char *)map;
	job->tofu_map.size = map->bytes;
	return 0;
}
