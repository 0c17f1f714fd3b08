/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour exchange: sending the messages of an iteration. exchange.h explains words and rules. */
#include "comms/core/device.h"
#include "exchange.h"

#include <string.h>

#include "comms/core/copy.h"
#include "comms/wait/wait.h"
#include "comms/observe/counters.h"

#define COPIED 8192 /* bytes */

/* Has the neighbour released the earlier message in this one's slot? */
static bool has_room(struct edge *edge, uint64_t number)
{
	uint64_t next = edge->waited + 1, notified;
	struct message *early = edge->in[next % SLOTS];

	if (number <= edge->credit + SLOTS)
		return true;
	notified = atomic_load_explicit(&edge->mine->released, memory_order_acquire);
	if (edge->receive_bytes > 0 && atomic_load_explicit(&early->number, memory_order_acquire) == next &&
	    early->released > notified)
		notified = early->released;
	if (notified > edge->credit)
		edge->credit = notified;
	return number <= edge->credit + SLOTS;
}

static bool slot_is_sent(const struct edge *edge, int s)
{
	return !comms_request_is_under_way(&edge->request[s]) &&
	       (COMMS_LIKELY(!edge->parts[s]) || comms_list_is_over(edge->parts[s]));
}

void exchange_await_sent(const struct edge *edge, int s, const char *routine)
{
	if (slot_is_sent(edge, s))
		return;
	hang_note_peer(routine, "an answer of", edge->pe);
	COMMS_WAIT(edge->parts[s] ? COMMS_ANYWHERE : COMMS_NOWHERE, slot_is_sent(edge, s));
}

static void await_sent(const struct edge *edge, int s)
{
	exchange_await_sent(edge, s, "shmemx_exchange_start");
}

/* Waits until the slot of the next message is free. */
static struct message *claim_slot(const struct shmemx_exchange *x, struct edge *edge, const char *routine)
{
	uint64_t number = edge->started + 1;
	int s = (int)(number % SLOTS);

	if (edge->each_iteration)
		exchange_check_number(x, &x->sending, number, routine);
	if (!has_room(edge, number)) {
		hang_note_peer(routine, "a release of", edge->pe);
		COMMS_WAIT(edge->receive_bytes > 0 ? COMMS_ANYWHERE : &edge->mine->released, has_room(edge, number));
	}
	if (edge->slot_here[s])
		return edge->slot_here[s];
	await_sent(edge, s);
	if (edge->one_out)
		await_sent(edge, !s);
	return edge->out[s];
}

/* NULL: misuse. */
static struct edge *edge_that_sends(struct shmemx_exchange *x, int i, const char *routine)
{
	struct edge *edge = exchange_edge(x, i, routine);

	if (COMMS_LIKELY(edge && edge->send_bytes > 0))
		return edge;
	if (edge)
		rte_misuse(routine, "edge=%d carries no messages to PE %d: its send_bytes is 0", i, edge->pe);
	return NULL;
}

API void *shmemx_exchange_buffer(shmemx_exchange_t exchange, int edge)
{
	if (!exchange && rte_is_broken())
		return NULL; /* it could not be created */
	struct edge *e = edge_that_sends(exchange, edge, __func__);

	if (!e)
		return NULL;
	if (!e->filled)
		e->filled = claim_slot(exchange, e, __func__);
	return (char *)e->filled + e->payload;
}

static struct message *begin_message(struct shmemx_exchange *x, struct edge *edge, size_t bytes, const char *routine)
{
	struct message *message = edge->filled ? edge->filled : claim_slot(x, edge, routine);

	if (COMMS_UNLIKELY(comms.observed))
		counters_message(edge->slot_here[0] ? ROW_LOCAL : counters_row_of_network(), edge->pe, bytes,
				 &edge->slot[(edge->started + 1) % SLOTS]->number, edge->started + 1);
	edge->filled = NULL;
	edge->started++;
	edge->sent_bytes = bytes;
	if (edge->each_iteration)
		exchange_end_iteration(&x->sending);
	message->bytes = exchange_goes_in_parts(edge, bytes) ? bytes | PARTED : bytes;
	message->released = edge->released;
	return message;
}

/*
 * Starts the notification that takes a message to its slot: data, then the number, or the
 * completion that the neighbour's network reports.
 */
static void notify_slot(struct edge *edge, uint64_t number, struct comms_notification notification, const char *routine)
{
	int s = (int)(number % SLOTS);

	notification.pe = edge->pe;
	notification.routine = routine;
	notification.by_network = comms.loopback;
	notification.completion = edge->their_completion[s];
	if (!notification.completion)
		notification.flag = (struct comms_flag){&edge->slot[s]->number, number};
	comms_put_notify_start(&edge->request[s], &notification);
}

/* Adds the message to the batch unless that is NULL. */
static void start_message(struct shmemx_exchange *x, struct edge *edge, size_t bytes, struct comms_batch *batch,
			  const char *routine)
{
	struct message *message = begin_message(x, edge, bytes, routine);
	uint64_t number = edge->started;
	int s = (int)(number % SLOTS);
	bool parted = exchange_goes_in_parts(edge, bytes);
	size_t all = edge->payload - offsetof(struct message, bytes) + (parted ? edge->direct : bytes);

	if (COMMS_LIKELY(message == edge->slot_here[s])) {
		atomic_store_explicit(&message->number, number, memory_order_release);
		comms_wake_at(edge->peer, &edge->slot[s]->number, sizeof number);
		return;
	}
	notify_slot(edge, number,
		    (struct comms_notification){.piece = {{&edge->slot[s]->bytes, &message->bytes, all}},
						.batch = batch},
		    routine);
	if (parted)
		comms_list_start(edge->parts[s]);
}

/* Can it start without waiting? */
static bool can_start(struct edge *edge)
{
	uint64_t number = edge->started + 1;
	int s = (int)(number % SLOTS);

	if (edge->send_bytes == 0 || edge->filled)
		return true;
	return has_room(edge, number) &&
	       (edge->slot_here[s] || (slot_is_sent(edge, s) && (!edge->one_out || slot_is_sent(edge, !s))));
}

/*
 * Returns false if some edge must wait: a batched message that waits for another's slot may be the
 * one that the neighbour waits for.
 */
static bool open_batches(struct shmemx_exchange *x)
{
	int parity = x->batch_parity;

	for (int i = 0; i < x->n_edges; i++)
		if (!can_start(&x->edges[i]))
			return false;
	for (int b = 0; b < x->n_batches; b++)
		if (atomic_load_explicit(&x->batches[b].epoch[parity].under_way, memory_order_acquire))
			return false;
	for (int b = 0; b < x->n_batches; b++) {
		x->batches[b].epoch[parity].count = 0;
		x->batches[b].epoch[parity].bytes = 0;
	}
	return true;
}

static size_t message_bytes(const struct edge *edge, size_t most)
{
	return most < edge->send_bytes ? most : edge->send_bytes;
}

static void start_all(struct shmemx_exchange *x, size_t most, const char *routine)
{
	bool batched = x->n_batches > 0 && open_batches(x);
	int parity = x->batch_parity;

	for (int i = 0; i < x->n_edges; i++) {
		struct edge *e = &x->edges[i];

		if (e->send_bytes > 0)
			start_message(x, e, message_bytes(e, most),
				      batched && e->batches ? &e->batches->epoch[parity] : NULL, routine);
	}
	if (!batched)
		return;
	for (int b = 0; b < x->n_batches; b++)
		comms_batch_send(&x->batches[b].epoch[parity]);
	x->batch_parity = !parity;
}

/* NULL: misuse. */
static struct edge *edge_to_send(struct shmemx_exchange *x, int i, size_t bytes, const char *routine)
{
	struct edge *edge = edge_that_sends(x, i, routine);

	if (COMMS_LIKELY(edge && bytes <= edge->send_bytes))
		return edge;
	if (edge)
		rte_misuse(routine, "bytes=%zu: edge %d carries messages of at most %zu", bytes, i, edge->send_bytes);
	return NULL;
}

static size_t bytes_of_all(const struct shmemx_exchange *x, size_t most)
{
	size_t sum = 0;

	for (int i = 0; i < x->n_edges; i++)
		sum += message_bytes(&x->edges[i], most);
	return sum;
}

API void shmemx_exchange_start(shmemx_exchange_t exchange, int edge, size_t bytes)
{
	struct edge *e;

	if (comms_call_is_refused(__func__))
		return;
	if (exchange_is_all(exchange, edge, __func__)) {
		COMMS_CALL(__func__, comms.observed ? bytes_of_all(exchange, bytes) : 0, COMMS_NOBODY);
		start_all(exchange, bytes, __func__);
		return;
	}
	e = edge_to_send(exchange, edge, bytes, __func__);
	if (!e)
		return;
	COMMS_CALL(__func__, bytes, e->pe);
	start_message(exchange, e, bytes, NULL, __func__);
}

static void copy_payload(char *to, const void *source, size_t bytes)
{
	if (comms_is_on_device(source))
		comms.device->copy(to, source, bytes);
	else
		memcpy(to, source, bytes);
}

/*
 * Moves the data once, from the user's memory to the neighbour's slot. Messages of up to COPIED
 * bytes go in one piece with the header instead, because copying them takes less time than UCX
 * takes for another piece. A message in parts goes from the exchange's own buffer, because its
 * lists are prepared for that address.
 */
API void shmemx_exchange_send(shmemx_exchange_t exchange, int edge, const void *source, size_t bytes)
{
	if (comms_call_is_refused(__func__))
		return;
	struct edge *e = edge_to_send(exchange, edge, bytes, __func__);
	if (!e)
		return;
	COMMS_CALL(__func__, bytes, e->pe);
	int s = (int)((e->started + 1) % SLOTS);
	struct comms_piece payload, header;
	struct message *message;

	if (e->slot_here[s] || bytes <= COPIED || comms_is_on_device(source) || comms.loopback ||
	    exchange_goes_in_parts(e, bytes)) {
		if (!e->filled)
			e->filled = claim_slot(exchange, e, __func__);
		copy_payload((char *)e->filled + e->payload, source, bytes);
		start_message(exchange, e, bytes, NULL, __func__);
		return;
	}
	message = begin_message(exchange, e, bytes, __func__);
	payload = (struct comms_piece){(char *)e->slot[s] + e->payload, source, bytes};
	header = (struct comms_piece){&e->slot[s]->bytes, &message->bytes,
				      offsetof(struct message, small) - sizeof message->number};
	/* The neighbour's network reports the last piece; the large one has then arrived, too. */
	if (e->their_completion[s])
		notify_slot(e, e->started, (struct comms_notification){.piece = {header, payload}}, __func__);
	else
		notify_slot(e, e->started, (struct comms_notification){.piece = {payload, header}}, __func__);
}

API void shmemx_exchange_sent(shmemx_exchange_t exchange, int edge)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	struct edge *e;

	if (exchange_is_all(exchange, edge, __func__)) {
		for (int i = 0; i < exchange->n_edges; i++)
			shmemx_exchange_sent(exchange, i);
		return;
	}
	e = exchange_edge(exchange, edge, __func__);
	for (int s = 0; e && s < SLOTS; s++)
		await_sent(e, s);
}
