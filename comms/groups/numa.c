/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The barriers of a node with several memory groups. All members decide alike, because they use the
 * same data: the settings, the first member's node, and the memory group in each member's endpoint
 * info.
 *
 * rounds  dissemination inside each memory group, then between the groups: in each round of the
 *         second part, every member waits for one member of another group. Only rounds of the
 *         second part cross between groups, ceil(log2 4) = 2 of 6 for 12 + 12 + 12 + 12 PEs, while
 *         nearly all rounds of the flat barrier do. Groups may differ in size: member j of one is
 *         notified by member j mod n of another one of size n
 * counter a counter barrier for each group and one between them (groups.c)
 */
#include "numa.h"

#include <stdlib.h>

#include "comms/core/group.h"
#include "comms/nodes/levels.h"
#include "rte/rte.h"
#include "rte/settings.h"

/* Members per memory group; with fewer, a flat counter has as few arrivals on each line. */
#define COUNTER_LEAST 4

enum { AUTO, YES, NO };

void numa_start(void)
{
	comms.divide = setting_choice(SETTING_MEMORY_GROUPS);
	comms.memory_group = comms.divide == NO ? -1 : rte_memory_group(&comms.memory_groups);
}

static bool group_key(int pe, uint64_t *key)
{
	int groups, group = comms_memory_group(pe, &groups);

	*key = (uint64_t)group;
	return group >= 0;
}

static int part_size(const struct comms_levels *parts, int part)
{
	return parts->first[part + 1] - parts->first[part];
}

/* In rounds, a member of the smallest part notifies several members of the largest. */
static bool parts_are_alike(const struct comms_levels *parts, int *largest)
{
	int smallest = part_size(parts, 0);

	*largest = 0;
	for (int p = 0; p < parts->leaders.size; p++) {
		int size = part_size(parts, p);

		*largest = size > *largest ? size : *largest;
		smallest = size < smallest ? size : smallest;
	}
	return *largest <= 2 * smallest;
}

/* Generates 1, 2, 4, ... below n, and then 0. */
static int next_distance(int step, int n)
{
	return step < n - step ? 2 * step : 0;
}

static int rounds_of(int n)
{
	int rounds = 0;

	for (int step = n > 1; step; step = next_distance(step, n))
		rounds++;
	return rounds;
}

static void add_round(struct comms_group *node, int word)
{
	node->round[node->rounds++] = (struct comms_round){.word = word, .first = node->n_notified, .count = 0};
}

static void add_notified(struct comms_group *node, int place)
{
	node->notified[node->n_notified++] = comms_group_pe(node, place);
	node->round[node->rounds - 1].count++;
}

static void list_rounds(struct comms_group *node, int largest)
{
	const struct comms_levels *parts = node->parts;
	int n = parts->node.size, me = parts->node.me, n_parts = parts->leaders.size, word = 0;

	for (int step = n > 1; step; step = next_distance(step, n)) {
		add_round(node, word++);
		add_notified(node, parts->places[parts->first[parts->my_node] + (me + step) % n]);
	}
	word = rounds_of(largest);
	for (int step = 1; step; step = next_distance(step, n_parts)) {
		int to = (parts->my_node + step) % n_parts;

		add_round(node, word++);
		for (int i = me; i < part_size(parts, to); i += n)
			add_notified(node, parts->places[parts->first[to] + i]);
	}
}

static void make_rounds(struct comms_group *node, int largest)
{
	size_t rounds = (size_t)rounds_of(largest) + (size_t)rounds_of(node->parts->leaders.size);

	node->round = calloc(rounds, sizeof *node->round);
	node->notified = calloc((size_t)node->size + rounds, sizeof *node->notified);
	if (!node->round || !node->notified)
		rte_die(NULL, "no memory for the rounds of a team");
	list_rounds(node, largest);
}

/*
 * With more PEs than processors, the order of execution matters more than the location of a line.
 */
static bool division_is_wanted(const struct comms_group *node)
{
	int groups;

	if (comms.divide == NO || node->size < 3 || (comms.divide == AUTO && node->oversubscribed))
		return false;
	comms_memory_group(comms_group_pe(node, 0), &groups);
	return groups > 1;
}

void numa_divide(struct comms_group *node)
{
	struct level_member *sorted;
	int n_parts, largest;

	if (!division_is_wanted(node))
		return;
	sorted = levels_sort(node, group_key, &n_parts);
	if (n_parts > 1 && n_parts < node->size) {
		node->parts = levels_make(node, sorted, n_parts);
		node->parts->node.barrier = COMMS_BARRIER_OF_PART;
		node->parts->leaders.on_node = true;
		node->parts->node.oversubscribed = node->parts->leaders.oversubscribed = node->oversubscribed;
		node->divided_barrier = comms.divide == YES || node->size >= COUNTER_LEAST * n_parts;
		if (parts_are_alike(node->parts, &largest))
			make_rounds(node, largest);
		rte_debug("a team of %d PEs on this node synchronises by %d memory groups%s", node->size, n_parts,
			  node->round ? "" : " of different sizes");
	}
	free(sorted);
}

void numa_forget(struct comms_group *node)
{
	if (!node->parts)
		return;
	levels_free(node->parts);
	free(node->round);
	free(node->notified);
	node->parts = NULL;
	node->round = NULL;
	node->notified = NULL;
	node->rounds = node->n_notified = 0;
}
