/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several notifications in one message: a message costs the kernel some 4 us on either side,
 * whatever its length. The message is a sequence of items (struct ucx_item), each followed by its
 * data. UCX packs them into its own segment through a data type of this file; for a list of pieces
 * it would send a message for every four.
 */
#include <string.h>

#include "ucx_messages.h"

static ucp_datatype_t batch_datatype;

/* --- Packing --- */

/* One piece at position `at` of the message, of which [from, to) is wanted. */
static size_t pack_piece(char *dest, const void *source, size_t bytes, size_t at, size_t from, size_t to)
{
	size_t begin = at > from ? at : from, end = at + bytes < to ? at + bytes : to;

	if (begin < end)
		memcpy(dest + (begin - from), (const char *)source + (begin - at), end - begin);
	return at + bytes;
}

static size_t pack_batch(void *state, size_t from, void *dest, size_t most)
{
	const struct comms_batch *batch = state;
	size_t to = from + most < batch->bytes ? from + most : batch->bytes, at = 0;

	for (int i = 0; i < batch->count; i++) {
		const struct ucx_notification *n = ucx_notification(batch->request[i]);

		at = pack_piece(dest, &n->item, sizeof n->item, at, from, to);
		at = pack_piece(dest, n->now.source, n->now.bytes, at, from, to);
	}
	return to - from;
}

static void *start_packing(void *unused, const void *batch, size_t count)
{
	(void)unused, (void)count;
	return (void *)(uintptr_t)batch;
}

static size_t batch_packed_size(void *batch)
{
	return ((struct comms_batch *)batch)->bytes;
}

static void finish_packing(void *batch)
{
	(void)batch;
}

void ucx_start_batches(void)
{
	const ucp_generic_dt_ops_t disjoint = {
		.start_pack = start_packing,
		.packed_size = batch_packed_size,
		.pack = pack_batch,
		.finish = finish_packing,
	};

	ucx_check(ucp.dt_create_generic(&disjoint, NULL, &batch_datatype), "ucp_dt_create_generic");
}

void ucx_stop_batches(void)
{
	ucp.dt_destroy(batch_datatype);
}

/* --- Sending --- */

bool ucx_batch_add(struct comms_request *request, const struct network_notification *from)
{
	struct comms_batch *batch = from->batch;
	struct ucx_notification *n = ucx_notification(request);
	const struct network_piece *data = &from->piece[0];
	size_t all = batch->bytes + sizeof n->item + data->bytes;
	uint64_t event = ucx_event();
	struct ucx_peer *peer;

	if (batch->count == COMMS_BATCH_MOST || all > UCX_MESSAGE_MOST || from->piece[1].bytes > 0)
		return false;
	peer = ucx_peer(from->peer);
	n->connection = peer;
	n->key = NULL;
	n->item = (struct ucx_item){ucx_remote(peer, from->segment, data->offset),
				    ucx_remote(peer, from->flag_segment, from->flag_offset), from->value,
				    data->bytes | event << UCX_ITEM_EVENT};
	n->now = *data;
	atomic_store_explicit(&request->under_way, true, memory_order_relaxed);
	batch->request[batch->count++] = request;
	batch->bytes = all;
	return true;
}

static void complete_batch(struct comms_batch *batch)
{
	for (int i = 0; i < batch->count; i++)
		ucx_complete_request(batch->request[i]);
	atomic_store_explicit(&batch->under_way, false, memory_order_release);
}

static struct ucx_peer *batch_connection(const struct comms_batch *batch)
{
	return ucx_notification(batch->request[0])->connection;
}

static void batch_sent(void *sending, ucs_status_t status, void *argument)
{
	struct comms_batch *batch = argument;

	ucp.request_free(sending);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "several messages (ucp_am_send_nbx)", batch_connection(batch)->pe);
	complete_batch(batch);
}

void ucx_batch_send(struct comms_batch *batch)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE,
		.cb.send = batch_sent,
		.user_data = batch,
		.datatype = batch_datatype,
	};
	struct ucx_batch *mine = (void *)batch->driver;
	ucs_status_ptr_t sending;

	atomic_store_explicit(&batch->under_way, true, memory_order_relaxed);
	mine->message = (struct ucx_message){.kind = UCX_BATCH};
	sending = ucx_message_send(batch_connection(batch), &mine->message, batch, 1, &param);
	if (UCS_PTR_IS_PTR(sending)) {
		ucx_hand_over(); /* as in send_message */
		return;
	}
	ucx_must_succeed(UCS_PTR_STATUS(sending), "several messages (ucp_am_send_nbx)", batch_connection(batch)->pe);
	complete_batch(batch);
}
