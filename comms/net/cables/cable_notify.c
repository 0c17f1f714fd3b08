/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications: a put for each piece, the last of which carries the flag. Also buffers. */
#include "cable_inside.h"

static struct cable_message *piece_message(const struct network_notification *n, int i, bool copied)
{
	const struct comms_place place = {n->peer, n->segment, n->piece[i].offset};
	const uint64_t there = n->buffer && i == 0 ? n->buffer->base + n->piece[0].offset : cable_place(&place);

	return cable_put_message(n->peer->pe, n->piece[i].bytes ? there : 0, n->piece[i].source, n->piece[i].bytes,
				 copied);
}

static void add_flag(struct cable_message *message, const struct network_notification *n)
{
	if (n->flag_offset == COMMS_NO_FLAG)
		return;
	message->header.op = (uint8_t)(n->counted ? n->op : COMMS_SWAP);
	message->header.word = cable_place(&(struct comms_place){n->peer, n->flag_segment, n->flag_offset});
	message->header.value = n->value;
}

void cable_notify(struct comms_request *request, const struct network_notification *n)
{
	const bool two = n->piece[0].bytes > 0 && n->piece[1].bytes > 0;
	const bool keeps = !request && !n->nbi; /* the source may be reused on return */
	const int flow = n->second_cable && request;
	atomic_int waiter = 0;

	if (request)
		atomic_store_explicit(&request->under_way, true, memory_order_relaxed);
	for (int i = two ? 0 : n->piece[1].bytes > 0; i < 2; i++) {
		const bool copied = keeps && n->piece[i].bytes <= CABLE_COPIED, last = !two || i == 1;
		struct cable_message *message = piece_message(n, i, copied);

		if (keeps && !copied) {
			message->sent = &waiter;
			atomic_fetch_add_explicit(&waiter, 1, memory_order_relaxed);
		}
		if (n->counted) {
			message->pending = cable_pending(n->channel);
			atomic_fetch_add_explicit(message->pending, 1, memory_order_relaxed);
		}
		if (last) {
			add_flag(message, n);
			message->request = request;
		}
		cable_submit(message, flow, !request);
		if (last)
			break;
	}
	cable_wait_for(&waiter);
}

/* --- Memory beyond heap and global data: messages name it by its address --- */

static void *share_buffer(struct comms_buffer *buffer, const char *routine)
{
	(void)buffer, (void)routine;
	return NULL;
}

static void unshare_buffer(const struct comms_buffer *buffer, void *handle)
{
	(void)buffer, (void)handle;
}

static void get_from_buffer(struct comms_request *request, struct comms_peer *peer, const struct comms_buffer *buffer,
			    size_t offset, struct comms_piece *to)
{
	struct cable_message *read = cable_read_message(peer->pe, buffer->base + offset, to->dest, to->bytes);

	atomic_store_explicit(&request->under_way, true, memory_order_relaxed);
	read->request = request;
	cable_submit(read, 0, false);
}

const struct network_buffers cable_buffers = {share_buffer, unshare_buffer, get_from_buffer};
