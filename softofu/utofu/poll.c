/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>

#include "softofu/nic/vcq.h"

/*
 * Notices. Every poll also lets reorder injection release something, and yields the processor after
 * many polls without a result.
 */
enum { POLLS_BEFORE_YIELD = 256 };

static int polled(struct vcq *vcq, const char *routine, int code)
{
	if (code != UTOFU_ERR_NOT_FOUND)
		atomic_store_explicit(&vcq->idle_polls, 0, memory_order_relaxed);
	else if (atomic_fetch_add_explicit(&vcq->idle_polls, 1, memory_order_relaxed) % POLLS_BEFORE_YIELD ==
		 POLLS_BEFORE_YIELD - 1)
		sched_yield();
	return error_note(routine, code);
}

int utofu_poll_tcq(utofu_vcq_hdl_t vcq_hdl, unsigned long int flags, void **cbdata)
{
	int code;
	struct vcq *vcq = vcq_enter(vcq_hdl, "utofu_poll_tcq", &code);

	if (!vcq)
		return error_note("utofu_poll_tcq", code);
	code = flags ? UTOFU_ERR_INVALID_FLAGS : cbdata ? UTOFU_SUCCESS : UTOFU_ERR_INVALID_POINTER;
	if (!code) {
		queue_release_some(vcq);
		vcq_lock(vcq);
		code = tcq_take(vcq, cbdata);
		vcq_unlock(vcq);
	}
	vcq_leave(vcq);
	return polled(vcq, "utofu_poll_tcq", code);
}

int utofu_poll_mrq(utofu_vcq_hdl_t vcq_hdl, unsigned long int flags, struct utofu_mrq_notice *notice)
{
	int code;
	struct vcq *vcq = vcq_enter(vcq_hdl, "utofu_poll_mrq", &code);

	if (!vcq)
		return error_note("utofu_poll_mrq", code);
	code = flags ? UTOFU_ERR_INVALID_FLAGS : notice ? UTOFU_SUCCESS : UTOFU_ERR_INVALID_POINTER;
	if (!code) {
		queue_release_some(vcq);
		code = mrq_ready(vcq);
	}
	if (!code) {
		vcq_lock(vcq);
		code = mrq_take(vcq, notice);
		vcq_unlock(vcq);
	}
	vcq_leave(vcq);
	return polled(vcq, "utofu_poll_mrq", code);
}

int utofu_query_num_unread_tcq(utofu_vcq_hdl_t vcq_hdl, size_t *count)
{
	int code;
	struct vcq *vcq = vcq_enter(vcq_hdl, "utofu_query_num_unread_tcq", &code);

	if (!vcq)
		return code;
	code = count ? UTOFU_SUCCESS : UTOFU_ERR_INVALID_POINTER;
	if (!code) {
		queue_release_some(vcq);
		vcq_lock(vcq);
		*count = (size_t)(vcq->tcq_tail - vcq->tcq_head);
		vcq_unlock(vcq);
	}
	vcq_leave(vcq);
	return code;
}

int utofu_query_num_unread_mrq(utofu_vcq_hdl_t vcq_hdl, size_t *count)
{
	int code;
	struct vcq *vcq = vcq_enter(vcq_hdl, "utofu_query_num_unread_mrq", &code);

	if (!vcq)
		return code;
	code = count ? UTOFU_SUCCESS : UTOFU_ERR_INVALID_POINTER;
	if (!code) {
		queue_release_some(vcq);
		*count = mrq_unread(vcq);
	}
	vcq_leave(vcq);
	return code;
}
