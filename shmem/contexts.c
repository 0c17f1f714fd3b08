/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contexts and sessions. A context names the team whose numbers its operations use, and has its own
 * channel, so its fence and quiet cover its own operations. A private or serialised context has a
 * private channel.
 */
#include <pthread.h>
#include <shmemg.h>
#include <stdlib.h>

#include "api.h"

static struct {
	pthread_mutex_t lock;
	struct destroyed_handles destroyed;
	struct shmemx_ctx *left; /* by teams that were destroyed before them */
} contexts = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct shmemx_team no_team; /* of destroyed contexts */

void api_complain_of_context(shmem_ctx_t ctx, const char *routine)
{
	if (ctx->options & CONTEXT_WAITS_FOR_END)
		rte_misuse_together(
			routine,
			"ctx=%p: the team of this context was destroyed, and the context with it; use it before",
			(void *)ctx);
	else
		rte_misuse_together(
			routine,
			"ctx=%p: this context was destroyed; use it before shmem_ctx_destroy, or create another",
			(void *)ctx);
}

void api_complain_of_target(shmem_ctx_t ctx, int pe, const char *routine)
{
	if (!comms_check_up(routine))
		return;
	if (ctx == SHMEM_CTX_INVALID)
		rte_misuse(routine, "ctx is SHMEM_CTX_INVALID; was its creation checked?");
	else if (ctx->options < 0)
		api_complain_of_context(ctx, routine);
	else
		rte_misuse(routine, "pe=%d: the context's team has PEs 0 to %d", pe, ctx->team->group.size - 1);
}

/* With the lock held, as list_remove. */
static void list_add(struct shmemx_ctx **list, struct shmemx_ctx *ctx)
{
	ctx->next = *list;
	ctx->previous = NULL;
	if (*list)
		(*list)->previous = ctx;
	*list = ctx;
}

static void list_remove(struct shmemx_ctx **list, struct shmemx_ctx *ctx)
{
	if (ctx->previous)
		ctx->previous->next = ctx->next;
	else
		*list = ctx->next;
	if (ctx->next)
		ctx->next->previous = ctx->previous;
}

static int create_context(shmem_team_t handle, long options, shmem_ctx_t *ctx, const char *routine)
{
	struct shmemx_team *team = api_team(handle, routine);

	/* No kernel can call this library. */
	if (options & SHMEM_DEVICE_CTX)
		team = NULL;
	*ctx = team ? calloc(1, sizeof **ctx) : SHMEM_CTX_INVALID;
	if (!*ctx)
		return 1;
	if (!comms_channel_open(options & (SHMEM_CTX_PRIVATE | SHMEM_CTX_SERIALIZED), &(*ctx)->channel)) {
		free(*ctx);
		*ctx = SHMEM_CTX_INVALID;
		return 1;
	}
	(*ctx)->team = team;
	(*ctx)->options = options & ~(CONTEXT_IS_OVER | CONTEXT_WAITS_FOR_END);
	pthread_mutex_lock(&contexts.lock);
	list_add(&team->contexts, *ctx);
	pthread_mutex_unlock(&contexts.lock);
	return 0;
}

static void end_context(struct shmemx_ctx *ctx, long mark)
{
	*ctx = (struct shmemx_ctx){.team = &no_team, .options = ctx->options | CONTEXT_IS_OVER | mark};
}

/*
 * A program may destroy a context after its team, as destructors of C++ do where the team was made
 * last. So a context whose team ends stays until then.
 */
void api_forget_contexts(struct shmemx_team *team)
{
	while (team->contexts) {
		struct shmemx_ctx *ctx = team->contexts;

		team->contexts = ctx->next;
		comms_channel_close(ctx->channel);
		pthread_mutex_lock(&contexts.lock);
		end_context(ctx, CONTEXT_WAITS_FOR_END);
		list_add(&contexts.left, ctx);
		pthread_mutex_unlock(&contexts.lock);
	}
}

API int pshmem_ctx_create(long options, shmem_ctx_t *ctx)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);

	return create_context(SHMEM_TEAM_WORLD, options, ctx, __func__);
}
PROFILED(shmem_ctx_create)

API int pshmem_team_create_ctx(shmem_team_t team, long options, shmem_ctx_t *ctx)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);

	return create_context(team, options, ctx, __func__);
}
PROFILED(shmem_team_create_ctx)

/* False: it has been destroyed. */
static bool destroy_left(struct shmemx_ctx *ctx)
{
	bool was_left;

	pthread_mutex_lock(&contexts.lock);
	was_left = ctx->options & CONTEXT_WAITS_FOR_END;
	if (was_left) {
		list_remove(&contexts.left, ctx);
		ctx->options &= ~CONTEXT_WAITS_FOR_END;
		api_keep_destroyed(&contexts.destroyed, ctx);
	}
	pthread_mutex_unlock(&contexts.lock);
	return was_left;
}

API void pshmem_ctx_destroy(shmem_ctx_t ctx)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);

	if (ctx == SHMEM_CTX_INVALID)
		return;
	if (ctx == SHMEM_CTX_DEFAULT) {
		rte_misuse(__func__, "SHMEM_CTX_DEFAULT cannot be destroyed");
		return;
	}
	if (ctx->options < 0) {
		if (!destroy_left(ctx))
			api_complain_of_context(ctx, __func__);
		return;
	}
	comms_channel_close(ctx->channel);
	pthread_mutex_lock(&contexts.lock);
	list_remove(&ctx->team->contexts, ctx);
	end_context(ctx, 0);
	api_keep_destroyed(&contexts.destroyed, ctx);
	pthread_mutex_unlock(&contexts.lock);
}
PROFILED(shmem_ctx_destroy)

/* The user's handle of a team: the predefined teams have constants. */
static shmem_team_t handle_of(struct shmemx_team *team)
{
	if (team == &api_world)
		return SHMEM_TEAM_WORLD;
	return team == &api_shared ? SHMEM_TEAM_SHARED : team;
}

API int pshmem_ctx_get_team(shmem_ctx_t ctx, shmem_team_t *team)
{
	comms_check_up(__func__);
	if (ctx == SHMEM_CTX_INVALID) {
		*team = SHMEM_TEAM_INVALID;
		return 1;
	}
	if (ctx != SHMEM_CTX_DEFAULT && ctx->options < 0) {
		api_complain_of_context(ctx, __func__);
		*team = SHMEM_TEAM_INVALID;
		return 1;
	}
	*team = ctx == SHMEM_CTX_DEFAULT ? SHMEM_TEAM_WORLD : handle_of(ctx->team);
	return 0;
}
PROFILED(shmem_ctx_get_team)

/* Hints about later operations, which the library does not use. */
API void pshmem_ctx_session_start(shmem_ctx_t ctx, long options, const shmem_ctx_session_config_t *config,
				  long config_mask)
{
	(void)ctx, (void)options, (void)config, (void)config_mask;
	comms_check_up(__func__);
}
PROFILED(shmem_ctx_session_start)

API void pshmem_ctx_session_stop(shmem_ctx_t ctx)
{
	(void)ctx;
	comms_check_up(__func__);
}
PROFILED(shmem_ctx_session_stop)
