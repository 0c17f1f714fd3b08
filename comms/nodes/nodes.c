/* SPDX-License-Identifier: BSD-3-Clause */
/* Which PEs share a node. */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

#include "comms/core/group.h"
#include "comms/core/network.h"
#include "levels.h"
#include "rte/rte.h"

/* Distance between the keys of two hosts, which leaves room for parts of a node. */
bool nodes_key(int pe, uint64_t *key)
{
	*key = (uint64_t)pe;
	if (!comms.local_path)
		return true;
	if (!rte_node(pe, key))
		return false;
	if (comms.map)
		*key += comms.map->node_of(pe) * 0xd6e8feb86659fd93;
	if (comms.node_size > 0)
		*key += (uint64_t)(pe / comms.node_size) * 0x9e3779b97f4a7c15;
	return true;
}

int comms_nodes(int *node_of)
{
	struct comms_group world = {.size = comms.n_pes, .stride = 1};
	struct level_member *sorted;
	int n_nodes, node = -1;

	memset(node_of, 0, (size_t)world.size * sizeof *node_of);
	if (comms.n_node == comms.n_pes)
		return 1;
	sorted = levels_sort(&world, nodes_key, &n_nodes);
	for (int i = 0; i < world.size; i++) {
		node += sorted[i].place == sorted[i].leader;
		node_of[n_nodes ? sorted[i].place : i] = n_nodes ? node : i;
	}
	free(sorted);
	return n_nodes ? n_nodes : world.size;
}
