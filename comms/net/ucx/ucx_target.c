/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations as messages, at their target. The thread that progresses the main worker carries them
 * out, in the order in which they were sent.
 *
 * stream  the messages of one connection of another PE, which numbers them. The target holds back a
 *         message that overtakes others, so neither the network nor UCX need keep the order.
 * due     streams whose sender waits for an acknowledgement: it gets one for all that one progress
 *         of UCX has carried out
 *
 * This file sends answers (ucx_answers.c) without the lock: sending takes UCX's lock, which the
 * thread that carries out messages already holds.
 */
#include "comms/ops/ops.h"
#include "ucx_messages.h"

#include <stdlib.h>
#include <string.h>

#include "rte/rte.h"
#include "comms/ops/buffers.h"

#define FIRST_STREAMS 64 /* a power of two */

/* A message that came too early. */
struct held {
	struct held *next;
	struct ucx_message message;
	size_t bytes;
	char data[];
};

struct stream {
	struct stream *next;	 /* in the same hash bucket */
	struct stream *next_due; /* only if due */
	uint32_t pe, number;
	uint64_t done; /* messages carried out */
	bool due;
	ucp_ep_h back;	   /* endpoint to the sender */
	uint64_t token;	   /* the sender's name for the stream */
	struct held *held; /* sorted by number */
};

static struct {
	pthread_mutex_t lock;
	struct stream **streams; /* hash table by PE and number */
	unsigned places, count;
	_Atomic(struct stream *) due;
} target = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- Acknowledgements --- */

void ucx_target_acknowledge(void)
{
	struct ucx_outgoing *first = NULL;

	if (!atomic_load_explicit(&target.due, memory_order_relaxed))
		return;
	pthread_mutex_lock(&target.lock);
	for (struct stream *stream = atomic_exchange_explicit(&target.due, NULL, memory_order_seq_cst); stream;
	     stream = stream->next_due) {
		const struct ucx_answer answer = {stream->token, stream->done, 0, 0, false, 0};

		stream->due = false;
		ucx_answer_add(&first, stream->back, &answer, NULL, 0);
	}
	pthread_mutex_unlock(&target.lock);
	ucx_answers_send(first);
}

/* A result has acknowledged all messages, and the sender has closed the connection. */
static void make_not_due(struct stream *stream)
{
	struct stream *before = atomic_load_explicit(&target.due, memory_order_seq_cst);

	if (before == stream) {
		atomic_store_explicit(&target.due, stream->next_due, memory_order_seq_cst);
		return;
	}
	while (before->next_due != stream)
		before = before->next_due;
	before->next_due = stream->next_due;
}

static void make_due(struct stream *stream)
{
	if (stream->due)
		return;
	stream->due = true;
	stream->next_due = atomic_load_explicit(&target.due, memory_order_seq_cst);
	atomic_store_explicit(&target.due, stream, memory_order_seq_cst);
}

/* --- Carrying out --- */

static uint64_t do_atomic(const struct ucx_message *message)
{
	void *word = comms_memory_of_message(message->item.word, message->width);

	if (message->width == sizeof(uint64_t))
		return comms_amo_64(message->op, word, message->item.value, message->compare);
	return comms_amo_32(message->op, word, (uint32_t)message->item.value, (uint32_t)message->compare);
}

static void do_item(const struct ucx_item *item, enum comms_amo op, const void *data)
{
	if (item->bytes > 0)
		memcpy(comms_memory_of_message(item->there, item->bytes), data, item->bytes);
	if (item->word && op == COMMS_SWAP)
		atomic_store_explicit((_Atomic uint64_t *)comms_memory_of_message(item->word, sizeof(uint64_t)),
				      item->value, memory_order_release);
	else if (item->word)
		comms_amo_64(op, comms_memory_of_message(item->word, sizeof(uint64_t)), item->value, 0);
}

static void do_batch(uint32_t pe, const char *at, size_t bytes)
{
	const char *end = at + bytes;
	struct ucx_item item;

	while (at < end) {
		memcpy(&item, at, sizeof item);
		if (COMMS_UNLIKELY(item.bytes >> UCX_ITEM_EVENT))
			trace_arrival((int)pe, (uint32_t)(item.bytes >> UCX_ITEM_EVENT));
		item.bytes = (uint32_t)item.bytes;
		do_item(&item, COMMS_SWAP, at + sizeof item);
		at += sizeof item + item.bytes;
	}
}

/* An answer to a read: short data in its header, longer data behind it. */
static void answer_read(struct stream *stream, const struct ucx_message *message, struct ucx_outgoing **answers)
{
	struct ucx_answer answer = {message->token, message->sequence, 0, 0, true, message->width};
	const void *there = comms_memory_of_message(message->item.there, message->item.bytes);

	if (message->item.bytes > sizeof answer.value) {
		ucx_answer_add(answers, stream->back, &answer, there, message->item.bytes);
		return;
	}
	memcpy(&answer.value, there, message->item.bytes);
	answer.width = (uint32_t)message->item.bytes;
	ucx_answer_add(answers, stream->back, &answer, NULL, 0);
}

/* Adds an answer if there is a result. */
static void do_message(struct stream *stream, const struct ucx_message *message, const void *data, size_t bytes,
		       struct ucx_outgoing **answers)
{
	struct ucx_answer answer = {message->token, message->sequence, 0, 0, true, message->width};

	if (COMMS_UNLIKELY(message->event))
		trace_arrival((int)message->pe, message->event);
	stream->done = message->sequence;
	switch ((enum ucx_message_kind)message->kind) {
	case UCX_HELLO:
	case UCX_CLOSE: break;
	case UCX_WRITE: do_item(&message->item, message->op, data); break;
	case UCX_BATCH: do_batch(message->pe, data, bytes); break;
	case UCX_ATOMIC: do_atomic(message); break;
	case UCX_FETCH:
		answer.value = do_atomic(message);
		ucx_answer_add(answers, stream->back, &answer, NULL, 0);
		return;
	case UCX_READ: answer_read(stream, message, answers); return;
	}
	if (message->acknowledge) {
		stream->token = message->token;
		make_due(stream);
	}
}

/*
 * Counts it after its effect is in memory: otherwise the sums of deadlock.c could be equal before a
 * waiter sees the effect.
 */
static void carry_out_message(struct stream *stream, const struct ucx_message *message, const void *data, size_t bytes,
			      struct ucx_outgoing **answers)
{
	do_message(stream, message, data, bytes, answers);
	atomic_fetch_add_explicit(&ucx.carried_out, 1, memory_order_release);
}

/* --- Streams --- */

static struct stream **stream_place(struct stream **streams, unsigned places, uint32_t pe, uint32_t number)
{
	return &streams[((pe + number * 40503U) * 2654435769U >> 7) & (places - 1)];
}

static void grow_streams(void)
{
	unsigned places = target.places ? 2 * target.places : FIRST_STREAMS;
	struct stream **streams = calloc(places, sizeof *streams), *next;

	if (!streams)
		rte_die(NULL, "no memory for the connections of other PEs");
	for (unsigned i = 0; i < target.places; i++)
		for (struct stream *stream = target.streams[i]; stream; stream = next) {
			struct stream **place = stream_place(streams, places, stream->pe, stream->number);

			next = stream->next;
			stream->next = *place;
			*place = stream;
		}
	free(target.streams);
	target.streams = streams;
	target.places = places;
}

static struct stream *find_stream(uint32_t pe, uint32_t number)
{
	struct stream **place, *stream;

	if (target.count == target.places)
		grow_streams();
	place = stream_place(target.streams, target.places, pe, number);
	for (stream = *place; stream; stream = stream->next)
		if (stream->pe == pe && stream->number == number)
			return stream;
	stream = calloc(1, sizeof *stream);
	if (!stream)
		rte_die(NULL, "no memory for a connection of PE %u", pe);
	stream->pe = pe;
	stream->number = number;
	stream->next = *place;
	*place = stream;
	target.count++;
	return stream;
}

static void forget_stream(struct stream *stream)
{
	struct stream **link = stream_place(target.streams, target.places, stream->pe, stream->number);

	if (stream->due)
		make_not_due(stream);
	while (*link != stream)
		link = &(*link)->next;
	*link = stream->next;
	target.count--;
	free(stream);
}

static void hold_message(struct stream *stream, const struct ucx_message *message, const void *data, size_t bytes)
{
	struct held *held = malloc(sizeof *held + bytes), **link = &stream->held;

	if (!held)
		rte_die(NULL, "no memory for a message of PE %u", stream->pe);
	held->message = *message;
	held->bytes = bytes;
	if (bytes > 0)
		memcpy(held->data, data, bytes);
	while (*link && (*link)->message.sequence < message->sequence)
		link = &(*link)->next;
	held->next = *link;
	*link = held;
}

/* Carries out the message, and those that waited for it. */
static void carry_out_in_order(struct stream *stream, const struct ucx_message *message, const void *data, size_t bytes,
			       struct ucx_outgoing **answers)
{
	bool closed = message->kind == UCX_CLOSE;
	struct held *held;

	carry_out_message(stream, message, data, bytes, answers);
	while ((held = stream->held) && held->message.sequence == stream->done + 1) {
		stream->held = held->next;
		closed = held->message.kind == UCX_CLOSE;
		carry_out_message(stream, &held->message, held->data, held->bytes, answers);
		free(held);
	}
	if (closed)
		forget_stream(stream);
}

static void take_message(const struct ucx_message *message, const void *data, size_t bytes, ucp_ep_h back)
{
	struct ucx_outgoing *answers = NULL;
	struct stream *stream;

	pthread_mutex_lock(&target.lock);
	stream = find_stream(message->pe, message->stream);
	if (back)
		stream->back = back;
	if (message->sequence == stream->done + 1)
		carry_out_in_order(stream, message, data, bytes, &answers);
	else
		hold_message(stream, message, data, bytes);
	pthread_mutex_unlock(&target.lock);
	ucx_answers_send(answers);
}

/* These two run in any thread that progresses the main worker. */
static ucs_status_t take_request(void *unused, const void *header, size_t header_bytes, void *data, size_t bytes,
				 const ucp_am_recv_param_t *param)
{
	struct ucx_message message;

	(void)unused, (void)header_bytes, (void)param;
	memcpy(&message, header, sizeof message);
	take_message(&message, data, bytes, NULL);
	return UCS_OK;
}

static ucs_status_t take_hello(void *unused, const void *header, size_t header_bytes, void *data, size_t bytes,
			       const ucp_am_recv_param_t *param)
{
	struct ucx_message message;

	(void)unused, (void)header, (void)header_bytes, (void)bytes;
	memcpy(&message, data, sizeof message);
	take_message(&message, NULL, 0, param->reply_ep);
	return UCS_OK;
}

void ucx_target_start(void)
{
	ucx_take_by(ucx.main.worker, UCX_REQUEST, take_request);
	ucx_take_by(ucx.main.worker, UCX_FIRST, take_hello);
}

void ucx_target_stop(void)
{
	for (unsigned i = 0; i < target.places; i++)
		for (struct stream *stream = target.streams[i], *next; stream; stream = next) {
			next = stream->next;
			free(stream);
		}
	free(target.streams);
	target.streams = NULL;
	target.places = target.count = 0;
	atomic_store_explicit(&target.due, NULL, memory_order_seq_cst);
}
