/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_API_H
#define SHMEM_API_H

#include <pshmem.h>

#include <stdbool.h>
#include <stdint.h>

#include "comms/comms.h"
#include "include/types.def"
#include "rte/rte.h"

/*
 * A routine is defined under its profiling name, pshmem_x; shmem_x is a weak alias of it that a tool may
 * replace. Nothing in the library calls either.
 */
#define API __attribute__((visibility("default")))
#define PROFILED(name) extern __typeof__(p##name) name __attribute__((weak, alias("p" #name), visibility("default")));

/* The twin definition of a routine on the default context and on any; the body sees ctx. */
#define API_BOTH(ret, name, body, ...)                                    \
	API ret pshmem_##name(__VA_ARGS__)                                \
	{                                                                 \
		const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT;                \
		body                                                      \
	}                                                                 \
	API ret pshmem_ctx_##name(shmem_ctx_t ctx, __VA_ARGS__)           \
	{                                                                 \
		body                                                      \
	}                                                                 \
	PROFILED(shmem_##name)                                            \
	PROFILED(shmem_ctx_##name)

/* The PE of the world that a context's PE number names. */
COMMS_INLINE int api_target(shmem_ctx_t ctx, int pe, const char *routine)
{
	if (COMMS_UNLIKELY(ctx != SHMEM_CTX_DEFAULT))
		rte_die(routine, "ctx=%p is not a context", (void *)ctx);
	return pe;
}

static inline void api_check_team(shmem_team_t team, const char *routine)
{
	comms_check_up(routine);
	if (COMMS_UNLIKELY(team != SHMEM_TEAM_WORLD))
		rte_die(routine, "team=%p is not a team", (void *)team);
}

void api_heap_start(void);
void api_heap_stop(void);
void api_collectives_start(void);

/* Finishes what was started on the default context, then meets all PEs. */
void api_barrier_all(void);

#endif
