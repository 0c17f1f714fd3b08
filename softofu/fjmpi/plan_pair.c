/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "plan_pair.h"

/*
 * Requests that send or receive: their rounds, by puts or by the MPI, and the program's calls on
 * them.
 */
#define PLANS_API __attribute__((visibility("default")))

static _Atomic int late_pairs; /* read without the lock: most programs have none */

const char *pair_routine(const struct fjmpi_pair_call *call)
{
	return plan_routine(call->receives ? FJMPI_PLAN_RECEIVES : FJMPI_PLAN_SENDS);
}

void pair_report(const struct fjmpi_pair_call *call, const char *how, const char *why)
{
	char other[40] = "any rank", tag[20] = "any";

	if (!plan_wants_stats())
		return;
	if (call->other >= 0)
		snprintf(other, sizeof other, "rank %d", call->other);
	if (call->tag >= 0)
		snprintf(tag, sizeof tag, "%d", call->tag);
	fprintf(stderr, "softofu: rank %d: %s: %s, tag %s: %s%s\n", call->me, pair_routine(call), other, tag, how, why);
}

void pair_report_mpi(struct plan_pair *pair, const char *why)
{
	if (!pair->said)
		pair_report(&pair->call, "the MPI carries it out: ", why);
	pair->said = true;
}

/* --- Rounds --- */

bool pair_in_puts(const struct fjmpi_plan *plan)
{
	return plan->state == FJMPI_PLAN_ACTIVE && !plan->pair->by_mpi;
}

void pair_leave_to_mpi(struct plan_pair *pair)
{
	pair->by_mpi = true;
	pair->late = true;
	atomic_fetch_add_explicit(&late_pairs, 1, memory_order_relaxed);
}

void pair_end_round_without_data(struct fjmpi_plan *plan)
{
	if (!plan->pair->cancel_wanted) {
		pair_leave_to_mpi(plan->pair);
		return;
	}
	plan->pair->result.cancelled = 1;
	plan->state = FJMPI_PLAN_COMPLETE;
}

static bool may_ask(const struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;

	if (pair->call.refused || pair->gave_up || pair->state != PAIR_ALONE || pair_is_closing(pair))
		return false;
	if (!pair_find_rival(plan, false))
		return !pair_find_rival(plan, true);
	pair_report_mpi(pair, "another request sends to this rank with this tag");
	return false;
}

static void start_in_mpi(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;

	pair->by_mpi = true;
	memset(&pair->header, 0, sizeof pair->header);
	if (pair->call.receives)
		return;
	pair->header = (struct pair_header){.magic = PAIR_MAGIC, .machine = plan_machine(), .bytes = pair->call.bytes};
	if (!may_ask(plan))
		return;
	pair->header.asks = 1;
	pair->header.vcq = plan_queues_id(plan->tni);
	pair->header.mailbox = plan->region[PLAN_FLAGS].stadd[plan->tni];
	pair->bytes = pair->call.bytes;
	pair->state = PAIR_AGREEING;
	pair->number = 1;
}

enum fjmpi_plan_start plan_pair_start(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;

	if (pair->call.receives && pair->state == PAIR_AGREEING)
		return FJMPI_PLAN_NOT_YET;
	memset(&pair->result, 0, sizeof pair->result);
	pair->cancel_wanted = false;
	pair->by_mpi = false;
	pair->number++;
	if (pair->state == PAIR_CONNECTED && pair->number >= pair->first_put)
		pair->puts++;
	else
		start_in_mpi(plan);
	return pair->by_mpi ? FJMPI_PLAN_MPI_STARTS : FJMPI_PLAN_STARTED;
}

bool plan_pair_in_mpi(const struct fjmpi_plan *plan)
{
	return plan->pair->by_mpi;
}

bool plan_pair_testable(const struct fjmpi_plan *plan)
{
	return plan->pair->by_mpi && !plan->pair->late && !plan->pair->starting;
}

bool plan_pair_busy(const struct fjmpi_plan *plan)
{
	const struct plan_pair *pair = plan->pair;

	return pair_in_puts(plan) || pair->state != PAIR_ALONE || pair_is_closing(pair);
}

PLANS_API struct fjmpi_plan *fjmpi_plan_pair_late(uintptr_t *request)
{
	struct fjmpi_plan *plan;

	if (atomic_load_explicit(&late_pairs, memory_order_relaxed) == 0)
		return NULL;
	plan_lock();
	for (plan = plan_first(); plan; plan = plan->next)
		if (plan->pair && plan->pair->late) {
			atomic_fetch_sub_explicit(&late_pairs, 1, memory_order_relaxed);
			plan->pair->late = false;
			plan->pair->starting = true;
			memset(&plan->pair->header, 0, sizeof plan->pair->header);
			if (!plan->pair->call.receives)
				start_in_mpi(plan);
			*request = plan->request;
			break;
		}
	plan_unlock();
	return plan;
}

PLANS_API void fjmpi_plan_pair_started(struct fjmpi_plan *plan)
{
	plan_lock();
	plan->pair->starting = false;
	plan_unlock();
}

/* Returns 0, or -1 after a line. */
static int read_header(struct fjmpi_plan *plan, int code, size_t bytes)
{
	const struct plan_pair *pair = plan->pair;
	const struct pair_header *header = &pair->header;

	if (code == 0 && (bytes < sizeof *header || header->magic != PAIR_MAGIC))
		return fjmpi_error("FJMPI_Prequest_recv_init: rank %d, tag %d: a message arrived that is not of "
				   "FJMPI_Prequest_send_init in C or C++; both sides have to be requests of this kind",
				   pair->call.other, pair->call.tag);
	if (header->magic != PAIR_MAGIC || !header->asks)
		return 0;
	if (header->machine != plan_machine() || plan->tni < 0)
		return fjmpi_error(
			"FJMPI_Prequest_recv_init: rank %d, tag %d: %s; SOFTOFU_PLANS=no leaves such requests "
			"to the MPI",
			pair->call.other, pair->call.tag,
			plan->tni < 0 ? "this rank has no queues" : "the sender runs on another machine");
	pair_answer_question(plan);
	return 0;
}

PLANS_API int fjmpi_plan_pair_arrived(struct fjmpi_plan *plan, const struct fjmpi_pair_round *of_mpi)
{
	struct plan_pair *pair = plan->pair;
	int result = 0;

	plan_lock();
	pair->result.by_mpi = 1;
	pair->result.of_mpi = *of_mpi;
	plan->state = FJMPI_PLAN_COMPLETE;
	/* A cancelled receive has had no message. */
	if (of_mpi->cancelled)
		pair->number--;
	else if (pair->call.receives)
		result = read_header(plan, of_mpi->code, of_mpi->bytes);
	plan_recount(plan);
	plan_unlock();
	return result;
}

PLANS_API void fjmpi_plan_pair_result(struct fjmpi_plan *plan, int end, struct fjmpi_pair_result *result)
{
	struct plan_pair *pair = plan->pair;

	plan_lock();
	*result = pair->result;
	result->complete = plan->state == FJMPI_PLAN_COMPLETE;
	result->receives = pair->call.receives;
	result->other = pair->call.other;
	result->tag = pair->call.tag;
	result->bytes = pair->bytes;
	if (end && result->complete)
		plan->state = FJMPI_PLAN_INACTIVE;
	plan_unlock();
}

PLANS_API int fjmpi_plan_pair_cancel(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;
	int what = 0;

	plan_lock();
	if (plan->state == FJMPI_PLAN_INACTIVE)
		what = fjmpi_error("MPI_Cancel: the request of %s is not active", pair_routine(&pair->call));
	else if (!pair->call.receives)
		what = fjmpi_error("MPI_Cancel: a request that sends, here of %s, cannot be cancelled",
				   pair_routine(&pair->call));
	else if (plan->state == FJMPI_PLAN_ACTIVE && plan_pair_testable(plan))
		what = 1;
	else if (plan->state == FJMPI_PLAN_ACTIVE) {
		pair->cancel_wanted = true;
		if (pair->late) {
			atomic_fetch_sub_explicit(&late_pairs, 1, memory_order_relaxed);
			pair->late = pair->by_mpi = false;
			pair_end_round_without_data(plan);
		} else if (pair->state == PAIR_CONNECTED) {
			pair->close_wanted = true;
		}
		plan_recount(plan);
	}
	plan_unlock();
	return what;
}

/* --- Making and freeing --- */

PLANS_API int fjmpi_plan_pair_wanted(int me)
{
	fjmpi_error_rank(me);
	return plan_setting();
}

PLANS_API void fjmpi_plan_pair_plain(const struct fjmpi_pair_call *call, const char *reason)
{
	pair_report(call, "the MPI carries it out: ", reason);
}

static void use_region(struct fjmpi_plan *plan, enum plan_region_name name, void *at, size_t block, int blocks)
{
	plan->region[name] = (struct plan_region){.at = at, .bytes = block * (size_t)blocks, .block = block};
}

/* Returns whether the memory is registered, and arrivals in it are counted. */
static bool use_memory(struct fjmpi_plan *plan)
{
	if (plan_queues_register(plan) == 0 && plan_queues_expect(plan) == 0)
		return true;
	plan_queues_forget(plan);
	return false;
}

static int prepare(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;
	const struct fjmpi_pair_call *call = &pair->call;

	use_region(plan, PLAN_FLAGS, NULL, PAIR_BLOCK, PAIR_BLOCKS);
	if (!call->refused)
		use_region(plan, call->receives ? PLAN_RECEIVE : PLAN_SEND, call->buffer, call->bytes, 1);
	if (plan_make_regions(plan))
		return -1;
	plan->tni = plan_queues_open() > 0 ? plan_queues_choose() : -1;
	pair->has_mailbox = plan->tni >= 0 && plan_start_thread() == 0 && use_memory(plan);
	if (!pair->has_mailbox && !call->refused)
		pair->call.refused = "there is no queue, or no memory can be registered with it";
	if (pair->call.refused)
		pair_report_mpi(pair, pair->call.refused);
	return 0;
}

PLANS_API struct fjmpi_plan *fjmpi_plan_pair_make(const struct fjmpi_pair_call *call, unsigned char **header)
{
	struct fjmpi_plan *plan = calloc(1, sizeof *plan);
	struct plan_pair *pair = calloc(1, sizeof *pair);
	int code = -1;

	if (plan && pair) {
		pair->call = *call;
		plan->pair = pair;
		plan->call.kind = call->receives ? FJMPI_PLAN_RECEIVES : FJMPI_PLAN_SENDS;
		*header = (unsigned char *)&pair->header;
		plan_lock();
		code = prepare(plan);
		plan_unlock();
	} else {
		free(plan);
		free(pair);
		plan = NULL;
	}
	if (code)
		fjmpi_error("%s: there is no memory", pair_routine(call));
	if (code && plan)
		plan_free(plan);
	return code ? NULL : plan;
}

PLANS_API void fjmpi_plan_pair_attach(struct fjmpi_plan *plan, uintptr_t request)
{
	fjmpi_plan_attach(plan, request);
}

PLANS_API const struct fjmpi_pair_call *fjmpi_plan_pair_call_of(struct fjmpi_plan *plan)
{
	return plan->pair ? &plan->pair->call : NULL;
}

PLANS_API int fjmpi_plan_pair_left(uintptr_t *request)
{
	struct fjmpi_plan *plan;

	plan_lock();
	for (plan = plan_first(); plan; plan = plan->next)
		if (plan->pair && !plan->pair->freed && plan->state == FJMPI_PLAN_INACTIVE) {
			*request = plan->request;
			break;
		}
	plan_unlock();
	return plan != NULL;
}

void plan_pair_detach(struct fjmpi_plan *plan)
{
	struct plan_pair *pair = plan->pair;

	pair->freed = true;
	pair->close_wanted = pair->close_wanted || pair->state != PAIR_ALONE;
	plan_queues_forget_region(plan, pair->call.receives ? PLAN_RECEIVE : PLAN_SEND);
	plan_recount(plan);
}

bool plan_pair_ended(const struct fjmpi_plan *plan)
{
	const struct plan_pair *pair = plan->pair;

	return pair->freed && pair->state == PAIR_ALONE && !pair_is_closing(pair) && !pair->close_wanted;
}

void plan_pair_free(struct plan_pair *pair)
{
	free(pair);
}
