/* SPDX-License-Identifier: BSD-3-Clause */
#include "levels.h"

#include <stdlib.h>

#include "comms/core/group.h"
#include "rte/rte.h"

static int compare_keys(const void *left, const void *right)
{
	const struct level_member *a = left, *b = right;

	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return a->place - b->place;
}

static int compare_leaders(const void *left, const void *right)
{
	const struct level_member *a = left, *b = right;

	return a->leader != b->leader ? a->leader - b->leader : a->place - b->place;
}

static void *levels_allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		rte_die(NULL, "no memory for the lists of a team's nodes");
	return memory;
}

struct level_member *levels_sort(const struct comms_group *group, level_key *key, int *parts)
{
	struct level_member *sorted = levels_allocate((size_t)group->size, sizeof *sorted);

	*parts = 0;
	for (int i = 0; i < group->size; i++) {
		sorted[i].place = i;
		if (!key(comms_group_pe(group, i), &sorted[i].key))
			return sorted;
	}
	qsort(sorted, (size_t)group->size, sizeof *sorted, compare_keys);
	for (int i = 0; i < group->size; i++) {
		bool first = i == 0 || sorted[i].key != sorted[i - 1].key;

		sorted[i].leader = first ? sorted[i].place : sorted[i - 1].leader;
		*parts += first;
	}
	qsort(sorted, (size_t)group->size, sizeof *sorted, compare_leaders);
	return sorted;
}

static int *pes_of(const struct comms_group *group, const int *places, int count)
{
	int *pes = levels_allocate((size_t)count, sizeof *pes);

	for (int i = 0; i < count; i++)
		pes[i] = comms_group_pe(group, places[i]);
	return pes;
}

struct comms_levels *levels_make(const struct comms_group *group, const struct level_member *sorted, int n_nodes)
{
	struct comms_levels *levels = levels_allocate(1, sizeof *levels);
	int *leaders = levels_allocate((size_t)n_nodes, sizeof *leaders);
	int node = -1, here, count;

	levels->node_of = levels_allocate((size_t)group->size, sizeof *levels->node_of);
	levels->first = levels_allocate((size_t)n_nodes + 1, sizeof *levels->first);
	levels->places = levels_allocate((size_t)group->size, sizeof *levels->places);
	for (int i = 0; i < group->size; i++) {
		if (sorted[i].place == sorted[i].leader) {
			levels->first[++node] = i;
			leaders[node] = sorted[i].place;
		}
		levels->places[i] = sorted[i].place;
		levels->node_of[sorted[i].place] = node;
	}
	levels->first[n_nodes] = group->size;
	levels->my_node = levels->node_of[group->me];
	here = levels->first[levels->my_node];
	count = levels->first[levels->my_node + 1] - here;
	levels->node =
		(struct comms_group){.size = count, .slot = group->slot, .on_node = true, .prepared = true, .tier = 1};
	levels->node.members = pes_of(group, &levels->places[here], count);
	while (levels->places[here + levels->node.me] != group->me)
		levels->node.me++;
	levels->leaders = (struct comms_group){.size = n_nodes, .slot = group->slot, .prepared = true};
	levels->leaders.members = pes_of(group, leaders, n_nodes);
	levels->leaders.me = levels->node.me == 0 ? levels->my_node : -1;
	free(leaders);
	return levels;
}

void levels_free(struct comms_levels *levels)
{
	free((void *)(uintptr_t)levels->node.members);
	free((void *)(uintptr_t)levels->leaders.members);
	free(levels->node_of);
	free(levels->first);
	free(levels->places);
	free(levels);
}
