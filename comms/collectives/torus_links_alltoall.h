/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_LINKS_ALLTOALL_H
#define TORUS_LINKS_ALLTOALL_H

#include "tree_collective.h"

/*
 * All-to-all on a torus from neighbour to neighbour, by the exchange schedule (comms/torus/exchange_schedule.h): all links are busy from the
 * beginning to the end, whatever the routes between nodes are. For much data: each node copies what it hands on.
 *
 * Pieces of bundles come into slots (torus_stream.h). From there they go on to the next node, or to where the next phase takes them, or, in
 * the last phase, to their place.
 */
struct torus_links_alltoall {
	const struct torus_topology *topology;
	uint64_t number; /* of the operation in this area, as for torus_tree_collective */
	struct torus_area *area;
	size_t bytes; /* of a block: what a node has for another; at most torus_links_alltoall_most */
	/* Copies some bytes of the block for a node out, and of the block from a node in. */
	void (*load)(const void *blocks, int node, size_t at, size_t bytes, char *out);
	void (*store)(const void *blocks, int node, size_t at, size_t bytes, const char *in);
	const void *blocks;
	const char *routine;
};

/* Call on node leaders only. On return all blocks are stored. */
void torus_links_alltoall(const struct torus_links_alltoall *alltoall);

/*
 * Bytes of a block at a time, so that what nodes keep in between does not fill their memory; 0: the schedule cannot run on this topology
 * (torus_topology_has_links).
 */
size_t torus_links_alltoall_most(struct torus_topology *topology);

#endif
