/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations as messages, at their origin: ucx_messages.h.
 *
 * A put is complete when the target says that it has carried out its message, or a later one of the same connection. An operation with a
 * result is complete when the result is here. Of nonblocking ones a record is kept, until UCX has sent it and the result is here.
 */
#include "ucx_messages.h"

#include <stdlib.h>
#include <string.h>

#include "comms/ops/ops.h"
#include "rte/rte.h"
#include "comms/wait/wait.h"

#define KEPT_MOST 512 /* nonblocking puts of a channel that UCX has not sent, and operations with a result, of a channel to one PE */

/* An operation whose result is to come. */
struct request {
	struct ucx_message message;
	struct ucx_peer *connection;
	struct mark *mark;	       /* that counts it */
	struct comms_request *completes; /* this one; NULL: the mark counts it */
	char *result;
	size_t left; /* bytes of the result that have not come */
	unsigned half;
	bool kept;	  /* nobody waits for it by itself */
	atomic_int parts; /* being sent, being answered: those that are not over */
};

/* A nonblocking put that UCX has not sent yet. */
struct sending {
	struct ucx_message message;
	struct comms_channel *channel;
	int pe;
};

void ucx_complete_request(struct comms_request *request)
{
	struct ucx_notification *mine = ucx_notification(request);

	if (mine->key)
		ucp.rkey_destroy(mine->key);
	mine->key = NULL;
	atomic_store_explicit(&request->under_way, false, memory_order_release);
}

static void number(struct ucx_peer *peer, struct ucx_message *message)
{
	message->pe = (uint32_t)comms.pe;
	message->stream = peer->stream;
	message->sequence = atomic_fetch_add_explicit(&peer->sent, 1, memory_order_seq_cst) + 1;
	atomic_fetch_add_explicit(&ucx.sent, 1, memory_order_relaxed);
}

static ucs_status_ptr_t send_numbered(struct ucx_peer *peer, struct ucx_message *message, const void *data, size_t bytes,
				      const ucp_request_param_t *how)
{
	ucp_request_param_t param = *how;

	param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
	param.flags = UCP_AM_SEND_FLAG_EAGER;
	return ucp.am_send_nbx(peer->endpoint, UCX_REQUEST, message, sizeof *message, data, bytes, &param);
}

ucs_status_ptr_t ucx_message_send(struct ucx_peer *peer, struct ucx_message *message, const void *data, size_t bytes,
				  const ucp_request_param_t *how)
{
	number(peer, message);
	return send_numbered(peer, message, data, bytes, how);
}

static void hello_sent(void *request, ucs_status_t status, void *unused)
{
	(void)unused;
	ucp.request_free(request);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "the first message (ucp_am_send_nbx)", COMMS_NOBODY);
}

/*
 * The only message that UCX is asked to show a way back for. It has no header but data alone: with both, and a way back, UCX 1.13 writes over
 * its stack where UCX_PROTO_ENABLE=y.
 */
void ucx_message_hello(struct ucx_peer *peer)
{
	static const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_FLAGS,
		.cb.send = hello_sent,
		.flags = UCP_AM_SEND_FLAG_EAGER | UCP_AM_SEND_FLAG_REPLY,
	};
	ucs_status_ptr_t request;

	peer->hello.kind = UCX_HELLO;
	number(peer, &peer->hello);
	request = ucp.am_send_nbx(peer->endpoint, UCX_FIRST, NULL, 0, &peer->hello, sizeof peer->hello, &param);
	if (!UCS_PTR_IS_PTR(request))
		ucx_must_succeed(UCS_PTR_STATUS(request), "the first message (ucp_am_send_nbx)", peer->pe);
}

/* Returns when UCX needs neither header nor data any more. */
static void send_and_wait(struct mark *mark, struct ucx_message *message, const void *data, size_t bytes)
{
	ucs_status_ptr_t request = ucx_message_send(mark->peer, message, data, bytes, &ucx_plain);

	ucx_must_succeed(channel_finish(mark_channel(mark), request), "a message (ucp_am_send_nbx)", mark->peer->pe);
}

/* --- Puts --- */

static bool some_are_sent(const struct comms_channel *channel, const void *unused)
{
	(void)unused;
	return atomic_load_explicit(&channel->unsent, memory_order_seq_cst) < KEPT_MOST;
}

static void sent(void *request, ucs_status_t status, void *argument)
{
	struct sending *sending = argument;
	struct comms_channel *channel = sending->channel;

	ucp.request_free(request);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "a nonblocking put (ucp_am_send_nbx)", sending->pe);
	free(sending);
	channel_count(channel, &channel->unsent, -1);
}

static void *allocate(size_t bytes)
{
	void *memory = malloc(bytes);

	if (!memory)
		rte_die(NULL, "no memory for a nonblocking operation; call shmem_quiet more often");
	return memory;
}

/* The message is numbered on return. */
static void send_without_waiting(struct mark *mark, struct ucx_message *message, const void *data, size_t bytes)
{
	struct comms_channel *channel = mark_channel(mark);
	struct sending *sending = allocate(sizeof *sending);
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = sent,
		.user_data = sending,
	};
	ucs_status_ptr_t request;

	number(mark->peer, message);
	sending->message = *message;
	sending->channel = channel;
	sending->pe = mark->peer->pe;
	channel_count(channel, &channel->unsent, 1);
	request = send_numbered(mark->peer, &sending->message, data, bytes, &param);
	if (UCS_PTR_IS_PTR(request))
		return;
	free(sending);
	channel_count(channel, &channel->unsent, -1);
	ucx_must_succeed(UCS_PTR_STATUS(request), "a nonblocking put (ucp_am_send_nbx)", mark->peer->pe);
}

void ucx_message_write(struct mark *mark, struct ucx_item item, enum comms_amo op, const void *source, bool nbi,
		       uint32_t event)
{
	const char *from = source;
	struct ucx_message message;
	size_t left = item.bytes;

	for (;;) {
		bool last = left <= UCX_PIECE_MOST;
		size_t piece = last ? left : UCX_PIECE_MOST;

		message = (struct ucx_message){
			.kind = UCX_WRITE,
			.op = (uint8_t)op,
			.acknowledge = last,
			.event = last ? event : 0,
			.token = (uintptr_t)mark->peer,
			.item = {item.there, last ? item.word : 0, item.value, piece},
		};
		if (nbi) {
			channel_wait(mark_channel(mark), some_are_sent, NULL);
			send_without_waiting(mark, &message, from, piece);
		} else {
			send_and_wait(mark, &message, from, piece);
		}
		if (last)
			break;
		/* With every message the kernel delivers, here and there. A server that got up each time would fight for UCX's lock with who sends. */
		ucx_visit();
		item.there += piece;
		from += piece;
		left -= piece;
	}
	channel_sent(mark, message.sequence);
}

void ucx_message_atomic(struct mark *mark, const struct comms_atomic *atomic, uint64_t word, uint32_t event)
{
	struct ucx_message message = {
		.kind = UCX_ATOMIC,
		.op = (uint8_t)atomic->op,
		.width = (uint8_t)atomic->width,
		.acknowledge = true,
		.event = event,
		.token = (uintptr_t)mark->peer,
		.item = {.word = word, .value = atomic->operand},
	};

	send_and_wait(mark, &message, NULL, 0);
	channel_sent(mark, message.sequence);
}

void ucx_message_mark_all(struct mark *mark)
{
	ucx_message_write(mark, (struct ucx_item){0}, COMMS_SWAP, NULL, false, 0);
}

uint64_t ucx_message_probe(struct ucx_peer *peer)
{
	struct ucx_message message = {.kind = UCX_WRITE, .acknowledge = true, .token = (uintptr_t)peer};

	send_without_waiting(&peer->mark, &message, NULL, 0);
	return message.sequence;
}

void ucx_message_close(struct comms_channel *channel, struct ucx_peer *peer)
{
	struct ucx_message message = {.kind = UCX_CLOSE};

	ucx_must_succeed(channel_finish(channel, ucx_message_send(peer, &message, NULL, 0, &ucx_plain)),
			 "the last message (ucp_am_send_nbx)", peer->pe);
}

/* --- Operations with a result --- */

/* The last that is touched of it here; whoever waits for one that is not kept may go on. */
static void part_is_over(struct request *request)
{
	bool kept = request->kept;

	if (atomic_fetch_sub_explicit(&request->parts, 1, memory_order_seq_cst) > 1 || !kept)
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

static bool is_over(const struct comms_channel *channel, const void *request)
{
	(void)channel;
	return atomic_load_explicit(&((const struct request *)request)->parts, memory_order_seq_cst) == 0;
}

static bool some_are_answered(const struct comms_channel *channel, const void *argument)
{
	const struct mark *mark = argument;

	(void)channel;
	return atomic_load_explicit(&mark->unanswered[0], memory_order_seq_cst) +
		       atomic_load_explicit(&mark->unanswered[1], memory_order_seq_cst) <
	       KEPT_MOST;
}

/* Sends it; unless it is nonblocking the result is there on return. */
static void ask(struct mark *mark, struct request *request, bool nbi)
{
	struct comms_channel *channel = mark_channel(mark);
	struct request *kept;

	request->connection = mark->peer;
	if (!nbi) {
		send_request(request);
		channel_wait(channel, is_over, request);
		return;
	}
	channel_wait(channel, some_are_answered, mark);
	kept = allocate(sizeof *kept);
	*kept = *request;
	kept->mark = mark;
	kept->kept = true;
	kept->half = atomic_load_explicit(&mark->half, memory_order_seq_cst) % 2;
	channel_count(channel, &mark->unanswered[kept->half], 1);
	send_request(kept);
	channel_put_on_list(mark);
}

void ucx_message_fetch(struct mark *mark, const struct ucx_message *atomic, void *result, bool nbi)
{
	struct request request = {.message = *atomic, .result = result, .left = atomic->width};

	request.message.kind = UCX_FETCH;
	ask(mark, &request, nbi);
}

static struct request read_request(uint64_t there, void *dest, size_t bytes)
{
	return (struct request){
		.message = {.kind = UCX_READ, .item = {.there = there, .bytes = bytes}},
		.result = dest,
		.left = bytes,
	};
}

void ucx_message_read(struct mark *mark, uint64_t there, void *dest, size_t bytes, bool nbi)
{
	struct request request = read_request(there, dest, bytes);

	ask(mark, &request, nbi);
}

void ucx_message_read_for(struct comms_request *completes, struct ucx_peer *peer, uint64_t there, const struct comms_piece *to)
{
	struct request *request = allocate(sizeof *request);

	*request = read_request(there, to->dest, to->bytes);
	request->connection = peer;
	request->completes = completes;
	request->kept = true;
	send_request(request);
}

/* --- Answers --- */

static void raise(_Atomic uint64_t *number, uint64_t value)
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
		rte_die(NULL, "PE %d answered with %zu bytes more than were asked for; do all PEs run the same library?",
			request->connection->pe, came - request->left);
	memcpy(request->result + answer->offset, bytes > 0 ? data : &answer->value, came);
	raise(&request->connection->acknowledged, answer->acknowledged);
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
		raise(&((struct ucx_peer *)(uintptr_t)answer.token)->acknowledged, answer.acknowledged);
	return UCS_OK;
}

void ucx_take_by(ucp_worker_h worker, unsigned number, ucp_am_recv_callback_t taker)
{
	const ucp_am_handler_param_t param = {
		.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
		.id = number,
		.cb = taker,
	};

	ucx_check(ucp.worker_set_am_recv_handler(worker, &param), "ucp_worker_set_am_recv_handler");
}

void ucx_take_answers(ucp_worker_h worker)
{
	ucx_take_by(worker, UCX_ANSWER, take_answer);
}
