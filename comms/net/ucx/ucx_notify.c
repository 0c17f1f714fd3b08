/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications over UCX: data, then a flag that shows it. One message has both, and the thread
 * that serves the target's worker writes the data and then the flag. Data that is longer than a
 * message goes in several; each starts when UCX has passed on the one before, and the last one has
 * the flag. (ucx_batch.c puts several notifications into one message.)
 */
#include <string.h>

#include "comms/ops/ops.h"
#include "rte/rte.h"
#include "ucx_messages.h"
#include "comms/wait/wait.h"

static void message_sent(void *request, ucs_status_t status, void *notification);

/*
 * Sends one message. Returns true if it has been sent; if not, UCX holds it, and message_sent owns
 * the request.
 */
static bool send_next_message(struct comms_request *request)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = message_sent,
		.user_data = request,
	};
	struct ucx_notification *n = ucx_notification(request);
	struct network_piece *now = &n->now;
	size_t bytes = now->bytes < UCX_MESSAGE_MOST ? now->bytes : UCX_MESSAGE_MOST;
	const char *source = now->source;
	ucs_status_ptr_t sending;

	/*
	 * The kernel delivers with every message, on both sides. A server that woke up each time
	 * would compete with the sender for UCX's lock.
	 */
	if (bytes < now->bytes)
		ucx_visit();
	n->message = (struct ucx_message){
		.kind = UCX_WRITE,
		.op = COMMS_SWAP,
		.item = {now->offset, 0, request->value, bytes},
	};
	now->offset += bytes;
	now->source = source + bytes;
	now->bytes -= bytes;
	if (now->bytes == 0 && n->next.bytes > 0) {
		*now = n->next;
		n->next.bytes = 0;
	} else if (now->bytes == 0) {
		n->message.item.word = n->flag;
		n->message.event = n->event;
		n->over = true;
		atomic_fetch_sub_explicit(&ucx.partial, 1, memory_order_relaxed);
	}
	sending = ucx_message_send(n->connection, &n->message, source, bytes, &param);
	if (UCS_PTR_IS_PTR(sending))
		return false;
	ucx_must_succeed(UCS_PTR_STATUS(sending), "a message (ucp_am_send_nbx)", n->connection->pe);
	return true;
}

/* Have all been sent? */
static bool send_messages(struct comms_request *request)
{
	while (send_next_message(request))
		if (ucx_notification(request)->over) {
			ucx_complete_request(request);
			return true;
		}
	return false;
}

static void message_sent(void *sending, ucs_status_t status, void *argument)
{
	struct comms_request *request = argument;
	const struct ucx_notification *n = ucx_notification(request);

	ucp.request_free(sending);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "a message (ucp_am_send_nbx)", n->connection->pe);
	if (status == UCS_ERR_CANCELED || n->over)
		ucx_complete_request(request);
	else
		send_messages(request);
}

static uint64_t remote_flag(const struct ucx_peer *peer, const struct network_notification *from)
{
	return from->flag_offset == COMMS_NO_FLAG ? 0 : ucx_remote(peer, from->flag_segment, from->flag_offset);
}

/* The same piece with its address at the peer as offset. */
static struct network_piece remote_piece(const struct ucx_peer *peer, const struct network_notification *from, int i)
{
	struct network_piece piece = from->piece[i];

	piece.offset = from->buffer && i == 0 ? from->buffer->base + piece.offset
					      : ucx_remote(peer, from->segment, piece.offset);
	return piece;
}

static void start_messages(struct comms_request *request, const struct network_notification *from)
{
	struct ucx_notification *n = ucx_notification(request);
	uint32_t event = ucx_event();
	struct ucx_peer *peer = from->second_cable ? ucx_second_peer(from->peer) : ucx_peer(from->peer);

	*n = (struct ucx_notification){
		.connection = peer,
		.event = event,
		.flag = remote_flag(peer, from),
		.now = remote_piece(peer, from, 0),
		.next = remote_piece(peer, from, 1),
	};
	if (n->now.bytes == 0 && n->next.bytes > 0) {
		n->now = n->next;
		n->next.bytes = 0;
	}
	atomic_fetch_add_explicit(&ucx.partial, 1, memory_order_relaxed);
	atomic_store_explicit(&request->under_way, true, memory_order_relaxed);
	/* This PE may compute now, and the rest must leave when the socket has room. */
	if (!send_messages(request))
		ucx_hand_over();
}

/* For an operation of the program, on a channel. */
static void ucx_put_signal(const struct network_notification *n)
{
	uint32_t event = ucx_event();
	struct comms_channel *channel = n->channel;
	struct mark *mark = channel_begin(&channel, n->peer);
	struct ucx_peer *peer = mark->peer;
	const struct network_piece data = remote_piece(peer, n, 0);
	struct ucx_item item = {data.offset, remote_flag(peer, n), n->value, data.bytes};

	channel_order(mark);
	if (ucx_key(peer, n->segment)) {
		ucx_put_by_rma(mark, ucx_key(peer, n->segment), &data, n->nbi);
		channel_flush_puts(mark);
		item.bytes = 0;
	}
	ucx_message_write(mark, item, n->op, data.source, n->nbi, event);
	channel_end(mark);
}

/* UCX may come back to the request of a broken job until the network stops: it is not freed. */
static void start_and_wait(const struct network_notification *n)
{
	struct comms_request own, *request = rte.returns_errors ? ucx_message_allocate(sizeof *request) : &own;

	request->value = n->value;
	start_messages(request, n);
	COMMS_WAIT(COMMS_NOWHERE, !comms_request_is_under_way(request));
	if (request != &own && !comms_request_is_under_way(request))
		free(request);
}

void ucx_notify(struct comms_request *request, const struct network_notification *n)
{
	if (n->counted) {
		ucx_put_signal(n);
	} else if (n->batch && ucx_batch_add(request, n)) {
		return;
	} else if (request) {
		start_messages(request, n);
	} else {
		start_and_wait(n);
	}
}
