/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_REQUESTS_H
#define SHMEM_REQUESTS_H

#include "plans.h"

/* A nonblocking collective by its arguments. The key has all that plans differ in. */
struct nonblocking {
	shmem_team_t team;
	const struct plan_kind *kind;
	struct plan_order key;
};
/* Starts it. Returns what the routines return. */
int nonblocking_start(const struct nonblocking *call, const char *routine, shmemx_req_h *request);
int nonblocking_sync(shmem_team_t team, const char *routine, shmemx_req_h *request);

#endif
