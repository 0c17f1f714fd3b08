/* SPDX-License-Identifier: BSD-3-Clause */
#include "rank_map.h"

#include <stdlib.h>
#include <string.h>

struct rank_map *rank_map_make(const struct node_grid *grid, uint32_t ranks)
{
	size_t bytes = sizeof(struct rank_map) + ranks * sizeof(struct rank_place);
	struct rank_map *map = calloc(1, bytes);

	if (!map)
		return NULL;
	memcpy(map->magic, RANK_MAP_MAGIC, sizeof map->magic);
	map->bytes = (uint32_t)bytes;
	map->ranks = ranks;
	map->per_node = (uint32_t)grid->per_node;
	for (int axis = 0; axis < GRID_AXES; axis++) {
		map->system_size[axis] = map->size[axis] = (uint8_t)grid->size[axis];
		map->system_ring[axis] = grid->ring[axis] && grid->size[axis] > 1;
	}
	for (int line = 0; line < 3; line++)
		map->logical_size[line] = (uint32_t)(grid->size[line] * grid->size[line + 3]);
	for (uint32_t rank = 0; rank < ranks; rank++)
		node_grid_place(grid, (long)rank, map->rank[rank].physical, map->rank[rank].logical);
	return map;
}

void rank_map_grid(const struct rank_map *map, struct node_grid *grid)
{
	memset(grid, 0, sizeof *grid);
	grid->per_node = (int)map->per_node;
	for (int axis = 0; axis < GRID_AXES; axis++) {
		grid->size[axis] = map->system_size[axis];
		grid->ring[axis] = map->system_ring[axis];
	}
}
