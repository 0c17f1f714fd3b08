/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Telling over UCX: data, then a word that shows it. One message has both, and whoever serves the target's worker writes the data and then the
 * word. What is longer than a message goes in several, each begun when UCX has handed on the one before; the last has the word. (Several
 * in one: ucx_batch.c.)
 */
#include <string.h>

#include "comms/ops/ops.h"
#include "rte/rte.h"
#include "ucx_messages.h"
#include "comms/wait/wait.h"

static void message_sent(void *request, ucs_status_t status, void *telling);

/* One message; true: it is on its way, false: UCX keeps it, and from now on the record is message_sent's. */
static bool send_message(struct comms_telling *telling)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = message_sent,
		.user_data = telling,
	};
	struct ucx_peer *peer = telling->connection;
	struct comms_piece *now = &telling->now;
	size_t bytes = now->bytes < UCX_MESSAGE_MOST ? now->bytes : UCX_MESSAGE_MOST;
	const char *source = now->source;
	ucs_status_ptr_t request;

	/* With every message the kernel delivers, here and there. A server that got up each time would fight for UCX's lock with who sends. */
	if (bytes < now->bytes)
		ucx_visit();
	telling->message = (struct comms_message){
		.kind = UCX_WRITE,
		.op = COMMS_SWAP,
		.item = {(uint64_t)(uintptr_t)now->dest, 0, telling->value, bytes},
	};
	now->dest = (char *)now->dest + bytes;
	now->source = source + bytes;
	now->bytes -= bytes;
	if (now->bytes == 0 && telling->more.bytes > 0) {
		*now = telling->more;
		now->dest = (void *)(uintptr_t)telling->more_there;
		telling->more.bytes = 0;
	} else if (now->bytes == 0) {
		telling->message.item.word = telling->there;
		telling->message.event = telling->event;
		telling->over = true;
		atomic_fetch_sub_explicit(&ucx.partial, 1, memory_order_relaxed);
	}
	request = ucx_message_send(peer, &telling->message, source, bytes, &param);
	if (UCS_PTR_IS_PTR(request))
		return false;
	ucx_must_succeed(UCS_PTR_STATUS(request), "a message (ucp_am_send_nbx)", peer->pe);
	return true;
}

/* Are they all on their way? */
static bool send_messages(struct comms_telling *telling)
{
	while (send_message(telling))
		if (telling->over) {
			ucx_rest_telling(telling);
			return true;
		}
	return false;
}

static void message_sent(void *request, ucs_status_t status, void *argument)
{
	struct comms_telling *telling = argument;

	ucp.request_free(request);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "a message (ucp_am_send_nbx)", telling->connection->pe);
	if (status == UCS_ERR_CANCELED || telling->over)
		ucx_rest_telling(telling);
	else
		send_messages(telling);
}

static void begin(struct comms_telling *telling, struct ucx_peer *peer, uint64_t there, const void *source, size_t bytes)
{
	telling->connection = peer;
	telling->key = NULL;
	telling->over = false;
	atomic_fetch_add_explicit(&ucx.partial, 1, memory_order_relaxed);
	atomic_store_explicit(&telling->under_way, true, memory_order_relaxed);
	telling->now = (struct comms_piece){(void *)(uintptr_t)there, source, bytes};
	if (!send_messages(telling))
		ucx_hand_over(); /* this PE may compute now, and the rest must go when the socket has room */
}

bool ucx_tell_later(struct comms_telling *telling, struct comms_peer *to, enum comms_segment_id segment, size_t offset,
		    const void *source, size_t bytes, enum comms_segment_id word_segment, size_t word_offset, bool may_wait)
{
	uint32_t event = ucx_event();
	struct ucx_peer *peer = ucx_peer(to);

	(void)may_wait; /* UCX may be called from anywhere */
	telling->event = event;
	telling->there = ucx_remote(peer, word_segment, word_offset);
	telling->more_there = ucx_remote(peer, segment, telling->more_there);
	begin(telling, peer, ucx_remote(peer, segment, offset), source, bytes);
	return true;
}

void ucx_tell_buffer(struct comms_telling *telling, struct comms_peer *to, const struct comms_buffer *buffer, size_t offset,
		     const void *source, size_t bytes, size_t word_offset)
{
	uint32_t event = ucx_event();
	struct ucx_peer *peer = ucx_peer(to);

	telling->event = event;
	telling->there = word_offset == COMMS_NO_WORD ? 0 : ucx_remote(peer, COMMS_HEAP, word_offset);
	telling->more_there = ucx_remote(peer, COMMS_HEAP, telling->more_there);
	begin(telling, peer, buffer->base + offset, source, bytes);
}

void ucx_tell(struct comms_peer *to, enum comms_segment_id segment, size_t offset, const void *source, size_t bytes,
	      enum comms_segment_id word_segment, size_t word_offset, uint64_t value)
{
	struct comms_telling telling = {.value = value};

	ucx_tell_later(&telling, to, segment, offset, source, bytes, word_segment, word_offset, true);
	COMMS_WAIT(COMMS_NOWHERE, !atomic_load_explicit(&telling.under_way, memory_order_acquire));
}
