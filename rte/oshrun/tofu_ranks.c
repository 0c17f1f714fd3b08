/* SPDX-License-Identifier: BSD-3-Clause */
#include "tofu_ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	job->tofu_map.bytes = (char *)map;
	job->tofu_map.size = map->bytes;
	return 0;
}
