/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_API_H
#define SHMEM_API_H

#define SHMEMX_ANY_LIBRARY /* this is the library */
#include <pshmem.h>

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "comms/groups/groups.h"
#include "comms/ops/ops.h"
#include "comms/core/comms.h"
#include "comms/wait/hang.h"
#include "include/types.def"
#include "rte/rte.h"

/*
 * A routine is defined under its profiling name, pshmem_x. shmem_x is a weak alias that a tool may
 * replace; the library itself calls neither.
 */
#define API __attribute__((visibility("default")))
#define PROFILED(name) extern __typeof__(p##name) name __attribute__((weak, alias("p" #name), visibility("default")));

/* Defines a routine on the default context and one with a context argument; the body uses ctx. */
#define API_BOTH(ret, name, body, ...)                     \
	API ret pshmem_##name(__VA_ARGS__)                 \
	{                                                  \
		const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT; \
		body                                       \
	}                                                  \
	API ret pshmem_ctx_##name(shmem_ctx_t ctx, __VA_ARGS__){body} PROFILED(shmem_##name) PROFILED(shmem_ctx_##name)

/* When a team next checks the cables of its torus; the same on all members. */
struct cable_watch {
	bool off;
	/* Seconds that large collectives have taken since then, by the rate of the links. */
	double moved;
	double cost;	   /* seconds that a check takes, if known */
	uint64_t took;	   /* ns that the last check took this member */
	int64_t next_test; /* earliest time, by this member's clock in ns */
	bool plans;	   /* the members are making plans again, and check nothing meanwhile */
	/* Counts barriers and syncs, the same on all members; see plans_again.c. */
	int syncs;	/* since the members last compared what their plans have moved */
	int agree_each; /* interval of that; 0: the team has had no plan that can be made again */
};

/*
 * A handle is the address of one of these, or a constant of shmem.h for the predefined ones. The
 * members and their numbers never change. Its group's epoch and its counts of collectives belong to
 * the thread that runs a collective on it; there is one at a time.
 */
struct shmemx_team {
	struct comms_group group;
	int *members; /* owned; NULL if start and stride suffice */
	shmem_team_config_t config;
	struct grid *grid;		 /* NULL: no grid */
	struct shmemx_ctx *contexts;	 /* contexts to free with the team */
	struct torus_topology *topology; /* NULL: none, or not prepared; see set_prepare_topology */
	bool topology_prepared;
	/* This PE led its node in the last broadcast by puts, so the others are behind it. */
	bool led_broadcast;
	struct cable_watch watch; /* see torus_faults.c */
	/* Number of collectives begun, the same on all members; see collectives.h. */
	uint64_t broadcasts, gathers, alltoalls, pieces, torus_collectives, exchanges, active_calls, plans, requests,
		syncs, moves;
	struct shmemx_team *next; /* in the list of teams that the user made */
};

/*
 * A destroyed context has the default channel, and a team without members, so that its use finds no
 * PE and ends in api_complain_of_target.
 */
struct shmemx_ctx {
	struct shmemx_team *team;
	long options; /* and the flag CONTEXT_IS_OVER */
	struct comms_channel *channel;
	struct shmemx_ctx *previous, *next;
};
/* It was destroyed, or its team was; one sign bit, which is cheap to test. */
#define CONTEXT_IS_OVER LONG_MIN
/* Its team was destroyed, and the program may still destroy the context. */
#define CONTEXT_WAITS_FOR_END (1L << 62)

/*
 * NULL for SHMEM_TEAM_INVALID. Ends the job with a message if the team was destroyed; where errors
 * return, it breaks the job, and returns NULL.
 */
struct shmemx_team *api_team(shmem_team_t handle, const char *routine);

/*
 * The same for a collective: SHMEM_TEAM_INVALID also ends the job. Where errors return, such a call
 * goes on in the broken job with a team of this PE alone; it is never NULL.
 */
struct shmemx_team *api_team_or_die(shmem_team_t handle, const char *routine);

extern struct shmemx_team api_world, api_shared;
/* SHMEM_DEVICE_TEAM_WORLD and SHMEM_DEVICE_TEAM_SHARED; NULL: there is no memory of GPUs. */
extern struct shmemx_team *api_device_world, *api_device_shared;

/*
 * Keeps the memory of destroyed handles, so that later uses are detected, and frees the oldest. The
 * caller holds the lock of its kind of handles.
 */
#define DESTROYED_KEPT 256
struct destroyed_handles {
	void *kept[DESTROYED_KEPT];
	unsigned next;
};
void api_keep_destroyed(struct destroyed_handles *handles, void *handle);

/* Misuse. Where errors return, these do. */
void api_complain_of_context(shmem_ctx_t ctx, const char *routine);
void api_complain_of_target(shmem_ctx_t ctx, int pe, const char *routine);

/* Is this no valid context, or no number in it? comms checks numbers of the world. */
COMMS_INLINE bool api_has_no_target(shmem_ctx_t ctx, int pe)
{
	if (COMMS_LIKELY(ctx == SHMEM_CTX_DEFAULT))
		return false;
	return comms.n_pes == 0 || ctx == SHMEM_CTX_INVALID || (unsigned)pe >= (unsigned)ctx->team->group.size;
}

/*
 * In a routine: complains of such a context or number, and returns. Nothing follows the call, so no
 * register needs saving for it.
 */
#define API_CHECK_TARGET_OR(result, ctx, pe, routine)     \
	if (COMMS_UNLIKELY(api_has_no_target(ctx, pe))) { \
		api_complain_of_target(ctx, pe, routine); \
		return result;                            \
	}
#define API_CHECK_TARGET(ctx, pe, routine) API_CHECK_TARGET_OR(, ctx, pe, routine)

/* The PE of the world that has this number in a context; checked before. */
COMMS_INLINE int api_target(shmem_ctx_t ctx, int pe)
{
	return COMMS_LIKELY(ctx == SHMEM_CTX_DEFAULT) ? pe : comms_group_pe(&ctx->team->group, pe);
}

/* The channel that orders and completes a valid context's operations. */
COMMS_INLINE struct comms_channel *api_channel(shmem_ctx_t ctx)
{
	return ctx == SHMEM_CTX_DEFAULT ? NULL : ctx->channel;
}

/*
 * The same for calls without a PE, whose context is not checked yet. After misuse where errors
 * return, the default channel.
 */
COMMS_INLINE struct comms_channel *api_channel_checked(shmem_ctx_t ctx, const char *routine)
{
	if (ctx == SHMEM_CTX_DEFAULT)
		return NULL;
	if (COMMS_LIKELY(ctx->options >= 0))
		return ctx->channel;
	api_complain_of_context(ctx, routine);
	return NULL;
}

/* May several threads of this PE call the library at once? */
extern int api_thread_level; /* that shmem_init_thread provided */
bool api_threads_at_once(void);

/* What programs compiled with SHMEMX_INLINE may access without a call; NULL: nothing. */
struct comms_shortcut *api_inline_shortcuts(void);
void api_inline_start(void);
void api_inline_stop(void);
void api_heap_start(void);
void api_heap_stop(void);
/* shmem_malloc and shmem_free for the library itself, under the name of a routine. */
void *api_allocate(size_t size, const char *routine);
void api_release(void *ptr, const char *routine);
/* Ends the heaps in memory that the program brought. */
void api_heaps_stop(void);
void api_exchanges_stop(void);
void api_plans_start(void);
/* Reports plans that are still running. */
void api_plans_check(const char *routine);
void api_plans_check_team(const struct shmemx_team *team, const char *routine);
void api_plans_stop(void);
struct set;
/* Discards the plans that a team keeps for nonblocking collectives. A collective. */
void api_requests_end(const struct set *set);
/* Waits for this PE's own operations on its memory; all its records may be freed afterwards. */
void api_rdma_finish(const char *routine);
void api_rdma_stop(void);
void api_teams_start(void);
void api_teams_stop(void);
void api_collectives_start(void);
void api_forget_contexts(struct shmemx_team *team);

/*
 * Starts and stops the trace of SHMEM_TRACE, if set: start after the heap exists, stop before it is
 * freed.
 */
void api_trace_start(void);

/* What the job prints at its start, with SHMEM_INFO and similar settings. */
void api_print_start(void);
void api_trace_stop(void);

/*
 * Call before a report that this PE and another one may both print: the PE with the lower number
 * prints it, if it can.
 */
static inline void api_let_lower_speak(int pe)
{
	if (comms.pe > pe)
		rte_let_others_speak();
}

/* Prints the counters of all PEs, if they count. */
void api_stats_stop(void);

/* Completes operations on the default context, then runs a barrier of all PEs. */
void api_barrier_all(const char *routine);
/* The same for shmem_finalize, with a separate barrier that no other can be mistaken for. */
void api_barrier_at_end(void);

#endif
