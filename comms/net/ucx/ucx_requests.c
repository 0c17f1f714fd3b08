/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations with a result as messages, at their origin: fetching atomics and gets. One is complete
 * when its result has arrived. The record of a nonblocking one stays until UCX has sent it and the
 * result has arrived.
 */
#include "ucx_messages.h"

#include <stdlib.h>
#include <string.h>

#include "rte/rte.h"

struct request {
	struct ucx_message message;
	struct ucx_peer *connection;
	struct mark *mark;		 /* the mark that counts it */
	struct comms_request *completes; /* to complete with it; NULL: the mark counts it */
	char *result;
	size_t left; /* bytes of the result still to come */
	unsigned half;
	bool nonblocking; /* no thread waits for it by itself */
	atomic_int parts; /* number of unfinished parts: sending, and receiving the answer */
};

void ucx_complete_request(struct comms_request *request)
{
	struct ucx_notification *mine = ucx_notification(request);

	if (mine->key)
		ucp.rkey_destroy(mine->key);
	mine->key = NULL;
	atomic_store_explicit(&request->under_way, false, memory_order_release);
}

/* Touches the request last: a thread that waits for a blocking one may continue. */
static void part_is_over(struct request *request)
{
	bool nonblocking = request->nonblocking;

	if (atomic_fetch_sub_explicit(&request->parts, 1, memory_order_seq_cst) > 1 || !nonblocking)
		return;
	if (request->completes)
		ucx_complete_request(request->completes);
	else
		channel_count(mark_channel(request->mark), &request->mark->unanswered[request->half], -1);
	free(request);
}

static void request_sent(void *sending, ucs_status_t status, void *request)
{
	ucp.request_free(sending);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "a request (ucp_am_send_nbx)", ((struct request *)request)->connection->pe);
	part_is_over(request);
}

static void send_request(struct request *request)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = request_sent,
		.user_data = request,
	};
	ucs_status_ptr_t sending;

	request->message.token = (uintptr_t)request;
	atomic_fetch_add_explicit(&ucx.results, 1, memory_order_relaxed);
	atomic_init(&request->parts, 2);
	sending = ucx_message_send(request->connection, &request->message, NULL, 0, &param);
	if (UCS_PTR_IS_PTR(sending))
		return;
	ucx_must_succeed(UCS_PTR_STATUS(sending), "a request (ucp_am_send_nbx)", request->connection->pe);
	part_is_over(request);
}

static bool request_is_over(const struct comms_channel *channel, const void *request)
{
	(void)channel;
	return atomic_load_explicit(&((const struct request *)request)->parts, memory_order_seq_cst) == 0;
}

static bool few_are_unanswered(const struct comms_channel *channel, const void *argument)
{
	const struct mark *mark = argument;

	(void)channel;
	return atomic_load_explicit(&mark->unanswered[0], memory_order_seq_cst) +
		       atomic_load_explicit(&mark->unanswered[1], memory_order_seq_cst) <
	       UCX_OUTSTANDING_MOST;
}

/*
 * The wait ends when the job is broken, and the answer may come later: the record then stays until
 * the process ends, and the result has memory of its own.
 */
static void request_result_or_leave(struct comms_channel *channel, const struct request *request)
{
	struct request *record = ucx_message_allocate(sizeof *record + request->left);

	*record = *request;
	record->result = (char *)(record + 1);
	send_request(record);
	channel_wait(channel, request_is_over, record);
	if (!request_is_over(channel, record))
		return;
	memcpy(request->result, record->result, request->left);
	free(record);
}

/* Sends the request; for a blocking one, the result has arrived on return. */
static void request_result(struct mark *mark, struct request *request, bool nbi)
{
	struct comms_channel *channel = mark_channel(mark);
	struct request *copy;

	request->connection = mark->peer;
	if (!nbi && rte.returns_errors) {
		request_result_or_leave(channel, request);
		return;
	}
	if (!nbi) {
		send_request(request);
		channel_wait(channel, request_is_over, request);
		return;
	}
	channel_wait(channel, few_are_unanswered, mark);
	copy = ucx_message_allocate(sizeof *copy);
	*copy = *request;
	copy->mark = mark;
	copy->nonblocking = true;
	copy->half = atomic_load_explicit(&mark->half, memory_order_seq_cst) % 2;
	channel_count(channel, &mark->unanswered[copy->half], 1);
	send_request(copy);
	channel_put_on_list(mark);
}

void ucx_message_fetch(struct mark *mark, const struct ucx_message *atomic, void *result, bool nbi)
{
	struct request request = {.message = *atomic, .result = result, .left = atomic->width};

	request.message.kind = UCX_FETCH;
	request_result(mark, &request, nbi);
}

static struct request make_read_request(uint64_t there, void *dest, size_t bytes)
{
	return (struct request){
		.message = {.kind = UCX_READ, .item = {.there = there, .bytes = bytes}},
		.result = dest,
		.left = bytes,
	};
}

void ucx_message_read(struct mark *mark, uint64_t there, void *dest, size_t bytes, bool nbi)
{
	struct request request = make_read_request(there, dest, bytes);

	request_result(mark, &request, nbi);
}

void ucx_message_read_for(struct comms_request *completes, struct ucx_peer *peer, uint64_t there,
			  const struct comms_piece *to)
{
	struct request *request = ucx_message_allocate(sizeof *request);

	*request = make_read_request(there, to->dest, to->bytes);
	request->connection = peer;
	request->completes = completes;
	request->nonblocking = true;
	send_request(request);
}

/* --- Answers --- */

static void raise_acknowledged(_Atomic uint64_t *number, uint64_t value)
{
	uint64_t now = atomic_load_explicit(number, memory_order_seq_cst);

	while (now < value &&
	       !atomic_compare_exchange_weak_explicit(number, &now, value, memory_order_seq_cst, memory_order_seq_cst))
		;
}

static void take_result(const struct ucx_answer *answer, const void *data, size_t bytes)
{
	struct request *request = (void *)(uintptr_t)answer->token;
	size_t came = bytes > 0 ? bytes : answer->width;

	if (came > request->left)
		rte_die(NULL,
			"PE %d answered with %zu bytes more than were asked for; do all PEs run the same library?",
			request->connection->pe, came - request->left);
	/*
	 * In a broken job, a quiet has returned to the program, which may use the memory otherwise.
	 */
	if (!request->nonblocking || !rte_is_broken())
		memcpy(request->result + answer->offset, bytes > 0 ? data : &answer->value, came);
	raise_acknowledged(&request->connection->acknowledged, answer->acknowledged);
	request->left -= came;
	if (request->left > 0)
		return;
	atomic_fetch_sub_explicit(&ucx.results, 1, memory_order_relaxed);
	part_is_over(request);
}

static ucs_status_t take_answer(void *unused, const void *header, size_t header_bytes, void *data, size_t bytes,
				const ucp_am_recv_param_t *param)
{
	struct ucx_answer answer;

	(void)unused, (void)header_bytes, (void)param;
	memcpy(&answer, header, sizeof answer);
	if (answer.has_result)
		take_result(&answer, data, bytes);
	else
		raise_acknowledged(&((struct ucx_peer *)(uintptr_t)answer.token)->acknowledged, answer.acknowledged);
	return UCS_OK;
}

void ucx_take_answers(ucp_worker_h worker)
{
	ucx_take_by(worker, UCX_ANSWER, take_answer);
}
