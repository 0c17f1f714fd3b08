/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of the Tofu path.
 *
 * Order: the network promises none, except among communications that request strong order.
 * Notifications (tofu_notify.c) and atomics request it, because programs rely on their order. A
 * fence waits until everything has arrived, which costs a round trip. Completion: a channel counts
 * an operation until the NIC reports its arrival. It counts a notification with a completion number
 * until it has been sent, because the target's NIC reports the arrival there. Atomics: the NIC's.
 * They are not atomic with the processor's, so PEs of a node use the NIC's, too, and each even for
 * its own memory (comms.network_atomics).
 */
#include "comms/ops/ops.h"
#include "tofu_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/wait/wait.h"
#include "comms/ops/buffers.h"
#include "comms/observe/counters.h"

#define LONGEST_WAIT 100000L /* ns */

/* Memory that the program has registered. */
static bool find_buffer(const struct tofu_queue *queue, const void *memory, size_t bytes, utofu_stadd_t *stadd)
{
	struct comms_buffer found;

	if (!comms_buffer_find(memory, bytes, &found))
		return false;
	*stadd = found.network[queue - tofu.queue] + ((uint64_t)(uintptr_t)memory - found.base);
	return true;
}

/* Memory of this PE that is registered beyond the current operation. */
static bool find_registered(const struct tofu_queue *queue, const void *memory, size_t bytes, utofu_stadd_t *stadd)
{
	enum comms_segment_id id = comms_find_segment(memory);
	size_t offset;

	if (id == COMMS_NO_SEGMENT)
		return find_buffer(queue, memory, bytes, stadd);
	offset = (size_t)((const char *)memory - comms.segments[id].base);
	*stadd = offset + (id < COMMS_FIXED_SEGMENTS ? queue->memory[id] : comms_region_words(id)[queue - tofu.queue]);
	return bytes <= comms.segments[id].size - offset;
}

static size_t next_piece_bytes(size_t bytes)
{
	return bytes < tofu.most_bytes ? bytes : tofu.most_bytes;
}

/* --- Puts --- */

static void put_piece(const struct tofu_counters *counters, struct transfer transfer, const char *source)
{
	struct tofu_request *request = tofu_request_begin(counters, transfer.peer);

	if (transfer.bytes <= tofu.most_small) {
		transfer.kind = TRANSFER_SMALL_PUT;
		transfer.data = source;
	} else if (find_registered(request->queue, source, transfer.bytes, &transfer.here)) {
		request->reports_sent = request->sent != NULL;
	} else if (transfer.bytes <= TOFU_STAGING) {
		memcpy(tofu_request_staging(request, &transfer.here), source, transfer.bytes);
	} else {
		tofu_request_register(request, (void *)(uintptr_t)source, transfer.bytes, true, &transfer.here);
	}
	/* The data has been copied, or the call below copies it. */
	if (!request->reports_sent && !request->is_registered && request->sent) {
		atomic_fetch_sub_explicit(request->sent, 1, memory_order_seq_cst);
		request->sent = NULL;
	}
	tofu_request_start(request, &transfer);
}

void tofu_start_puts(const struct tofu_counters *counters, struct comms_peer *peer, utofu_stadd_t there,
		     const struct network_piece *data)
{
	size_t bytes = data->bytes;

	for (size_t at = 0; at < bytes; at += next_piece_bytes(bytes - at))
		put_piece(counters,
			  (struct transfer){
				  .kind = TRANSFER_PUT,
				  .peer = peer,
				  .there = there + at,
				  .bytes = next_piece_bytes(bytes - at),
				  .flags = counters->flags,
				  .notice = at + next_piece_bytes(bytes - at) == bytes ? counters->notice : 0,
			  },
			  (const char *)data->source + at);
}

static void tofu_put(struct comms_channel *channel, const struct comms_place *there, const void *source, size_t bytes,
		     bool nbi)
{
	atomic_int sent = 0;
	struct tofu_counters counters = {.arrived = tofu_pending(channel), .sent = nbi ? NULL : &sent};

	tofu_start_puts(&counters, there->peer, tofu_remote(there), &(struct network_piece){0, source, bytes});
	tofu_wait_for(&sent);
}

/* --- Gets --- */

static void get_piece(const struct tofu_counters *counters, struct transfer transfer, char *dest)
{
	struct tofu_request *request = tofu_request_begin(counters, transfer.peer);

	if (find_registered(request->queue, dest, transfer.bytes, &transfer.here)) {
		request->result = NULL;
	} else if (transfer.bytes <= TOFU_STAGING) {
		tofu_request_staging(request, &transfer.here);
		request->result = dest;
		request->result_bytes = transfer.bytes;
	} else {
		tofu_request_register(request, dest, transfer.bytes, false, &transfer.here);
	}
	tofu_request_start(request, &transfer);
}

static void tofu_start_gets(const struct tofu_counters *counters, struct comms_peer *peer, utofu_stadd_t there,
			    char *dest, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += next_piece_bytes(bytes - at))
		get_piece(counters,
			  (struct transfer){
				  .kind = TRANSFER_GET,
				  .peer = peer,
				  .there = there + at,
				  .bytes = next_piece_bytes(bytes - at),
			  },
			  dest + at);
}

static void tofu_get(struct comms_channel *channel, const struct comms_place *there, void *dest, size_t bytes, bool nbi)
{
	atomic_int here = 0;
	struct tofu_counters counters = {.arrived = nbi ? tofu_pending(channel) : &here};

	tofu_start_gets(&counters, there->peer, tofu_remote(there), dest, bytes);
	tofu_wait_for(&here);
}

static void tofu_get_buffer(struct comms_request *request, struct comms_peer *peer, const struct comms_buffer *buffer,
			    size_t offset, struct comms_piece *to)
{
	struct tofu_counters counters = tofu_begin_request(request);

	tofu_start_gets(&counters, peer, tofu_buffer(peer, buffer, offset), to->dest, to->bytes);
	tofu_end_beginning(request);
}

/* --- Atomics --- */

void tofu_atomic(const struct tofu_counters *counters, const struct comms_place *there,
		 const struct comms_atomic *atomic, void *result)
{
	struct tofu_request *request = tofu_request_begin(counters, there->peer);
	struct transfer transfer = {
		.kind = TRANSFER_ATOMIC,
		.peer = there->peer,
		.there = tofu_remote(there),
		.bytes = atomic->width,
		.op = atomic->op,
		.operand = atomic->operand,
		.cond = atomic->compare,
		.flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER,
	};

	request->result = result;
	request->result_bytes = atomic->width;
	tofu_request_start(request, &transfer);
}

static void tofu_amo(struct comms_channel *channel, const struct comms_place *there, const struct comms_atomic *atomic)
{
	struct tofu_counters counters = {.arrived = tofu_pending(channel)};

	tofu_atomic(&counters, there, atomic, NULL);
}

static void tofu_amo_fetch(struct comms_channel *channel, const struct comms_place *there,
			   const struct comms_atomic *atomic, void *result, bool nbi)
{
	atomic_int here = 0;
	struct tofu_counters counters = {.arrived = nbi ? tofu_pending(channel) : &here};

	tofu_atomic(&counters, there, atomic, result);
	tofu_wait_for(&here);
}

/* --- Completion --- */

static void tofu_quiet(struct comms_channel *channel)
{
	tofu_wait_for(tofu_pending(channel));
}

static void tofu_quiet_pes(struct comms_channel *channel, const int *pes, size_t n)
{
	(void)pes, (void)n;
	tofu_quiet(channel);
}

static struct comms_channel *tofu_channel_open(bool private)
{
	(void)private; /* all channels use the same queues */
	return calloc(1, sizeof(struct tofu_channel));
}

static void tofu_channel_close(struct comms_channel *channel)
{
	tofu_quiet(channel);
	free(channel);
}

/* The NIC needs no help, here or at the target. */
static bool tofu_served(void)
{
	return true;
}

static void tofu_count_traffic(struct comms_traffic *traffic)
{
	traffic->carried_out = atomic_load_explicit(&tofu.received, memory_order_relaxed);
	traffic->sent = atomic_load_explicit(&tofu.unconfirmed, memory_order_relaxed);
	traffic->pending = atomic_load_explicit(&tofu.under_way, memory_order_relaxed) > 0 ||
			   atomic_load_explicit(&tofu.sessions, memory_order_relaxed) > 0;
}

static void tofu_name_under_way(char *text, size_t size)
{
	int count = atomic_load_explicit(&tofu.under_way, memory_order_seq_cst), last = -1;

	text[0] = '\0';
	for (int i = 1; i <= TOFU_REQUESTS && count > 0; i++) {
		int pe = atomic_load_explicit(&tofu.under_way_to[i], memory_order_relaxed) - 1;

		last = pe >= 0 ? pe : last;
	}
	if (last >= 0)
		snprintf(text, size, "; %d operations under way, one of them to PE %d", count, last);
}

const struct comms_network tofu_network = {
	.name = "Tofu",
	.traits = NETWORK_OWN_ATOMICS,
	.row = ROW_TOFU,
	.longest_wait = LONGEST_WAIT,
	.find = tofu_find,
	.start = tofu_start,
	.describe = tofu_describe,
	.connect = tofu_connect,
	.finish = tofu_complete,
	.forget = tofu_forget,
	.stop = tofu_stop,
	.leave = tofu_leave,
	.channel_open = tofu_channel_open,
	.channel_close = tofu_channel_close,
	.put = tofu_put,
	.get = tofu_get,
	.amo = tofu_amo,
	.amo_fetch = tofu_amo_fetch,
	.notify = tofu_notify,
	.fence = tofu_quiet,
	.quiet = tofu_quiet,
	.quiet_pes = tofu_quiet_pes,
	.complete = tofu_complete,
	.progress = tofu_progress,
	.served = tofu_served,
	.count_traffic = tofu_count_traffic,
	.name_under_way = tofu_name_under_way,
	.completions =
		&(const struct network_completions){tofu_completion_listen, tofu_completion_release, tofu_needed},
	.collectives = &(const struct network_collectives){tofu_gates_barrier, tofu_gates_reduce, tofu_gates_part},
	.offload =
		&(const struct network_offload){
			.open = tofu_session_open,
			.write = tofu_session_write,
			.open_edges = tofu_session_open_edges,
			.write_edges = tofu_session_write_edges,
			.start = tofu_session_start,
			.is_over = tofu_session_is_over,
			.close = tofu_session_close,
		},
	.buffers = &(const struct network_buffers){tofu_share, tofu_unshare, tofu_get_buffer},
	.map = &tofu_map,
};
