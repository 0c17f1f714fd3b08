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
	uint64_t number; /* of the operation with these words, as in torus_tree_collective */
	struct torus_words *words;
	char *staging;
	/* Of a plan: see struct torus_ring_room in torus_allreduce.h. */
	const ptrdiff_t *there;
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

/*
 * In steps, for plans: made once, then run repeatedly, as those of torus_allreduce.h. A run may
 * have several rounds, one after the other, with the same words and staging: then each is a plan.
 */
struct torus_links_plan;
struct torus_links_round {
	uint64_t index, count;
};
struct torus_links_plan *torus_links_plan_make(const struct torus_links_alltoall *alltoall,
					       struct torus_links_round round);
bool torus_links_plan_advance(struct torus_links_plan *plan, uint64_t run, bool *moved);
void torus_links_plan_free(struct torus_links_plan *plan);
/* Bytes of staging that a round with blocks of so many bytes needs. */
size_t torus_links_plan_staging(const struct torus_topology *topology, size_t bytes);

#endif
