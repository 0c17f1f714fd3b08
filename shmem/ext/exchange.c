/* SPDX-License-Identifier: BSD-3-Clause */
/* Neighbour exchange: what happens in an iteration. Words and rules are in exchange.h. */
#include "exchange.h"

#include <string.h>

#include "comms/core/copy.h"
#include "comms/ops/handlers.h"
#include "comms/core/processor.h"
#include "comms/wait/wait.h"
#include "comms/observe/counters.h"

#define COPIED 8192	    /* bytes */
#define FETCHED_AHEAD 4096 /* bytes of a message; of longer ones the lines would come too early, or all at once */

static void check_alive(const struct shmemx_exchange *x, const char *routine)
{
	if (COMMS_UNLIKELY(x->destroyed))
		rte_die(routine, "exchange=%p was destroyed; use it before shmemx_exchange_destroy, or create another", (const void *)x);
}

static struct edge *edge_of(struct shmemx_exchange *x, int i, const char *routine)
{
	if (COMMS_UNLIKELY(!x))
		rte_die(routine, "exchange is SHMEMX_EXCHANGE_INVALID");
	if (COMMS_UNLIKELY((unsigned)i >= (unsigned)x->n_edges)) {
		check_alive(x, routine);
		rte_die(routine, "edge=%d: the exchange has edges 0 to %d", i, x->n_edges - 1);
	}
	return &x->edges[i];
}

/* Is it all edges that are meant? */
static bool is_all(const struct shmemx_exchange *x, int edge, const char *routine)
{
	if (edge != SHMEMX_ALL_EDGES || !x)
		return false;
	check_alive(x, routine);
	return true;
}

/* Another edge was not used in this iteration: which is it? */
static _Noreturn void complain_of_iteration(const struct shmemx_exchange *x, const struct iteration *iteration, bool sending, const char *routine)
{
	int i = 0;

	while (!x->edges[i].each_iteration || (sending ? x->edges[i].send_bytes == 0 || x->edges[i].started > iteration->over
							: x->edges[i].receive_bytes == 0 || x->edges[i].waited > iteration->over))
		i++;
	rte_die(routine, "edge=%d was not %s in iteration %llu, and the next one begins; it is marked SHMEMX_EDGE_EACH_ITERATION", i,
		sending ? "started" : "waited for", (unsigned long long)iteration->over + 1);
}

/* An edge that has the mark is about to be used: for this message, after all others were for the one before. */
static void check_number(const struct shmemx_exchange *x, const struct iteration *iteration, uint64_t number, const char *routine)
{
	if (COMMS_UNLIKELY(number > iteration->over + 1))
		complain_of_iteration(x, iteration, iteration == &x->sending, routine);
}

static void end_iteration(struct iteration *iteration)
{
	if (++iteration->done < iteration->edges)
		return;
	iteration->over++;
	iteration->done = 0;
}

/* Of an own message: has the neighbour released the one that was in its slot? */
static bool has_room(struct edge *edge, uint64_t number)
{
	uint64_t next = edge->waited + 1, notified;
	struct message *early = edge->in[next % SLOTS];

	if (number <= edge->credit + SLOTS)
		return true;
	notified = atomic_load_explicit(&edge->mine->released, memory_order_acquire);
	if (edge->receive_bytes > 0 && atomic_load_explicit(&early->number, memory_order_acquire) == next && early->released > notified)
		notified = early->released;
	if (notified > edge->credit)
		edge->credit = notified;
	return number <= edge->credit + SLOTS;
}

static void await_sent(struct edge *edge, int s)
{
	if (comms_request_is_under_way(&edge->request[s]))
		hang_note_peer("shmemx_exchange_start", "an answer of", edge->pe);
	COMMS_WAIT(COMMS_NOWHERE, !comms_request_is_under_way(&edge->request[s]));
}

/* Where the next message is to be written. */
static struct message *claim(const struct shmemx_exchange *x, struct edge *edge, const char *routine)
{
	uint64_t number = edge->started + 1;
	int s = (int)(number % SLOTS);

	if (edge->each_iteration)
		check_number(x, &x->sending, number, routine);
	if (!has_room(edge, number))
		hang_note_peer(routine, "a release of", edge->pe);
	COMMS_WAIT(edge->receive_bytes > 0 ? COMMS_ANYWHERE : &edge->mine->released, has_room(edge, number));
	if (edge->slot_here[s])
		return edge->slot_here[s];
	await_sent(edge, s);
	if (edge->one_out)
		await_sent(edge, !s);
	return edge->out[s];
}

static void must_send(const struct edge *edge, int i, const char *routine)
{
	if (COMMS_UNLIKELY(edge->send_bytes == 0))
		rte_die(routine, "edge=%d carries no messages to PE %d: its send_bytes is 0", i, edge->pe);
}

static void must_receive(const struct edge *edge, int i, const char *routine)
{
	if (COMMS_UNLIKELY(edge->receive_bytes == 0))
		rte_die(routine, "edge=%d carries no messages from PE %d: its receive_bytes is 0", i, edge->pe);
}

API void *shmemx_exchange_buffer(shmemx_exchange_t exchange, int edge)
{
	struct edge *e = edge_of(exchange, edge, __func__);

	must_send(e, edge, __func__);
	if (!e->filled)
		e->filled = claim(exchange, e, __func__);
	return (char *)e->filled + e->payload;
}

static struct message *begin(struct shmemx_exchange *x, struct edge *edge, size_t bytes, const char *routine)
{
	struct message *message = edge->filled ? edge->filled : claim(x, edge, routine);

	if (COMMS_UNLIKELY(comms.observed))
		counters_message(edge->slot_here[0] ? ROW_LOCAL : counters_row_of_network(), edge->pe, bytes,
			      &edge->slot[(edge->started + 1) % SLOTS]->number, edge->started + 1);
	edge->filled = NULL;
	edge->started++;
	edge->sent_bytes = bytes;
	if (edge->each_iteration)
		end_iteration(&x->sending);
	message->bytes = bytes;
	message->released = edge->released;
	return message;
}

/* Starts the notification that takes a message to its slot: data, then the number, or what the neighbour's network reports instead. */
static void send(struct edge *edge, uint64_t number, struct comms_notification notification, const char *routine)
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

/* With others, if batch is not NULL. */
static void start(struct shmemx_exchange *x, struct edge *edge, size_t bytes, struct comms_batch *batch, const char *routine)
{
	struct message *message = begin(x, edge, bytes, routine);
	uint64_t number = edge->started;
	int s = (int)(number % SLOTS);
	size_t all = edge->payload - offsetof(struct message, bytes) + bytes;

	if (COMMS_LIKELY(message == edge->slot_here[s])) {
		atomic_store_explicit(&message->number, number, memory_order_release);
		comms_wake_at(edge->peer, &edge->slot[s]->number, sizeof number);
		return;
	}
	send(edge, number,
	     (struct comms_notification){.piece = {{&edge->slot[s]->bytes, &message->bytes, all}}, .batch = batch}, routine);
}

static bool is_sent(const struct edge *edge, int s)
{
	return !comms_request_is_under_way(&edge->request[s]);
}

/* Can it be started without waiting for anything? */
static bool can_start(struct edge *edge)
{
	uint64_t number = edge->started + 1;
	int s = (int)(number % SLOTS);

	if (edge->send_bytes == 0 || edge->filled)
		return true;
	return has_room(edge, number) && (edge->slot_here[s] || (is_sent(edge, s) && (!edge->one_out || is_sent(edge, !s))));
}

/* A message that is kept while another's slot is waited for may be the one that the neighbour waits for. So: only if none has to wait. */
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
			start(x, e, message_bytes(e, most), batched && e->batches ? &e->batches->epoch[parity] : NULL, routine);
	}
	if (!batched)
		return;
	for (int b = 0; b < x->n_batches; b++)
		comms_batch_send(&x->batches[b].epoch[parity]);
	x->batch_parity = !parity;
}

static struct edge *edge_to_send(struct shmemx_exchange *x, int i, size_t bytes, const char *routine)
{
	struct edge *edge = edge_of(x, i, routine);

	must_send(edge, i, routine);
	if (COMMS_UNLIKELY(bytes > edge->send_bytes))
		rte_die(routine, "bytes=%zu: edge %d carries messages of at most %zu", bytes, i, edge->send_bytes);
	return edge;
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

	if (is_all(exchange, edge, __func__)) {
		COMMS_CALL(__func__, comms.observed ? bytes_of_all(exchange, bytes) : 0, COMMS_NOBODY);
		start_all(exchange, bytes, __func__);
		return;
	}
	e = edge_to_send(exchange, edge, bytes, __func__);
	COMMS_CALL(__func__, bytes, e->pe);
	start(exchange, e, bytes, NULL, __func__);
}

/*
 * From where the user has it: once, to the neighbour's slot. What is small goes faster in one piece with the header, and so does
 * what is not large: a copy takes less time than UCX takes for a piece.
 */
API void shmemx_exchange_send(shmemx_exchange_t exchange, int edge, const void *source, size_t bytes)
{
	struct edge *e = edge_to_send(exchange, edge, bytes, __func__);
	COMMS_CALL(__func__, bytes, e->pe);
	int s = (int)((e->started + 1) % SLOTS);
	struct comms_piece payload, header;
	struct message *message;

	if (e->slot_here[s] || bytes <= COPIED || comms.loopback) {
		if (!e->filled)
			e->filled = claim(exchange, e, __func__);
		memcpy((char *)e->filled + e->payload, source, bytes);
		start(exchange, e, bytes, NULL, __func__);
		return;
	}
	message = begin(exchange, e, bytes, __func__);
	payload = (struct comms_piece){(char *)e->slot[s] + e->payload, source, bytes};
	header = (struct comms_piece){&e->slot[s]->bytes, &message->bytes, offsetof(struct message, small) - sizeof message->number};
	/* The neighbour's network reports the last piece, and that the large one has come. */
	if (e->their_completion[s])
		send(e, e->started, (struct comms_notification){.piece = {header, payload}}, __func__);
	else
		send(e, e->started, (struct comms_notification){.piece = {payload, header}}, __func__);
}

API void shmemx_exchange_sent(shmemx_exchange_t exchange, int edge)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);

	if (is_all(exchange, edge, __func__)) {
		for (int i = 0; i < exchange->n_edges; i++)
			shmemx_exchange_sent(exchange, i);
		return;
	}
	for (int s = 0; s < SLOTS; s++)
		await_sent(edge_of(exchange, edge, __func__), s);
}

static struct message *next_message(struct edge *edge)
{
	return edge->in[(edge->waited + 1) % SLOTS];
}

static bool has_come(struct edge *edge)
{
	return atomic_load_explicit(&next_message(edge)->number, memory_order_acquire) > edge->waited;
}

API int shmemx_exchange_test(shmemx_exchange_t exchange, int edge)
{
	bool come = true;

	if (is_all(exchange, edge, __func__)) {
		for (int i = 0; i < exchange->n_edges && come; i++)
			come = exchange->edges[i].receive_bytes == 0 || has_come(&exchange->edges[i]);
	} else {
		struct edge *e = edge_of(exchange, edge, __func__);

		must_receive(e, edge, __func__);
		come = has_come(e);
	}
	if (!come && comms.network)
		comms_spin();
	return come;
}

static void check_iteration(const struct shmemx_exchange *x, const struct edge *edge, int i, const char *routine)
{
	check_number(x, &x->receiving, edge->waited + 1, routine);
	if (COMMS_UNLIKELY(edge->send_bytes > 0 && edge->started == edge->waited))
		rte_die(routine, "edge=%d: message %llu of PE %d is waited for, and none was started in that iteration; the edge is marked "
				 "SHMEMX_EDGE_EACH_ITERATION",
			i, (unsigned long long)edge->waited + 1, edge->pe);
}

/*
 * The slot of the next message lies in the neighbour's caches, which has just read the one before, and every store to a line of it would
 * wait for that line. If it is free, ask for its lines while those of the messages that have come are under way, too.
 */
static void fetch_next_slot(const struct edge *edge)
{
	uint64_t number = edge->started + 1;
	char *slot = (char *)edge->slot_here[number % SLOTS];
	size_t bytes = edge->payload + edge->sent_bytes;

	if (!slot || edge->filled || edge->sent_bytes > FETCHED_AHEAD || number > edge->credit + SLOTS)
		return;
	for (size_t at = 0; at < bytes; at += LINE)
		processor_fetch_to_write(slot + at);
}

static const struct message *await(struct shmemx_exchange *x, struct edge *edge, int i, const char *routine)
{
	struct message *message = next_message(edge);
	uint64_t number;

	if (COMMS_UNLIKELY(edge->waited - edge->released == SLOTS))
		rte_die(routine, "edge=%d: %d messages of PE %d are waited for and not released; release one first", i, SLOTS,
			edge->pe);
	if (edge->each_iteration)
		check_iteration(x, edge, i, routine);
	if (!has_come(edge))
		hang_note_peer(routine, "a message of", edge->pe);
	COMMS_WAIT(&message->number,
		   (number = atomic_load_explicit(&message->number, memory_order_acquire)) > edge->waited);
	edge->waited++;
	if (COMMS_UNLIKELY(edge->completion[edge->waited % SLOTS]))
		comms_note_needed(edge->pe, edge->completion[edge->waited % SLOTS]);
	if (edge->each_iteration)
		end_iteration(&x->receiving);
	if (COMMS_UNLIKELY(number != edge->waited))
		rte_die(routine, "edge=%d: message %llu of PE %d has overwritten message %llu", i, (unsigned long long)number,
			edge->pe, (unsigned long long)edge->waited);
	if (message->released > edge->credit)
		edge->credit = message->released;
	fetch_next_slot(edge);
	return message;
}

static inline const void *wait_for(struct shmemx_exchange *x, int edge, size_t *bytes, const char *routine)
{
	const struct message *message;
	struct edge *e;

	if (is_all(x, edge, routine)) {
		for (int i = 0; i < x->n_edges; i++)
			if (x->edges[i].receive_bytes > 0)
				await(x, &x->edges[i], i, routine);
		return NULL;
	}
	e = edge_of(x, edge, routine);
	must_receive(e, edge, routine);
	message = await(x, e, edge, routine);
	if (bytes)
		*bytes = message->bytes;
	return (const char *)message + e->their_payload;
}

/* An own flag that the network has written, and that its library has not seen come. */
static void note_come(const struct edge *edge)
{
	const struct message *message = edge->in[edge->waited % SLOTS];

	if (edge->receive_bytes > 0 && !edge->slot_here[0] && !edge->completion[edge->waited % SLOTS])
		counters_flag(edge->pe, &message->number, edge->waited);
}

__attribute__((noinline, cold)) static const void *wait_watched(struct shmemx_exchange *x, int edge, size_t *bytes, const char *routine)
{
	COMMS_CALL(routine, 0, COMMS_NOBODY);
	const void *payload = wait_for(x, edge, bytes, routine);

	for (int i = 0; i < x->n_edges; i++)
		if (edge == i || edge == SHMEMX_ALL_EDGES)
			note_come(&x->edges[i]);
	return payload;
}

/* One look says both: is the library up, and is nobody watched? */
API const void *shmemx_exchange_wait(shmemx_exchange_t exchange, int edge, size_t *bytes)
{
	if (COMMS_UNLIKELY(comms.quick_pes == 0))
		return wait_watched(exchange, edge, bytes, __func__);
	return wait_for(exchange, edge, bytes, __func__);
}

API const void *shmemx_exchange_received(shmemx_exchange_t exchange, int edge, size_t *bytes)
{
	struct edge *e = edge_of(exchange, edge, __func__);
	const struct message *message = e->in[e->waited % SLOTS];

	if (COMMS_UNLIKELY(e->waited == e->released))
		rte_die(__func__, "edge=%d: no message was waited for since the last release", edge);
	if (bytes)
		*bytes = message->bytes;
	return (const char *)message + e->their_payload;
}

/*
 * The header of the next message tells it, if that is the message after the one released: the neighbour waits for it before
 * it needs to know. Otherwise it is told now.
 */
static void release(struct edge *edge, int i, const char *routine)
{
	if (COMMS_UNLIKELY(edge->waited == edge->released))
		rte_die(routine, "edge=%d: no message was waited for since the last release", i);
	edge->released++;
	if (edge->send_bytes == 0 || edge->started != edge->released)
		comms_notify(&edge->theirs->released, edge->released, edge->pe, routine);
}

API void shmemx_exchange_release(shmemx_exchange_t exchange, int edge)
{
	if (is_all(exchange, edge, __func__)) {
		for (int i = 0; i < exchange->n_edges; i++)
			if (exchange->edges[i].receive_bytes > 0)
				release(&exchange->edges[i], i, __func__);
		return;
	}
	release(edge_of(exchange, edge, __func__), edge, __func__);
}
