/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of the UCX path, each on a channel: by UCX's puts and gets, or as messages
 * (ucx_messages.h).
 */
#include <stdio.h>
#include <string.h>

#include "comms/ops/ops.h"
#include "ucx_messages.h"

/* --- By UCX's puts and gets --- */

/* Runs in any thread that progresses the worker. */
static void operation_done(void *request, ucs_status_t status, void *argument)
{
	struct mark *mark = argument;
	struct comms_channel *channel = mark_channel(mark);

	ucp.request_free(request);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "a nonblocking put or get", mark->peer->pe);
	channel_count(channel, &channel->unsent, -1);
}

/*
 * Counts a nonblocking operation that no thread waits for by itself, and returns its parameters. It
 * counts before the call: the callback of an operation that UCX has not finished may run at any
 * time, also before this thread sees the request.
 */
static ucp_request_param_t count_unsent(struct mark *mark)
{
	struct comms_channel *channel = mark_channel(mark);

	channel_count(channel, &channel->unsent, 1);
	return (ucp_request_param_t){
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = operation_done,
		.user_data = mark,
	};
}

/* Call after an operation with the parameters of count_unsent. */
static void operation_started(struct mark *mark, ucs_status_ptr_t request, const char *what)
{
	struct comms_channel *channel = mark_channel(mark);

	if (!UCS_PTR_IS_PTR(request))
		channel_count(channel, &channel->unsent, -1); /* UCX calls no callback */
	channel_touch(mark);
	if (UCS_PTR_IS_ERR(request))
		ucx_must_succeed(UCS_PTR_STATUS(request), what, mark->peer->pe);
}

void ucx_put_by_rma(struct mark *mark, ucp_rkey_h key, const struct network_piece *data, bool nbi)
{
	ucp_request_param_t param;

	if (nbi) {
		param = count_unsent(mark);
		operation_started(mark,
				  ucp.put_nbx(mark->peer->endpoint, data->source, data->bytes, data->offset, key,
					      &param),
				  "a nonblocking put (ucp_put_nbx)");
		return;
	}
	ucx_must_succeed(channel_finish(mark_channel(mark), ucp.put_nbx(mark->peer->endpoint, data->source, data->bytes,
									data->offset, key, &ucx_plain)),
			 "a put (ucp_put_nbx)", mark->peer->pe);
	channel_touch(mark);
}

static void get_by_ucx(struct mark *mark, ucp_rkey_h key, uint64_t source, void *dest, size_t bytes, bool nbi)
{
	ucp_request_param_t param;

	if (nbi) {
		param = count_unsent(mark);
		operation_started(mark, ucp.get_nbx(mark->peer->endpoint, dest, bytes, source, key, &param),
				  "a nonblocking get (ucp_get_nbx)");
		return;
	}
	ucx_must_succeed(channel_finish(mark_channel(mark),
					ucp.get_nbx(mark->peer->endpoint, dest, bytes, source, key, &ucx_plain)),
			 "a get (ucp_get_nbx)", mark->peer->pe);
}

/* --- The operations --- */

static void ucx_put(struct comms_channel *channel, const struct comms_place *there, const void *source, size_t bytes,
		    bool nbi)
{
	uint32_t event = ucx_event();
	struct mark *mark = channel_begin(&channel, there->peer);
	struct ucx_peer *peer = mark->peer;
	const struct network_piece data = {ucx_remote(peer, there->segment, there->offset), source, bytes};

	channel_order(mark);
	if (ucx_key(peer, there->segment))
		ucx_put_by_rma(mark, ucx_key(peer, there->segment), &data, nbi);
	else
		ucx_message_write(mark, (struct ucx_item){data.offset, 0, 0, bytes}, COMMS_SWAP, source, nbi, event);
	channel_end(mark);
}

static void ucx_get(struct comms_channel *channel, const struct comms_place *there, void *dest, size_t bytes, bool nbi)
{
	struct mark *mark = channel_begin(&channel, there->peer);
	struct ucx_peer *peer = mark->peer;
	uint64_t source = ucx_remote(peer, there->segment, there->offset);

	if (ucx_key(peer, there->segment))
		get_by_ucx(mark, ucx_key(peer, there->segment), source, dest, bytes, nbi);
	else
		ucx_message_read(mark, source, dest, bytes, nbi);
	channel_end(mark);
}

static void ucx_amo_fetch(struct comms_channel *channel, const struct comms_place *there,
			  const struct comms_atomic *atomic, void *result, bool nbi)
{
	uint32_t event = ucx_event();
	struct mark *mark = channel_begin(&channel, there->peer);
	const struct ucx_message message = {
		.op = (uint8_t)atomic->op,
		.width = (uint8_t)atomic->width,
		.event = event,
		.compare = atomic->compare,
		.item = {.word = ucx_remote(mark->peer, there->segment, there->offset), .value = atomic->operand},
	};

	channel_flush_puts(mark);
	ucx_message_fetch(mark, &message, result, nbi);
	channel_end(mark);
}

static void ucx_amo(struct comms_channel *channel, const struct comms_place *there, const struct comms_atomic *atomic)
{
	uint32_t event = ucx_event();
	struct mark *mark = channel_begin(&channel, there->peer);

	channel_flush_puts(mark);
	ucx_message_atomic(mark, atomic, ucx_remote(mark->peer, there->segment, there->offset), event);
	channel_end(mark);
}

/* If a NIC carries out UCX's puts, they are in none of these counts. */
static void ucx_count_traffic(struct comms_traffic *traffic)
{
	traffic->carried_out = atomic_load_explicit(&ucx.carried_out, memory_order_acquire);
	traffic->sent = atomic_load_explicit(&ucx.sent, memory_order_relaxed);
	traffic->pending = atomic_load_explicit(&ucx.results, memory_order_relaxed) > 0 ||
			   atomic_load_explicit(&ucx.partial, memory_order_relaxed) > 0;
	traffic->notify = 1;
	traffic->blind = ucx.rma;
}

/* Writes "; operations under way to PEs 1, 3", or nothing. */
static void ucx_name_under_way(char *text, size_t size)
{
	size_t used = 0;
	int count = 0;

	text[0] = '\0';
	for (int pe = 0; pe < comms.n_pes; pe++) {
		struct ucx_peer *peer = peer_ucx(comms_peer(pe));

		if (!peer || !(atomic_load_explicit(&peer->mark.touched, memory_order_seq_cst) ||
			       atomic_load_explicit(&peer->mark.in_flush, memory_order_seq_cst)))
			continue;
		used += (size_t)snprintf(text + used, size - used,
					 count++ ? ", %d" : "; operations under way to PEs %d", pe);
		if (used + sizeof ", ..., 158976" > size) {
			snprintf(text + used, size - used, ", ...");
			return;
		}
	}
}

const struct comms_network ucx_network = {
	.name = "UCX",
	.traits = NETWORK_RECORDS_ARRIVALS,
	.row = ROW_UCX,
	.start = ucx_start,
	.describe = ucx_describe,
	.open = ucx_open,
	.finish = ucx_finish,
	.rest = ucx_rest,
	.forget = ucx_forget,
	.stop = ucx_stop,
	.channel_open = ucx_channel_open,
	.channel_close = ucx_channel_close,
	.put = ucx_put,
	.get = ucx_get,
	.amo = ucx_amo,
	.amo_fetch = ucx_amo_fetch,
	.notify = ucx_notify,
	.fence = ucx_fence,
	.quiet = ucx_quiet,
	.quiet_pes = ucx_quiet_pes,
	.complete = ucx_complete,
	.progress = ucx_progress,
	.served = ucx_served,
	.has_second_cables = ucx_filter_connects,
	.count_traffic = ucx_count_traffic,
	.sent_to = ucx_sent_to,
	.name_under_way = ucx_name_under_way,
	.connections = ucx_filter_text,
	.threads = ucx_threads_text,
	.batching = &(const struct network_batching){ucx_batch_send},
	.buffers = &(const struct network_buffers){ucx_share, ucx_unshare, ucx_get_buffer},
	.blocking = &(const struct network_blocking){ucx_wait_blocking, ucx_wake_server},
};
