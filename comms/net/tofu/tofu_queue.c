/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Outstanding operations in the queues of this PE.
 *
 * tofu_request_start passes a communication to uTofu; tofu_progress, which every wait calls, polls
 * the queues and decreases the counters of communications that have arrived; tofu_wait_for waits
 * for a counter, as quiet does.
 *
 * A communication requests the notice that it has arrived (in the message receive queue, also for a
 * put), and some request the notice that it has been sent. Only messages with a completion number
 * request a notice at the target (tofu_completion_numbers.c) instead of the one here. There are few
 * of them, so a PE may compute for long, and no thread need empty its queues.
 */
#include "comms/ops/ops.h"
#include "tofu_inside.h"

#include <stdlib.h>
#include <string.h>

#include "comms/wait/wait.h"
#include "rte/rte.h"

struct tofu tofu = {.lock = PTHREAD_MUTEX_INITIALIZER};

enum { POLLS = 64 }; /* notices read at a time */

/* Also in a program without threads, because a thread makes hang reports. */
void tofu_lock(void)
{
	pthread_mutex_lock(&tofu.lock);
}

static bool tofu_try_lock(void)
{
	return !pthread_mutex_trylock(&tofu.lock);
}

void tofu_unlock(void)
{
	pthread_mutex_unlock(&tofu.lock);
}

/* --- Errors --- */

static const char *error_text(int code)
{
	switch (code) {
	case UTOFU_ERR_FULL: return "full";
	case UTOFU_ERR_NOT_AVAILABLE: return "not for this process";
	case UTOFU_ERR_MRQ_PEER: return "the other side does not answer";
	case UTOFU_ERR_MRQ_RMT_MEMORY: return "the other side's memory cannot be accessed";
	case UTOFU_ERR_MRQ_RMT_STADD: return "the other side has registered no such memory";
	case UTOFU_ERR_OUT_OF_RESOURCE: return "no resources left";
	case UTOFU_ERR_OUT_OF_MEMORY: return "no memory";
	case UTOFU_ERR_FATAL: return "fatal";
	default: return "see utofu.h";
	}
}

/* If the PE has failed, the launcher knows the cause and is about to end the job. */
void tofu_fail(const char *what, int pe, int code)
{
	char host[256] = "?";

	if (pe < 0)
		rte_die(NULL, "%s: error %d of uTofu (%s)", what, code, error_text(code));
	rte_let_others_speak();
	rte_host(pe, host, sizeof host);
	rte_die(NULL, "%s PE %d on host %s: error %d of uTofu (%s); %s", what, pe, host, code, error_text(code),
		comms_process_in_words(pe));
}

void tofu_check(int code, const char *what)
{
	if (code != UTOFU_SUCCESS)
		tofu_fail(what, -1, code);
}

/* --- Notices --- */

static void release_after_last_notice(struct tofu_request *request)
{
	if (--request->notices > 0)
		return;
	atomic_store_explicit(&tofu.under_way_to[request->number], 0, memory_order_relaxed);
	request->next_free = tofu.free;
	tofu.free = request;
	atomic_fetch_sub_explicit(&request->queue->under_way, 1, memory_order_seq_cst);
	atomic_fetch_sub_explicit(&tofu.under_way, 1, memory_order_seq_cst);
}

static void lower_counter(atomic_int **counter)
{
	if (*counter)
		atomic_fetch_sub_explicit(*counter, 1, memory_order_seq_cst);
	*counter = NULL;
}

/* Decreases the counters last: their memory may be invalid afterwards. */
static void end_tofu_request(struct tofu_request *request)
{
	struct comms_request *completes = request->completes;
	atomic_int *arrived = request->arrived;

	if (request->is_registered)
		tofu_check(utofu.dereg_mem(request->queue->vcq, request->registered, 0), "utofu_dereg_mem");
	if (!request->reports_sent)
		lower_counter(&request->sent);
	release_after_last_notice(request);
	if (arrived && atomic_fetch_sub_explicit(arrived, 1, memory_order_seq_cst) == 1 && completes)
		atomic_store_explicit(&completes->under_way, false, memory_order_release);
}

static void take_local_notice(struct tofu_request *request, const struct utofu_mrq_notice *notice)
{
	utofu_stadd_t stadd;

	if (request->result && notice->notice_type == UTOFU_MRQ_TYPE_LCL_ARMW)
		memcpy(request->result, &notice->rmt_value, request->result_bytes);
	else if (request->result)
		memcpy(request->result, tofu_request_staging(request, &stadd), request->result_bytes);
	end_tofu_request(request);
}

static bool take_sent(const struct tofu_queue *queue)
{
	void *which = NULL;
	int code = utofu.poll_tcq(queue->vcq, 0, &which);
	struct tofu_request *request = which;

	if (code == UTOFU_ERR_NOT_FOUND)
		return false;
	if (code != UTOFU_SUCCESS)
		tofu_fail("sending to", request ? request->pe : -1, code);
	if (request->reports_only_sent) {
		end_tofu_request(request);
		return true;
	}
	lower_counter(&request->sent);
	release_after_last_notice(request);
	return true;
}

/* The PE that owns the queue; -1: unknown. */
static int pe_of_queue(utofu_vcq_id_t queue)
{
	utofu.set_vcq_id_path(&queue, NULL);
	for (int pe = 0; pe < comms.n_pes; pe++) {
		const struct tofu_peer *peer = tofu_peer(comms_peer(pe));

		if (peer && peer->vcq == queue)
			return pe;
	}
	return -1;
}

bool tofu_take_notice(const struct tofu_queue *queue)
{
	struct utofu_mrq_notice notice = {0};
	int code = utofu.poll_mrq(queue->vcq, 0, &notice);

	if (code == UTOFU_ERR_NOT_FOUND)
		return false;
	if (code != UTOFU_SUCCESS)
		tofu_fail("an operation on", pe_of_queue(notice.vcq_id), code);
	if (notice.notice_type == UTOFU_MRQ_TYPE_RMT_PUT)
		tofu_completion_arrived(queue, notice.edata);
	else
		take_local_notice(&tofu.requests[notice.edata], &notice);
	return true;
}

bool tofu_progress(void)
{
	bool worked = false;

	if (!tofu_try_lock())
		return false;
	for (int e = 0; e < tofu.tnis; e++) {
		const struct tofu_queue *queue = &tofu.queue[e];

		if (atomic_load_explicit(&queue->under_way, memory_order_relaxed) == 0 &&
		    atomic_load_explicit(&queue->listeners, memory_order_relaxed) == 0)
			continue;
		for (int i = 0; i < POLLS && take_sent(queue); i++)
			worked = true;
		for (int i = 0; i < POLLS && tofu_take_notice(queue); i++)
			worked = true;
	}
	tofu_unlock();
	return worked;
}

void tofu_wait_for(atomic_int *counter)
{
	if (atomic_load_explicit(counter, memory_order_seq_cst) > 0)
		COMMS_WAIT(COMMS_NOWHERE, atomic_load_explicit(counter, memory_order_seq_cst) == 0);
}

/* --- Requests --- */

static struct tofu_request *tofu_take_request(void)
{
	struct tofu_request *request;

	tofu_lock();
	request = tofu.free;
	if (request) {
		tofu.free = request->next_free;
		atomic_fetch_add_explicit(&tofu.under_way, 1, memory_order_seq_cst);
	}
	tofu_unlock();
	return request;
}

struct tofu_request *tofu_request_begin(const struct tofu_counters *counters, const struct comms_peer *peer)
{
	struct tofu_request *request;
	uint8_t number;

	while (!(request = tofu_take_request()))
		COMMS_WAIT(COMMS_NOWHERE, atomic_load_explicit(&tofu.under_way, memory_order_seq_cst) < TOFU_REQUESTS);
	number = request->number;
	*request = (struct tofu_request){
		.queue = &tofu.queue[tofu_peer(peer)->tni],
		.number = number,
		.pe = peer->pe,
		.notices = 1,
		.completes = counters->completes,
		.arrived = counters->arrived,
		.sent = counters->sent,
	};
	atomic_store_explicit(&tofu.under_way_to[number], peer->pe + 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&request->queue->under_way, 1, memory_order_seq_cst);
	if (request->arrived)
		atomic_fetch_add_explicit(request->arrived, 1, memory_order_seq_cst);
	if (request->sent)
		atomic_fetch_add_explicit(request->sent, 1, memory_order_seq_cst);
	return request;
}

char *tofu_request_staging(const struct tofu_request *request, utofu_stadd_t *stadd)
{
	size_t at = (size_t)(request->number - 1) * TOFU_STAGING;

	*stadd = request->queue->staging + at;
	return tofu.staging + at;
}

void tofu_request_register(struct tofu_request *request, void *memory, size_t bytes, bool read_only,
			   utofu_stadd_t *stadd)
{
	int code;

	tofu_lock();
	code = utofu.reg_mem(request->queue->vcq, memory, bytes, read_only ? UTOFU_REG_MEM_FLAG_READ_ONLY : 0, stadd);
	tofu_unlock();
	tofu_check(code, "utofu_reg_mem");
	request->registered = *stadd;
	request->is_registered = true;
}

/* A buffer's words are its addresses: one for each queue of its PE. */
_Static_assert(TOFU_TNIS <= sizeof(((struct comms_buffer *)0)->network) / sizeof(uint64_t), "an address for each");

/* The queue that receives a peer's data is known to the peer and this PE, but not to others. */
void *tofu_share(struct comms_buffer *buffer, const char *routine)
{
	void *memory = (void *)(uintptr_t)buffer->base;
	int code = UTOFU_SUCCESS;

	(void)routine;
	tofu_lock();
	for (int e = 0; e < tofu.tnis && code == UTOFU_SUCCESS; e++)
		code = utofu.reg_mem(tofu.queue[e].vcq, memory, buffer->size, 0, &buffer->network[e]);
	tofu_unlock();
	tofu_check(code, "utofu_reg_mem");
	return NULL;
}

void tofu_unshare(const struct comms_buffer *buffer, void *handle)
{
	int code = UTOFU_SUCCESS;

	(void)handle;
	tofu_lock();
	for (int e = 0; e < tofu.tnis && code == UTOFU_SUCCESS; e++)
		code = utofu.dereg_mem(tofu.queue[e].vcq, buffer->network[e], 0);
	tofu_unlock();
	tofu_check(code, "utofu_dereg_mem");
}

static int post_atomic(utofu_vcq_hdl_t vcq, const struct transfer *r, uint64_t number, void *request)
{
	static const enum utofu_armw_op ops[] = {
		[COMMS_FETCH] = UTOFU_ARMW_OP_ADD, /* of zero */
		[COMMS_ADD] = UTOFU_ARMW_OP_ADD,   [COMMS_AND] = UTOFU_ARMW_OP_AND,   [COMMS_OR] = UTOFU_ARMW_OP_OR,
		[COMMS_XOR] = UTOFU_ARMW_OP_XOR,   [COMMS_SWAP] = UTOFU_ARMW_OP_SWAP,
	};
	uint64_t operand = r->op == COMMS_FETCH ? 0 : r->operand;

	if (r->bytes == 8)
		return r->op == COMMS_CSWAP ? utofu.cswap8(vcq, tofu_peer(r->peer)->vcq, r->cond, operand, r->there,
							   number, r->flags, request)
					    : utofu.armw8(vcq, tofu_peer(r->peer)->vcq, ops[r->op], operand, r->there,
							  number, r->flags, request);
	return r->op == COMMS_CSWAP ? utofu.cswap4(vcq, tofu_peer(r->peer)->vcq, (uint32_t)r->cond, (uint32_t)operand,
						   r->there, number, r->flags, request)
				    : utofu.armw4(vcq, tofu_peer(r->peer)->vcq, ops[r->op], (uint32_t)operand, r->there,
						  number, r->flags, request);
}

static int post_transfer(utofu_vcq_hdl_t vcq, const struct transfer *r, uint64_t number, void *request)
{
	switch (r->kind) {
	case TRANSFER_PUT:
		return utofu.put(vcq, tofu_peer(r->peer)->vcq, r->here, r->there, r->bytes, number, r->flags, request);
	case TRANSFER_SMALL_PUT:
		return utofu.put_piggyback(vcq, tofu_peer(r->peer)->vcq, (void *)(uintptr_t)r->data, r->there, r->bytes,
					   number, r->flags, request);
	case TRANSFER_GET:
		return utofu.get(vcq, tofu_peer(r->peer)->vcq, r->here, r->there, r->bytes, number, r->flags, request);
	case TRANSFER_ATOMIC: return post_atomic(vcq, r, number, request);
	}
	return UTOFU_ERR_INVALID_ARG;
}

void tofu_request_start(struct tofu_request *request, struct transfer *transfer)
{
	int pe = request->pe, code;

	if (transfer->notice) {
		transfer->flags |= UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE | UTOFU_ONESIDED_FLAG_TCQ_NOTICE;
		request->reports_only_sent = true;
		atomic_fetch_add_explicit(&tofu.unconfirmed, 1, memory_order_relaxed);
	} else {
		transfer->flags |= UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE;
	}
	if (request->reports_sent) {
		transfer->flags |= UTOFU_ONESIDED_FLAG_TCQ_NOTICE;
		request->notices++;
	}
	for (;;) {
		tofu_lock();
		code = post_transfer(request->queue->vcq, transfer,
				     transfer->notice ? transfer->notice : request->number, request);
		tofu_unlock();
		if (code != UTOFU_ERR_BUSY)
			break;
		comms_spin(); /* reads notices, which makes room */
	}
	if (code != UTOFU_SUCCESS)
		tofu_fail("an operation on", pe, code);
}
