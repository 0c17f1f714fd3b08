/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_REQUESTS_H
#define SHMEM_REQUESTS_H

#include "plans.h"
#include "shmem/vectors/vectors.h"

/* A nonblocking collective by its arguments. The key has all that plans differ in. */
struct nonblocking {
	shmem_team_t team;
	const struct plan_kind *kind;
	struct plan_order key;
	/* Takes what differs between calls, before the plan starts. NULL: nothing does. */
	void (*prepare)(struct shmemx_plan *plan, const void *arguments);
	const void *arguments;
};
#define NONBLOCKING_AT_ONCE 8 /* syncs of a team under way, and as many calls of nonblocking_move */
/* Starts it. Returns what the routines return. */
int nonblocking_start(const struct nonblocking *call, const char *routine, shmemx_req_h *request);
int nonblocking_sync(shmem_team_t team, const char *routine, shmemx_req_h *request);

/* Blocks that differ in size (plan_counts.c). Takes the vectors, in any case. */
enum moving_kind { MOVE_COLLECT, MOVE_ROOTED, MOVE_ALLGATHERV, MOVE_ALLTOALLV };
struct moved_blocks {
	enum moving_kind kind;
	void *dest;
	const void *source;
	shmemx_type_t type;
	int root; /* of MOVE_ROOTED, a gather or a scatter */
	/* Of a collect, all blocks of from are the same, and those of to empty. */
	struct vector to, from;
};
int nonblocking_move(shmem_team_t team, struct moved_blocks *blocks, const char *routine, shmemx_req_h *request);

#endif
