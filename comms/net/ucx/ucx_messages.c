/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations without a result as messages, at their origin; ucx_requests.c has those with a result.
 *
 * A put is complete when the target reports that it has carried out its message, or a later one of
 * the same connection. A record of a nonblocking put stays until UCX has sent it.
 */
#include "ucx_messages.h"

#include <stdlib.h>
#include <string.h>

#include "comms/ops/ops.h"
#include "rte/rte.h"
#include "comms/wait/wait.h"

/* A nonblocking put that UCX has not sent yet. */
struct sending {
	struct ucx_message message;
	struct comms_channel *channel;
	int pe;
};

static void number_message(struct ucx_peer *peer, struct ucx_message *message)
{
	message->pe = (uint32_t)comms.pe;
	message->stream = peer->stream;
	message->sequence = atomic_fetch_add_explicit(&peer->sent, 1, memory_order_seq_cst) + 1;
	atomic_fetch_add_explicit(&ucx.sent, 1, memory_order_relaxed);
}

static ucs_status_ptr_t send_numbered(struct ucx_peer *peer, struct ucx_message *message, const void *data,
				      size_t bytes, const ucp_request_param_t *how)
{
	ucp_request_param_t param = *how;

	param.op_attr_mask |= UCP_OP_ATTR_FIELD_FLAGS;
	param.flags = UCP_AM_SEND_FLAG_EAGER;
	return ucp.am_send_nbx(peer->endpoint, UCX_REQUEST, message, sizeof *message, data, bytes, &param);
}

ucs_status_ptr_t ucx_message_send(struct ucx_peer *peer, struct ucx_message *message, const void *data, size_t bytes,
				  const ucp_request_param_t *how)
{
	number_message(peer, message);
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
 * The only message that gives UCX's receiver an endpoint to reply by. It has data and no header:
 * with both, and such an endpoint, UCX 1.13 overwrites its stack if UCX_PROTO_ENABLE=y.
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
	number_message(peer, &peer->hello);
	request = ucp.am_send_nbx(peer->endpoint, UCX_FIRST, NULL, 0, &peer->hello, sizeof peer->hello, &param);
	if (!UCS_PTR_IS_PTR(request))
		ucx_must_succeed(UCS_PTR_STATUS(request), "the first message (ucp_am_send_nbx)", peer->pe);
}

/* Returns when UCX no longer needs header and data. */
static void send_and_wait(struct mark *mark, struct ucx_message *message, const void *data, size_t bytes)
{
	ucs_status_ptr_t request = ucx_message_send(mark->peer, message, data, bytes, &ucx_plain);

	ucx_must_succeed(channel_finish(mark_channel(mark), request), "a message (ucp_am_send_nbx)", mark->peer->pe);
}

/* --- Puts --- */

static bool few_are_unsent(const struct comms_channel *channel, const void *unused)
{
	(void)unused;
	return atomic_load_explicit(&channel->unsent, memory_order_seq_cst) < UCX_OUTSTANDING_MOST;
}

static void put_sent(void *request, ucs_status_t status, void *argument)
{
	struct sending *sending = argument;
	struct comms_channel *channel = sending->channel;

	ucp.request_free(request);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "a nonblocking put (ucp_am_send_nbx)", sending->pe);
	free(sending);
	channel_count(channel, &channel->unsent, -1);
}

void *ucx_message_allocate(size_t bytes)
{
	void *memory = malloc(bytes);

	if (!memory)
		rte_die(NULL, "no memory for a nonblocking operation; call shmem_quiet more often");
	return memory;
}

/* Numbers the message. */
static void send_without_waiting(struct mark *mark, struct ucx_message *message, const void *data, size_t bytes)
{
	struct comms_channel *channel = mark_channel(mark);
	struct sending *sending = ucx_message_allocate(sizeof *sending);
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = put_sent,
		.user_data = sending,
	};
	ucs_status_ptr_t request;

	number_message(mark->peer, message);
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
			channel_wait(mark_channel(mark), few_are_unsent, NULL);
			send_without_waiting(mark, &message, from, piece);
		} else {
			send_and_wait(mark, &message, from, piece);
		}
		if (last)
			break;
		/*
		 * The kernel delivers with every message. A server that woke up each time would
		 * compete with the sender for UCX's lock.
		 */
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

void ucx_take_by(ucp_worker_h worker, unsigned number, ucp_am_recv_callback_t taker)
{
	const ucp_am_handler_param_t param = {
		.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB,
		.id = number,
		.cb = taker,
	};

	ucx_check(ucp.worker_set_am_recv_handler(worker, &param), "ucp_worker_set_am_recv_handler");
}
