/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives: a start of a plan that belongs to the library. A team keeps the plans of
 * its calls, by their arguments; the first call with new ones makes the plan, which is a
 * collective. All members make the same calls in the same order, so all find a plan or all make it,
 * and all discard the same one, the one that was used longest ago, when there is no room for a new
 * one.
 *
 * request  one run of such a plan. A plan has one run at a time: a call that finds it under way
 *          waits for that run, whose request then is over
 */
#include "requests.h"

#include <stdlib.h>

#define MOST_KEPT 64	       /* plans of a team */
#define MOST_BYTES (4UL << 20) /* of their blocks, so that other teams and the program have room */

struct shmemx_request {
	struct shmemx_plan *plan;
	uint64_t serial, run; /* of the plan, which may belong to another call by now */
};

/* Blocks may differ in size between members, so all agree whether there is too much. */
static void limit_kept(const struct set *set)
{
	struct plans_kept kept;

	for (;;) {
		plan_oldest(set->team, &kept);
		if (kept.count == 0 || (kept.count < MOST_KEPT && set_max(set, kept.bytes) < MOST_BYTES))
			return;
		plan_discard_oldest(set);
	}
}

/* Returns NULL if some member has no room, and this team has no plan to discard. */
static struct shmemx_plan *make_plan(const struct nonblocking *call, const char *routine)
{
	struct maker m = plan_maker(call->team, SHMEMX_PLAN_AUTO, call->key.bytes, routine);
	struct shmemx_plan *plan;

	limit_kept(&m.set);
	if (plan_of_kind(&m, call->kind, call->key, &plan) != 0)
		return NULL;
	plan->kind = call->kind;
	plan->key = call->key;
	return plan;
}

static void end_request(shmemx_req_h *request)
{
	free(*request);
	*request = SHMEMX_REQ_INVALID;
}

int nonblocking_start(const struct nonblocking *call, const char *routine, shmemx_req_h *request)
{
	struct shmemx_team *team = api_team_or_die(call->team, routine);
	struct shmemx_plan *plan = plan_find(team, call->kind, &call->key);

	if (!request)
		rte_misuse_together(routine, "request is NULL; pass the address of a shmemx_req_h");
	if (rte_is_broken())
		return 1;
	*request = SHMEMX_REQ_INVALID;
	if (!plan)
		plan = make_plan(call, routine);
	if (!plan)
		return 1;
	*request = malloc(sizeof **request);
	if (!*request) {
		rte_break(RTE_ERROR_OTHER, rte.pe, routine, "no memory for a request");
		return 1;
	}
	plan_wait_run(plan);
	plan->used = ++team->requests;
	plan->list.routine = routine;
	if (call->prepare)
		call->prepare(plan, call->arguments);
	if (rte_is_broken()) {
		end_request(request);
		return 1;
	}
	plan_start_run(plan, routine);
	**request = (struct shmemx_request){plan, plan->serial, plan->list.run};
	return 0;
}

int nonblocking_sync(shmem_team_t team, const char *routine, shmemx_req_h *request)
{
	struct nonblocking call = {.team = team, .kind = &plan_sync};
	struct shmemx_team *of = api_team_or_die(team, routine);

	call.key.count = of->syncs++ % NONBLOCKING_AT_ONCE;
	return nonblocking_start(&call, routine, request);
}

/* The run that the request is about has not been waited for yet. */
static bool is_current(const struct shmemx_request *request)
{
	return request->plan->serial == request->serial && request->plan->list.run == request->run;
}

API int shmemx_req_test(shmemx_req_h *request)
{
	COMMS_CALL_OR(0, __func__, 0, COMMS_NOBODY); /* so that loops end */
	if (*request == SHMEMX_REQ_INVALID)
		return 0;
	if (is_current(*request) && !plan_test_run((*request)->plan))
		return 1;
	end_request(request);
	return 0;
}

API int shmemx_req_wait(shmemx_req_h *request)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	if (*request == SHMEMX_REQ_INVALID)
		return 0;
	if (is_current(*request))
		plan_wait_run((*request)->plan);
	end_request(request);
	return rte_is_broken();
}

void api_requests_end(const struct set *set)
{
	while (plan_discard_oldest(set))
		;
}
