/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of the Tofu path.
 *
 * Order: the network promises none, except to communications that ask for strong order, with each other. Data whose word
 * follows asks for it, and so do atomics, whose order programs rely on. A fence waits until what was begun has arrived; that costs it a way there and back.
 * Completion: all is counted, by the channel it belongs to, until the card has said that it has arrived.
 * Atomics: the card's. Those of the processor know nothing of them, so PEs of a node use the card's, too, and each even for
 * its own memory (comms.network_atomics).
 */
#include "comms/ops/ops.h"
#include "tofu_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/wait/wait.h"

#define LONGEST_NAP 100000L /* ns */

static struct tofu_channel *channel_of(struct comms_channel *channel)
{
	return channel ? (struct tofu_channel *)channel : &tofu.main;
}

static void wait_for(atomic_int *counter)
{
	if (atomic_load_explicit(counter, memory_order_seq_cst) > 0)
		COMMS_WAIT(COMMS_NOWHERE, atomic_load_explicit(counter, memory_order_seq_cst) == 0);
}

/* Memory that the program has registered. */
static bool find_buffer(const struct tofu_queue *queue, const void *memory, size_t bytes, utofu_stadd_t *stadd)
{
	struct comms_buffer found;

	if (!comms_buffer_find(memory, bytes, &found))
		return false;
	*stadd = found.network.tofu[queue - tofu.queue] + ((uint64_t)(uintptr_t)memory - found.base);
	return true;
}

/* Memory of this PE that is registered for longer than an operation. */
static bool find_registered(const struct tofu_queue *queue, const void *memory, size_t bytes, utofu_stadd_t *stadd)
{
	enum comms_segment_id id = comms_find_segment(memory);
	size_t offset;

	if (id == COMMS_SEGMENTS)
		return find_buffer(queue, memory, bytes, stadd);
	offset = (size_t)((const char *)memory - comms.segments[id].base);
	*stadd = queue->memory[id] + offset;
	return bytes <= comms.segments[id].size - offset;
}

static size_t piece_of(size_t bytes)
{
	return bytes < tofu.most_bytes ? bytes : tofu.most_bytes;
}

/* --- Puts --- */

static void put_piece(const struct purpose *purpose, struct request request, const char *source)
{
	struct flight *flight = flight_begin(purpose, request.peer);

	if (request.bytes <= tofu.most_small) {
		request.kind = REQUEST_SMALL_PUT;
		request.data = source;
	} else if (find_registered(flight->queue, source, request.bytes, &request.here)) {
		flight->tells_sent = flight->sent != NULL;
	} else if (request.bytes <= TOFU_STAGING) {
		memcpy(flight_staging(flight, &request.here), source, request.bytes);
	} else {
		flight_register(flight, (void *)(uintptr_t)source, request.bytes, true, &request.here);
	}
	/* A copy has been made, or is made by the call below. */
	if (!flight->tells_sent && !flight->is_registered && flight->sent) {
		atomic_fetch_sub_explicit(flight->sent, 1, memory_order_seq_cst);
		flight->sent = NULL;
	}
	flight_go(flight, &request);
}

static void put_all(const struct purpose *purpose, struct comms_peer *peer, utofu_stadd_t there, const char *source, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += piece_of(bytes - at))
		put_piece(purpose,
			  (struct request){
				  .kind = REQUEST_PUT,
				  .peer = peer,
				  .there = there + at,
				  .bytes = piece_of(bytes - at),
				  .flags = purpose->flags,
				  .notice = at + piece_of(bytes - at) == bytes ? purpose->notice : 0,
			  },
			  source + at);
}

static void put_for(atomic_int *arrived, unsigned long flags, struct comms_peer *peer, enum comms_segment_id segment,
		    size_t offset, const void *source, size_t bytes, bool nbi)
{
	atomic_int sent = 0;
	struct purpose purpose = {.arrived = arrived, .sent = nbi ? NULL : &sent, .flags = flags};

	put_all(&purpose, peer, tofu_peer(peer)->memory[segment] + offset, source, bytes);
	wait_for(&sent);
}

static void put(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
		const void *source, size_t bytes, bool nbi)
{
	put_for(&channel_of(channel)->pending, 0, peer, segment, offset, source, bytes, nbi);
}

static void put_untracked(struct comms_peer *peer, enum comms_segment_id segment, size_t offset, const void *source,
			  size_t bytes)
{
	put_for(NULL, UTOFU_ONESIDED_FLAG_STRONG_ORDER, peer, segment, offset, source, bytes, false);
}

/* Strong order: the word comes behind the data. */
static void tell(struct comms_peer *peer, enum comms_segment_id segment, size_t offset, const void *source, size_t bytes,
		 enum comms_segment_id word_segment, size_t word_offset, uint64_t value)
{
	if (bytes > 0)
		put_untracked(peer, segment, offset, source, bytes);
	put_untracked(peer, word_segment, word_offset, &value, sizeof value);
}

/* The record counts itself, too, until all has been begun. */
static void begin_telling(struct comms_telling *telling)
{
	atomic_store_explicit(&telling->left, 1, memory_order_seq_cst);
	atomic_store_explicit(&telling->under_way, true, memory_order_relaxed);
}

static void end_beginning(struct comms_telling *telling)
{
	if (atomic_fetch_sub_explicit(&telling->left, 1, memory_order_seq_cst) == 1)
		atomic_store_explicit(&telling->under_way, false, memory_order_release);
}

static bool tell_later(struct comms_telling *telling, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
		       const void *source, size_t bytes, enum comms_segment_id word_segment, size_t word_offset, bool may_wait)
{
	struct purpose purpose = {.arrived = &telling->left, .telling = telling, .flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER};

	(void)may_wait;
	begin_telling(telling);
	put_all(&purpose, peer, tofu_peer(peer)->memory[segment] + offset, source, bytes);
	put_all(&purpose, peer, tofu_peer(peer)->memory[segment] + telling->more_there, telling->more.source, telling->more.bytes);
	put_all(&purpose, peer, tofu_peer(peer)->memory[word_segment] + word_offset, (const char *)&telling->value, sizeof telling->value);
	end_beginning(telling);
	return true;
}

/* One put, if nothing goes before it: the card says at the other side that it has come. */
static void tell_noted(struct comms_telling *telling, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
		       const void *source, size_t bytes, uint8_t notice)
{
	struct purpose purpose = {.arrived = &telling->left, .telling = telling, .flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER};
	utofu_stadd_t there = tofu_peer(peer)->memory[segment];

	begin_telling(telling);
	put_all(&purpose, peer, there + telling->more_there, telling->more.source, telling->more.bytes);
	purpose.notice = notice;
	put_all(&purpose, peer, there + offset, source, bytes);
	atomic_store_explicit(&tofu_peer(peer)->noted, true, memory_order_release);
	end_beginning(telling);
}

static void tell_buffer(struct comms_telling *telling, struct comms_peer *peer, const struct comms_buffer *buffer, size_t offset,
			const void *source, size_t bytes, size_t word_offset)
{
	struct purpose purpose = {.arrived = &telling->left, .telling = telling, .flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER};
	utofu_stadd_t heap = tofu_peer(peer)->memory[COMMS_HEAP];

	begin_telling(telling);
	put_all(&purpose, peer, buffer->network.tofu[tofu_peer(peer)->theirs] + offset, source, bytes);
	if (word_offset != COMMS_NO_WORD) {
		put_all(&purpose, peer, heap + telling->more_there, telling->more.source, telling->more.bytes);
		put_all(&purpose, peer, heap + word_offset, (const char *)&telling->value, sizeof telling->value);
	}
	end_beginning(telling);
}

/* --- Gets --- */

static void get_piece(const struct purpose *purpose, struct request request, char *dest)
{
	struct flight *flight = flight_begin(purpose, request.peer);

	if (find_registered(flight->queue, dest, request.bytes, &request.here)) {
		flight->result = NULL;
	} else if (request.bytes <= TOFU_STAGING) {
		flight_staging(flight, &request.here);
		flight->result = dest;
		flight->result_bytes = request.bytes;
	} else {
		flight_register(flight, dest, request.bytes, false, &request.here);
	}
	flight_go(flight, &request);
}

static void get_all(const struct purpose *purpose, struct comms_peer *peer, utofu_stadd_t there, char *dest, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += piece_of(bytes - at))
		get_piece(purpose,
			  (struct request){
				  .kind = REQUEST_GET,
				  .peer = peer,
				  .there = there + at,
				  .bytes = piece_of(bytes - at),
			  },
			  dest + at);
}

static void get(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
		void *dest, size_t bytes, bool nbi)
{
	atomic_int here = 0;
	struct purpose purpose = {.arrived = nbi ? &channel_of(channel)->pending : &here};

	get_all(&purpose, peer, tofu_peer(peer)->memory[segment] + offset, dest, bytes);
	wait_for(&here);
}

static void get_buffer(struct comms_telling *telling, struct comms_peer *peer, const struct comms_buffer *buffer, size_t offset,
		       void *dest, size_t bytes)
{
	struct purpose purpose = {.arrived = &telling->left, .telling = telling};

	begin_telling(telling);
	get_all(&purpose, peer, buffer->network.tofu[tofu_peer(peer)->theirs] + offset, dest, bytes);
	end_beginning(telling);
}

/* --- Atomics --- */

static void begin_atomic(const struct purpose *purpose, void *result, struct request *request)
{
	struct flight *flight = flight_begin(purpose, request->peer);

	request->kind = REQUEST_ATOMIC;
	request->flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER;
	flight->result = result;
	flight->result_bytes = request->bytes;
	flight_go(flight, request);
}

static void amo(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
		enum comms_amo op, size_t width, uint64_t operand)
{
	struct purpose purpose = {.arrived = &channel_of(channel)->pending};
	struct request request = {
		.peer = peer, .there = tofu_peer(peer)->memory[segment] + offset, .bytes = width, .op = op, .operand = operand};

	begin_atomic(&purpose, NULL, &request);
}

static void amo_fetch(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
		      enum comms_amo op, size_t width, uint64_t operand, uint64_t cond, void *result, bool nbi)
{
	atomic_int here = 0;
	struct purpose purpose = {.arrived = nbi ? &channel_of(channel)->pending : &here};
	struct request request = {.peer = peer,
				  .there = tofu_peer(peer)->memory[segment] + offset,
				  .bytes = width,
				  .op = op,
				  .operand = operand,
				  .cond = cond};

	begin_atomic(&purpose, result, &request);
	wait_for(&here);
}

static void put_signal(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
		       const void *source, size_t bytes, bool nbi, enum comms_segment_id word_segment, size_t word_offset,
		       enum comms_amo op, uint64_t value)
{
	struct purpose purpose = {.arrived = &channel_of(channel)->pending, .flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER};
	struct request request = {.peer = peer,
				  .there = tofu_peer(peer)->memory[word_segment] + word_offset,
				  .bytes = sizeof value,
				  .op = op,
				  .operand = value};

	put_for(purpose.arrived, purpose.flags, peer, segment, offset, source, bytes, nbi);
	begin_atomic(&purpose, NULL, &request);
}

/* --- Completion --- */

static void quiet(struct comms_channel *channel)
{
	wait_for(&channel_of(channel)->pending);
}

static void quiet_pes(struct comms_channel *channel, const int *pes, size_t n)
{
	(void)pes, (void)n;
	quiet(channel);
}

/* Where the last that went said only that it has left, one more says that all has come. */
static void complete(void)
{
	const uint64_t nothing = 0;

	for (int pe = 0; pe < comms.n_pes; pe++) {
		struct tofu_peer *peer = tofu_peer(comms_peer(pe));

		if (peer && atomic_exchange_explicit(&peer->noted, false, memory_order_seq_cst))
			put_untracked(comms_peer(pe), COMMS_HEAP, offsetof(struct comms_system, nothing), &nothing,
				      sizeof nothing);
	}
	wait_for(&tofu.under_way);
}

static struct comms_channel *channel_open(bool alone)
{
	(void)alone; /* all use the same queues */
	return calloc(1, sizeof(struct tofu_channel));
}

static void channel_close(struct comms_channel *channel)
{
	quiet(channel);
	free(channel);
}

/* The card needs nobody's help, here or at the target. */
static bool served(void)
{
	return true;
}

static void count_traffic(struct comms_traffic *traffic)
{
	traffic->carried_out = atomic_load_explicit(&tofu.heard, memory_order_relaxed);
	traffic->sent = atomic_load_explicit(&tofu.noted, memory_order_relaxed);
	traffic->pending = atomic_load_explicit(&tofu.under_way, memory_order_relaxed) > 0 ||
			   atomic_load_explicit(&tofu.sessions, memory_order_relaxed) > 0;
}

static void name_under_way(char *text, size_t size)
{
	int count = atomic_load_explicit(&tofu.under_way, memory_order_seq_cst), last = -1;

	text[0] = '\0';
	for (int i = 1; i <= TOFU_FLIGHTS && count > 0; i++) {
		int pe = atomic_load_explicit(&tofu.under_way_to[i], memory_order_relaxed) - 1;

		last = pe >= 0 ? pe : last;
	}
	if (last >= 0)
		snprintf(text, size, "; %d operations under way, one of them to PE %d", count, last);
}

const struct comms_network tofu_network = {
	.name = "Tofu",
	.find = tofu_find,
	.start = tofu_start,
	.describe = tofu_describe,
	.connect = tofu_connect,
	.finish = complete,
	.forget = tofu_forget,
	.stop = tofu_stop,
	.leave = tofu_leave,
	.map = &tofu_map,
	.has_own_atomics = true,
	.row = WATCH_TOFU,
	.longest_nap = LONGEST_NAP,
	.channel_open = channel_open,
	.channel_close = channel_close,
	.put = put,
	.put_signal = put_signal,
	.get = get,
	.amo = amo,
	.amo_fetch = amo_fetch,
	.fence = quiet,
	.quiet = quiet,
	.quiet_pes = quiet_pes,
	.tell = tell,
	.tell_later = tell_later,
	.share = tofu_share,
	.unshare = tofu_unshare,
	.tell_buffer = tell_buffer,
	.get_buffer = get_buffer,
	.handling = &(const struct comms_handling){tofu_listen, tofu_listen_no_more, tofu_needed, tell_noted},
	.complete = complete,
	.progress = tofu_progress,
	.served = served,
	.count_traffic = count_traffic,
	.name_under_way = name_under_way,
	.hardware = &(const struct comms_hardware){tofu_gates_meet, tofu_gates_reduce, tofu_gates_part},
	.offload = &(const struct comms_offload){
		.open = tofu_session_open,
		.write = tofu_session_write,
		.open_edges = tofu_session_open_edges,
		.write_edges = tofu_session_write_edges,
		.start = tofu_session_start,
		.is_over = tofu_session_is_over,
		.close = tofu_session_close,
	},
};
