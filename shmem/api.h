/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_API_H
#define SHMEM_API_H

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
 * A routine is defined under its profiling name, pshmem_x; shmem_x is a weak alias of it that a tool may
 * replace. Nothing in the library calls either.
 */
#define API __attribute__((visibility("default")))
#define PROFILED(name) extern __typeof__(p##name) name __attribute__((weak, alias("p" #name), visibility("default")));

/* Defines a routine on the default context and on any; the body uses ctx. */
#define API_BOTH(ret, name, body, ...)                     \
	API ret pshmem_##name(__VA_ARGS__)                 \
	{                                                  \
		const shmem_ctx_t ctx = SHMEM_CTX_DEFAULT; \
		body                                       \
	}                                                  \
	API ret pshmem_ctx_##name(shmem_ctx_t ctx, __VA_ARGS__){body} PROFILED(shmem_##name) PROFILED(shmem_ctx_##name)

/* When a team checks the cables of its torus the next time, alike in all members. */
struct cable_watch {
	bool off;
	double moved;	   /* seconds of large collectives since then, by the rate of the links */
	double cost;	   /* seconds that a check takes, as far as known */
	uint64_t took;	   /* ns that this member took last time */
	int64_t next_test; /* ns by this member's clock: not before */
	bool plans;	   /* the members are making plans again, and check nothing meanwhile */
	/* of barriers and syncs, alike in all members; see plans_again.c */
	int syncs;	/* since the members last agreed on what their plans have moved */
	int agree_each; /* so many; 0: the team never had a plan that could be made again */
};

/*
 * A handle is the address of one of these, or one of the constants of shmem.h for those that always exist. A team's
 * members and numbers never change; its group's epoch and its counts of collectives belong to the
 * thread that runs a collective on it, of which there is one at a time.
 */
struct shmemx_team {
	struct comms_group group;
	int *members; /* owned; NULL where start and stride suffice */
	shmem_team_config_t config;
	struct grid *grid;		 /* NULL: its PEs have no coordinates */
	struct shmemx_ctx *contexts;	 /* those to be freed with the team */
	struct torus_topology *topology; /* NULL: none, or not prepared; see set_prepare_topology */
	bool topology_prepared;
	bool led_broadcast;	  /* on its node, the last that was pushed: the others are behind this PE */
	struct cable_watch watch; /* see torus_faults.c */
	/* begun so far, alike in all members; see collectives.h */
	uint64_t broadcasts, gathers, alltoalls, pieces, torus_collectives, exchanges, active_calls, plans;
	struct shmemx_team *next; /* of all that the user made */
};

/*
 * A context that was destroyed has the default channel, and a team without members, so that its use finds no PE and ends
 * in api_complain_of_target.
 */
struct shmemx_ctx {
	struct shmemx_team *team;
	long options; /* and CONTEXT_IS_OVER */
	struct comms_channel *channel;
	struct shmemx_ctx *previous, *next;
};
#define CONTEXT_IS_OVER LONG_MIN	 /* it was destroyed, or its team was: the sign, which is cheap to test */
#define CONTEXT_WAITS_FOR_END (1L << 62) /* its team was destroyed, and the program may still destroy it, too */

/* NULL for SHMEM_TEAM_INVALID. Ends the job with a message if the team was destroyed. */
struct shmemx_team *api_team(shmem_team_t handle, const char *routine);

/* The same for a collective: ends the job with a message if the handle is SHMEM_TEAM_INVALID, too. */
struct shmemx_team *api_team_or_die(shmem_team_t handle, const char *routine);

extern struct shmemx_team api_world, api_shared;

/*
 * Keeps the memory of handles that were destroyed, so that what uses one still finds out. The oldest are freed. The caller
 * has the lock of its kind of handles.
 */
#define DESTROYED_KEPT 256
struct destroyed_handles {
	void *kept[DESTROYED_KEPT];
	unsigned next;
};
void api_keep_destroyed(struct destroyed_handles *handles, void *handle);

_Noreturn void api_complain_of_context(shmem_ctx_t ctx, const char *routine);
_Noreturn void api_complain_of_target(shmem_ctx_t ctx, int pe, const char *routine);

/*
 * The PE of the world that a context's PE number names. Bad numbers of the world pass: comms complains of them. (Inlined
 * without a call that returns, so that nothing has to be saved over it.)
 */
COMMS_INLINE int api_target(shmem_ctx_t ctx, int pe, const char *routine)
{
	const struct comms_group *group;

	if (COMMS_LIKELY(ctx == SHMEM_CTX_DEFAULT))
		return pe;
	if (COMMS_UNLIKELY(comms.n_pes == 0 || ctx == SHMEM_CTX_INVALID ||
			   (unsigned)pe >= (unsigned)ctx->team->group.size))
		api_complain_of_target(ctx, pe, routine);
	group = &ctx->team->group;
	return comms_group_pe(group, pe);
}

/* The channel that orders and completes a valid context's operations. */
COMMS_INLINE struct comms_channel *api_channel(shmem_ctx_t ctx)
{
	return ctx == SHMEM_CTX_DEFAULT ? NULL : ctx->channel;
}

/* The same where no PE is named, so that api_target has not seen the context. */
COMMS_INLINE struct comms_channel *api_channel_checked(shmem_ctx_t ctx, const char *routine)
{
	if (ctx == SHMEM_CTX_DEFAULT)
		return NULL;
	if (COMMS_UNLIKELY(ctx->options < 0))
		api_complain_of_context(ctx, routine);
	return ctx->channel;
}

/* May several threads of this PE be in the library at once? */
extern int api_thread_level; /* what shmem_init_thread has provided */
bool api_threads_at_once(void);

/* Where programs that are compiled with SHMEMX_INLINE see what they may reach without a call; NULL: they are to see nothing. */
struct comms_shortcut *api_inline_shortcuts(void);
void api_inline_start(void);
void api_inline_stop(void);
void api_heap_start(void);
void api_heap_stop(void);
/* shmem_malloc and shmem_free for the library itself, in the name of a routine. */
void *api_allocate(size_t size, const char *routine);
void api_release(void *ptr, const char *routine);
void api_exchanges_stop(void);
void api_plans_start(void);
/* Complains of plans that are under way. */
void api_plans_check(const char *routine);
void api_plans_check_team(const struct shmemx_team *team, const char *routine);
void api_plans_stop(void);
/* Waits for this PE's own operations on its memory; afterwards all may be forgotten. */
void api_rdma_finish(const char *routine);
void api_rdma_stop(void);
void api_teams_start(void);
void api_teams_stop(void);
void api_collectives_start(void);
void api_forget_contexts(struct shmemx_team *team);

/* The trace of SHMEM_TRACE, if that is set. Start it after the heap is up, stop it before the heap goes. */
void api_trace_start(void);

/* What the job says when it starts, with SHMEM_INFO and the like. */
void api_print_start(void);
void api_trace_stop(void);

/* Call before a report that this PE and another one may both make: the PE with the lower number makes it, if it can. */
static inline void api_let_lower_speak(int pe)
{
	if (comms.pe > pe)
		rte_let_others_speak();
}

/* Prints what all PEs counted, if they did. */
void api_stats_stop(void);

/* Completes what was started on the default context, then runs a barrier of all PEs. */
void api_barrier_all(const char *routine);
/* For shmem_finalize: a barrier of its own, so that no other can be taken for it. */
void api_barrier_at_end(void);

#endif
