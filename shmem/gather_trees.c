/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collecting with missing cables or nodes of the torus: adjacent blocks of a node go down disjoint
 * trees to all other nodes, in one broadcast after another. A node begins the next broadcast when
 * it has the last, so they overlap.
 */
#include "gather.h"

#define TREES_ON 64 /* places; on more, searching trees from each of them takes too long */

static struct torus_tree_choice trees_from(struct torus_topology *topology, struct torus_task *task, int node)
{
	task->root = topology->sites.place[node];
	task->most_segments = TORUS_SEGMENTS;
	return torus_topology_trees(topology, TORUS_TREES_ANY, task);
}

/* First and last index of a node's blocks in the list of members by node. */
static int blocks_begin(const struct comms_levels *levels, int node)
{
	return levels ? levels->first[node] : node;
}

static int count_broadcasts(const struct set *set, const struct layout *layout, int nodes)
{
	const struct comms_levels *levels = set->group->levels;
	int count = 0;

	for (int node = 0, i = 0; node < nodes; node++)
		while (i < blocks_begin(levels, node + 1)) {
			gather_next_run(levels, layout, &i, blocks_begin(levels, node + 1));
			count++;
		}
	return count;
}

int gather_trees_pay(const struct set *set, const struct layout *layout, struct torus_topology *topology, bool forced)
{
	int nodes = topology->sites.nodes, count;
	size_t bytes = layout_bytes(layout);
	double ring = torus_ring_seconds(nodes, bytes, &topology->costs),
	       rounds = torus_rounds_seconds(nodes, bytes, &topology->costs);
	struct torus_tree_choice trees;
	struct torus_task task = {0};

	if (topology->whole || topology->sites.shape.places > TREES_ON)
		return 0;
	count = count_broadcasts(set, layout, nodes);
	task.bytes = bytes / (size_t)count + 1;
	trees = trees_from(topology, &task, 0);
	if (trees.trees == 0 || (!forced && (ring < rounds ? ring : rounds) < count * trees.seconds))
		return 0;
	return count;
}

static void broadcast_run(const struct set *set, const struct torus_gathering_run *run, char *dest, int node,
			  uint64_t number)
{
	struct torus_topology *topology = set->team->topology;
	struct torus_task task = {.bytes = run->bytes};
	struct torus_tree_choice trees;

	if (run->bytes == 0)
		return;
	trees = trees_from(topology, &task, node);
	torus_tree_collective_run(&(struct torus_tree_collective){.topology = topology,
								  .kind = trees.kind,
								  .disjoint = task.disjoint,
								  .root = task.root,
								  .root_pe = topology->pe[task.root],
								  .number = number,
								  .area = team_torus(set->team),
								  .dest = dest + run->at,
								  .source = dest + run->at,
								  .bytes = run->bytes,
								  .segment = trees.segment,
								  .routine = set->routine});
}

void gather_by_trees(const struct set *set, const struct layout *layout, char *dest, uint64_t number)
{
	const struct comms_levels *levels = set->group->levels;

	for (int node = 0, i = 0; node < set->team->topology->sites.nodes; node++)
		while (i < blocks_begin(levels, node + 1)) {
			struct torus_gathering_run run =
				gather_next_run(levels, layout, &i, blocks_begin(levels, node + 1));

			broadcast_run(set, &run, dest, node, number++);
		}
}
