/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_LINKS_ALLTOALL_H
#define TORUS_LINKS_ALLTOALL_H

#include "tree_collective.h"

/*
 * All-to-all on a torus from neighbour to neighbour, by the exchange schedule
 * (comms/torus/exchange_schedule.h). All links are busy throughout, whatever the routes between
 * nodes are. For large data, because each node copies what it forwards.
 *
 * Pieces of bundles arrive in slots (torus_stream.h). From there they go to the next node, to the
 * buffer of the next phase, or, in the last phase, to their place.
 */
struct torus_links_alltoall {
	const struct torus_topology *topology;
	uint64_t number; /* of the operation in this area, as in torus_tree_collective */
	struct torus_area *area;
	/* Of a block, the data of one node for another; at most torus_links_alltoall_most. */
	size_t bytes;
	/* Copy bytes out of the block for a node, and into the block from a node. */
	void (*load)(const void *blocks, int node, size_t at, size_t bytes, char *out);
	void (*store)(const void *blocks, int node, size_t at, size_t bytes, const char *in);
	const void *blocks;
	const char *routine;
};

/* Call on node leaders only. On return all blocks are stored. */
void torus_links_alltoall(const struct torus_links_alltoall *alltoall);

/*
 * Most bytes of a block at a time, which bounds the memory for blocks in transit; 0: the schedule
 * cannot run on this topology (torus_topology_has_links).
 */
size_t torus_links_alltoall_most(struct torus_topology *topology);

#endif
