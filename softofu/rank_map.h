/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_RANK_MAP_H
#define SOFTOFU_RANK_MAP_H

#include <assert.h>

#include "softofu/node_grid.h"

/*
 * The map of ranks: the machine, the grid of the job, and the place of each rank. A launcher
 * publishes it under the PMIx key FJPMIX_RANKMAP (pmix_fjext.h), and jtofu_initialize reads it.
 * Everybody else treats it as bytes. Numbers are in the byte order of the host.
 */
#define RANK_MAP_MAGIC "SOFTOFU1"

struct rank_place {
	uint8_t physical[GRID_AXES];
	uint8_t unused[2];
	uint32_t logical[3];
};
static_assert(sizeof(struct rank_place) == 20, "it is between processes");

struct rank_map {
	char magic[8];
	uint32_t bytes, ranks, per_node;
	uint8_t system_size[GRID_AXES], system_ring[GRID_AXES], corner[GRID_AXES], size[GRID_AXES];
	uint32_t logical_size[3];
	struct rank_place rank[];
};
static_assert(sizeof(struct rank_map) == 56, "it is between processes");

/* Returns NULL if memory runs out; the caller frees the result. The ranks must fit in the grid. */
struct rank_map *rank_map_make(const struct node_grid *grid, uint32_t ranks);

/* Fills a grid with the machine's sizes and rings, for distances. */
void rank_map_grid(const struct rank_map *map, struct node_grid *grid);

#endif
