/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_REDUCE_H
#define SHMEM_REDUCE_H

#include "collectives.h"

/*
 * Shared by the files of reductions: reduce.c chooses and has the large ones, reduce_small.c the
 * small ones.
 */

struct reduction {
	const struct set *set;
	char *dest;
	const char *source;
	size_t count, size;
	combine_t *combine;
	bool by_network;	/* the network may combine if it can */
	uint64_t epoch;		/* of the first piece */
	struct set_trees trees; /* between nodes */
	bool by_rings;		/* torus_allreduce instead of trees */
	uint64_t first_number;	/* of the first message along the trees or rings */
};

/* For a team whose members exchange all their data. May change its argument. */
void reduce_small(struct reduction *r);

#endif
