/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of the UCX path, each on a channel: by UCX's puts and gets, or by messages (ucx_messages.h). */
#include <stdio.h>
#include <string.h>

#include "comms/ops/ops.h"
#include "ucx_messages.h"

/* --- By UCX's puts and gets --- */

/* Runs in whoever progresses the worker. */
static void free_when_done(void *request, ucs_status_t status, void *argument)
{
	struct mark *mark = argument;
	struct comms_channel *channel = mark_channel(mark);

	ucp.request_free(request);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "a nonblocking put or get", mark->peer->pe);
	channel_count(channel, &channel->unsent, -1);
}

/*
 * The parameters of a nonblocking operation that nobody waits for by itself. It is counted from here on: the callback of one
 * that UCX keeps may run at any time, also before we see the request.
 */
static ucp_request_param_t when_done(struct mark *mark)
{
	struct comms_channel *channel = mark_channel(mark);

	channel_count(channel, &channel->unsent, 1);
	return (ucp_request_param_t){
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = free_when_done,
		.user_data = mark,
	};
}

/* After an operation with when_done. */
static void started(struct mark *mark, ucs_status_ptr_t request, const char *what)
{
	struct comms_channel *channel = mark_channel(mark);

	if (!UCS_PTR_IS_PTR(request))
		channel_count(channel, &channel->unsent, -1); /* there will be no callback */
	channel_touch(mark);
	if (UCS_PTR_IS_ERR(request))
		ucx_must_succeed(UCS_PTR_STATUS(request), what, mark->peer->pe);
}

static void put_by_ucx(struct mark *mark, ucp_rkey_h key, uint64_t dest, const void *source, size_t bytes, bool nbi)
{
	ucp_request_param_t param;

	if (nbi) {
		param = when_done(mark);
		started(mark, ucp.put_nbx(mark->peer->endpoint, source, bytes, dest, key, &param), "a nonblocking put (ucp_put_nbx)");
		return;
	}
	ucx_must_succeed(channel_finish(mark_channel(mark),
					ucp.put_nbx(mark->peer->endpoint, source, bytes, dest, key, &ucx_plain)),
			 "a put (ucp_put_nbx)", mark->peer->pe);
	channel_touch(mark);
}

static void get_by_ucx(struct mark *mark, ucp_rkey_h key, uint64_t source, void *dest, size_t bytes, bool nbi)
{
	ucp_request_param_t param;

	if (nbi) {
		param = when_done(mark);
		started(mark, ucp.get_nbx(mark->peer->endpoint, dest, bytes, source, key, &param), "a nonblocking get (ucp_get_nbx)");
		return;
	}
	ucx_must_succeed(channel_finish(mark_channel(mark),
					ucp.get_nbx(mark->peer->endpoint, dest, bytes, source, key, &ucx_plain)),
			 "a get (ucp_get_nbx)", mark->peer->pe);
}

/* --- The operations --- */

void ucx_put(struct comms_channel *channel, struct comms_peer *to, enum comms_segment_id segment, size_t offset,
	     const void *source, size_t bytes, bool nbi)
{
	uint32_t event = ucx_event();
	struct mark *mark = channel_begin(&channel, to);
	struct ucx_peer *peer = mark->peer;
	uint64_t dest = ucx_remote(peer, segment, offset);

	channel_order(mark);
	if (peer->key[segment])
		put_by_ucx(mark, peer->key[segment], dest, source, bytes, nbi);
	else
		ucx_message_write(mark, (struct comms_item){dest, 0, 0, bytes}, COMMS_SWAP, source, nbi, event);
	channel_end(mark);
}

void ucx_get(struct comms_channel *channel, struct comms_peer *from, enum comms_segment_id segment, size_t offset,
	     void *dest, size_t bytes, bool nbi)
{
	struct mark *mark = channel_begin(&channel, from);
	struct ucx_peer *peer = mark->peer;
	uint64_t source = ucx_remote(peer, segment, offset);

	if (peer->key[segment])
		get_by_ucx(mark, peer->key[segment], source, dest, bytes, nbi);
	else
		ucx_message_read(mark, source, dest, bytes, nbi);
	channel_end(mark);
}

static void ucx_amo_fetch(struct comms_channel *channel, struct comms_peer *to, enum comms_segment_id segment, size_t offset,
			  enum comms_amo op, size_t width, uint64_t operand, uint64_t cond, void *result, bool nbi)
{
	uint32_t event = ucx_event();
	struct mark *mark = channel_begin(&channel, to);
	const struct comms_message atomic = {
		.op = (uint8_t)op,
		.width = (uint8_t)width,
		.event = event,
		.compare = cond,
		.item = {.word = ucx_remote(mark->peer, segment, offset), .value = operand},
	};

	channel_flush_puts(mark);
	ucx_message_fetch(mark, &atomic, result, nbi);
	channel_end(mark);
}

static void ucx_amo(struct comms_channel *channel, struct comms_peer *to, enum comms_segment_id segment, size_t offset,
		    enum comms_amo op, size_t width, uint64_t operand)
{
	uint32_t event = ucx_event();
	struct mark *mark = channel_begin(&channel, to);

	channel_flush_puts(mark);
	ucx_message_atomic(mark, op, width, ucx_remote(mark->peer, segment, offset), operand, event);
	channel_end(mark);
}

static void ucx_put_signal(struct comms_channel *channel, struct comms_peer *to, enum comms_segment_id segment, size_t offset,
			   const void *source, size_t bytes, bool nbi, enum comms_segment_id word_segment, size_t word_offset,
			   enum comms_amo op, uint64_t value)
{
	uint32_t event = ucx_event();
	struct mark *mark = channel_begin(&channel, to);
	struct ucx_peer *peer = mark->peer;
	struct comms_item item = {ucx_remote(peer, segment, offset), ucx_remote(peer, word_segment, word_offset), value, bytes};

	channel_order(mark);
	if (peer->key[segment]) {
		put_by_ucx(mark, peer->key[segment], item.there, source, bytes, nbi);
		channel_flush_puts(mark);
		item.bytes = 0;
	}
	ucx_message_write(mark, item, op, source, nbi, event);
	channel_end(mark);
}

/* Where puts are UCX's, only a flush tells that they have arrived. */
static void count_traffic(struct comms_traffic *traffic)
{
	traffic->carried_out = atomic_load_explicit(&ucx.carried_out, memory_order_relaxed);
	traffic->sent = atomic_load_explicit(&ucx.sent, memory_order_relaxed);
	traffic->pending = atomic_load_explicit(&ucx.results, memory_order_relaxed) > 0 ||
			   atomic_load_explicit(&ucx.partial, memory_order_relaxed) > 0;
	traffic->notify = 1;
	traffic->blind = ucx.rma;
}

/* "; operations under way to PEs 1, 3", or nothing. */
static void name_under_way(char *text, size_t size)
{
	size_t used = 0;
	int count = 0;

	text[0] = '\0';
	for (int pe = 0; pe < comms.n_pes; pe++) {
		struct ucx_peer *peer = peer_ucx(comms_peer(pe));

		if (!peer || !(atomic_load_explicit(&peer->mark.touched, memory_order_seq_cst) ||
			       atomic_load_explicit(&peer->mark.in_flush, memory_order_seq_cst)))
			continue;
		used += (size_t)snprintf(text + used, size - used, count++ ? ", %d" : "; operations under way to PEs %d", pe);
		if (used + sizeof ", ..., 158976" > size) {
			snprintf(text + used, size - used, ", ...");
			return;
		}
	}
}

const struct comms_network ucx_network = {
	.name = "UCX",
	.start = ucx_start,
	.describe = ucx_describe,
	.open = ucx_open,
	.finish = ucx_finish,
	.rest = ucx_rest,
	.forget = ucx_forget,
	.stop = ucx_stop,
	.row = WATCH_UCX,
	.records_arrivals = true,
	.connections = ucx_filter_text,
	.channel_open = ucx_channel_open,
	.channel_close = ucx_channel_close,
	.put = ucx_put,
	.put_signal = ucx_put_signal,
	.get = ucx_get,
	.amo = ucx_amo,
	.amo_fetch = ucx_amo_fetch,
	.fence = ucx_fence,
	.quiet = ucx_quiet,
	.quiet_pes = ucx_quiet_pes,
	.tell = ucx_tell,
	.tell_later = ucx_tell_later,
	.share = ucx_share,
	.unshare = ucx_unshare,
	.tell_buffer = ucx_tell_buffer,
	.get_buffer = ucx_get_buffer,
	.batching = &(const struct comms_batching){ucx_keep, ucx_send_kept},
	.complete = ucx_complete,
	.progress = ucx_progress,
	.served = ucx_served,
	.doze = ucx_doze,
	.nudge = ucx_nudge,
	.count_traffic = count_traffic,
	.name_under_way = name_under_way,
};
