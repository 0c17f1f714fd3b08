/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several tellings in one message: a message costs the kernel some 4 us on either side, whatever its length. Each goes as its item (struct comms_item)
 * and its data, one behind the other. UCX packs them into its own segment by a data type made for that: of a list of pieces it would
 * make a message for every four.
 */
#include <string.h>

#include "ucx_messages.h"

static ucp_datatype_t several;

/* --- Packing --- */

/* One piece lies at `at` in what goes, of which [from, to) is wanted. */
static size_t pack_piece(char *dest, const void *source, size_t bytes, size_t at, size_t from, size_t to)
{
	size_t begin = at > from ? at : from, end = at + bytes < to ? at + bytes : to;

	if (begin < end)
		memcpy(dest + (begin - from), (const char *)source + (begin - at), end - begin);
	return at + bytes;
}

static size_t pack_several(void *state, size_t from, void *dest, size_t most)
{
	const struct comms_together *together = state;
	size_t to = from + most < together->bytes ? from + most : together->bytes, at = 0;

	for (int i = 0; i < together->kept; i++) {
		const struct comms_telling *telling = together->telling[i];

		at = pack_piece(dest, &telling->item, sizeof telling->item, at, from, to);
		at = pack_piece(dest, telling->now.source, telling->now.bytes, at, from, to);
	}
	return to - from;
}

static void *start_to_pack(void *unused, const void *together, size_t count)
{
	(void)unused, (void)count;
	return (void *)(uintptr_t)together;
}

static size_t size_of_several(void *together)
{
	return ((struct comms_together *)together)->bytes;
}

static void finish_packing(void *together)
{
	(void)together;
}

void ucx_start_batches(void)
{
	const ucp_generic_dt_ops_t packing = {
		.start_pack = start_to_pack,
		.packed_size = size_of_several,
		.pack = pack_several,
		.finish = finish_packing,
	};

	ucx_check(ucp.dt_create_generic(&packing, NULL, &several), "ucp_dt_create_generic");
}

void ucx_stop_batches(void)
{
	ucp.dt_destroy(several);
}

/* --- Sending --- */

bool ucx_keep(struct comms_together *together, struct comms_telling *telling, struct comms_peer *to, enum comms_segment_id segment,
	      size_t offset, const void *source, size_t bytes, enum comms_segment_id word_segment, size_t word_offset)
{
	size_t all = together->bytes + sizeof telling->item + bytes;
	uint64_t event = ucx_event();
	int n = together->kept;
	struct ucx_peer *peer;

	if (n == COMMS_TOGETHER || all > UCX_MESSAGE_MOST)
		return false;
	peer = ucx_peer(to);
	telling->connection = peer;
	telling->item = (struct comms_item){ucx_remote(peer, segment, offset), ucx_remote(peer, word_segment, word_offset),
					    telling->value, bytes | event << COMMS_ITEM_EVENT};
	telling->now.source = source;
	telling->now.bytes = bytes;
	atomic_store_explicit(&telling->under_way, true, memory_order_relaxed);
	together->telling[n] = telling;
	together->bytes = all;
	together->kept = n + 1;
	return true;
}

static void rest_together(struct comms_together *together)
{
	for (int i = 0; i < together->kept; i++)
		ucx_rest_telling(together->telling[i]);
	atomic_store_explicit(&together->under_way, false, memory_order_release);
}

static void several_sent(void *request, ucs_status_t status, void *argument)
{
	struct comms_together *together = argument;

	ucp.request_free(request);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "several messages (ucp_am_send_nbx)", together->telling[0]->connection->pe);
	rest_together(together);
}

void ucx_send_kept(struct comms_together *together)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE,
		.cb.send = several_sent,
		.user_data = together,
		.datatype = several,
	};
	ucs_status_ptr_t request;

	atomic_store_explicit(&together->under_way, true, memory_order_relaxed);
	together->message = (struct comms_message){.kind = UCX_BATCH};
	request = ucx_message_send(together->telling[0]->connection, &together->message, together, 1, &param);
	if (UCS_PTR_IS_PTR(request)) {
		ucx_hand_over(); /* as in send_message */
		return;
	}
	ucx_must_succeed(UCS_PTR_STATUS(request), "several messages (ucp_am_send_nbx)", together->telling[0]->connection->pe);
	rest_together(together);
}
