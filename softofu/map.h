/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_MAP_H
#define SOFTOFU_MAP_H

#include <assert.h>

#include "softofu/box.h"

/*
 * What a launcher publishes under the PMIx key FJPMIX_RANKMAP (pmix_fjext.h) and jtofu_initialize reads: the machine, the job's box and
 * where each rank is. To all others it is a number of bytes. Every number is in the byte order of the machine.
 */
#define MAP_MAGIC "SOFTOFU1"

struct map_rank {
	uint8_t physical[BOX_AXES];
	uint8_t unused[2];
	uint32_t logical[3];
};
static_assert(sizeof(struct map_rank) == 20, "it is between processes");

struct map {
	char magic[8];
	uint32_t bytes, ranks, per_node;
	uint8_t system_size[BOX_AXES], system_ring[BOX_AXES], corner[BOX_AXES], size[BOX_AXES];
	uint32_t logical_size[3];
	struct map_rank rank[];
};
static_assert(sizeof(struct map) == 56, "it is between processes");

/* NULL: out of memory. To be freed. The ranks must have room in the box. */
struct map *map_make(const struct box *box, uint32_t ranks);

/* A box with the machine's sizes and rings, for distances. */
void map_box(const struct map *map, struct box *box);

#endif
