/* SPDX-License-Identifier: BSD-3-Clause */
#include "map.h"

#include <stdlib.h>
#include <string.h>

struct map *map_make(const struct box *box, uint32_t ranks)
{
	size_t bytes = sizeof(struct map) + ranks * sizeof(struct map_rank);
	struct map *map = calloc(1, bytes);

	if (!map)
		return NULL;
	memcpy(map->magic, MAP_MAGIC, sizeof map->magic);
	map->bytes = (uint32_t)bytes;
	map->ranks = ranks;
	map->per_node = (uint32_t)box->per_node;
	for (int axis = 0; axis < BOX_AXES; axis++) {
		map->system_size[axis] = map->size[axis] = (uint8_t)box->size[axis];
		map->system_ring[axis] = box->ring[axis] && box->size[axis] > 1;
	}
	for (int line = 0; line < 3; line++)
		map->logical_size[line] = (uint32_t)(box->size[line] * box->size[line + 3]);
	for (uint32_t rank = 0; rank < ranks; rank++)
		box_place(box, (long)rank, map->rank[rank].physical, map->rank[rank].logical);
	return map;
}

void map_box(const struct map *map, struct box *box)
{
	memset(box, 0, sizeof *box);
	box->per_node = (int)map->per_node;
	for (int axis = 0; axis < BOX_AXES; axis++) {
		box->size[axis] = map->system_size[axis];
		box->ring[axis] = map->system_ring[axis];
	}
}
