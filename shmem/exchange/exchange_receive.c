/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbour exchange: receiving and releasing the messages of an iteration. exchange.h explains
 * words and rules.
 */
#include "exchange.h"

#include "comms/core/processor.h"
#include "comms/observe/counters.h"
#include "comms/ops/completion_numbers.h"
#include "comms/wait/wait.h"

/* Bytes of a message; lines of longer ones would be fetched too early, or all at once. */
#define FETCHED_AHEAD 4096

/* NULL: misuse. */
static struct edge *edge_that_receives(struct shmemx_exchange *x, int i, const char *routine)
{
	struct edge *edge = exchange_edge(x, i, routine);

	if (COMMS_LIKELY(edge && edge->receive_bytes > 0))
		return edge;
	if (edge)
		rte_misuse(routine, "edge=%d carries no messages from PE %d: its receive_bytes is 0", i, edge->pe);
	return NULL;
}

static struct message *next_message(struct edge *edge)
{
	return edge->in[(edge->waited + 1) % SLOTS];
}

static bool message_has_come(struct edge *edge)
{
	const struct message *next = next_message(edge);

	return atomic_load_explicit(&next->number, memory_order_acquire) > edge->waited &&
	       (!exchange_is_parted(next) || exchange_parts_have_come(edge));
}

/* Of the edge, or of all: those whose next message has not come, up to `most` of them. */
static int count_missing(struct shmemx_exchange *x, int edge, int most, int *missing)
{
	int first = edge == SHMEMX_ALL_EDGES ? 0 : edge, last = edge == SHMEMX_ALL_EDGES ? x->n_edges - 1 : edge;
	int found = 0;

	for (int i = first; i <= last && found < most; i++) {
		if (x->edges[i].receive_bytes == 0 || message_has_come(&x->edges[i]))
			continue;
		if (missing)
			missing[found] = i;
		found++;
	}
	return found;
}

API int shmemx_exchange_wait_within(shmemx_exchange_t exchange, int edge, double seconds, int *missing)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	int64_t end = wait_end(seconds, __func__);

	if (!exchange_is_all(exchange, edge, __func__) && !edge_that_receives(exchange, edge, __func__))
		return 1;
	hang_note_bounded(__func__);
	COMMS_WAIT(COMMS_ANYWHERE, count_missing(exchange, edge, 1, NULL) == 0 || wait_is_past(end));
	if (comms.network && count_missing(exchange, edge, 1, NULL) > 0)
		comms_spin(); /* with 0 seconds, the wait has made no progress */
	return count_missing(exchange, edge, exchange->n_edges, missing);
}

API int shmemx_exchange_test(shmemx_exchange_t exchange, int edge)
{
	bool come = true;

	if (comms_call_is_refused(__func__))
		return true; /* so that loops end */
	if (exchange_is_all(exchange, edge, __func__)) {
		for (int i = 0; i < exchange->n_edges && come; i++)
			come = exchange->edges[i].receive_bytes == 0 || message_has_come(&exchange->edges[i]);
	} else {
		struct edge *e = edge_that_receives(exchange, edge, __func__);

		come = !e || message_has_come(e);
	}
	if (!come && comms.network)
		comms_spin();
	return come;
}

static void check_iteration(const struct shmemx_exchange *x, const struct edge *edge, int i, const char *routine)
{
	exchange_check_number(x, &x->receiving, edge->waited + 1, routine);
	if (COMMS_UNLIKELY(edge->send_bytes > 0 && edge->started == edge->waited))
		rte_misuse(routine,
			   "edge=%d: message %llu of PE %d is waited for, and none was started in that iteration; "
			   "the edge is marked SHMEMX_EDGE_EACH_ITERATION",
			   i, (unsigned long long)edge->waited + 1, edge->pe);
}

/*
 * The slot of the next message is in the caches of the neighbour, which has just read the message
 * before, and every store to a line of it would wait for that line. If the slot is free, this
 * fetches its lines together with those of the messages that have arrived.
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

/* NULL: the job is broken, and the message has not come. */
static const struct message *await_message(struct shmemx_exchange *x, struct edge *edge, int i, const char *routine)
{
	struct message *message = next_message(edge);
	uint64_t number;

	if (COMMS_UNLIKELY(edge->waited - edge->released == SLOTS)) {
		rte_misuse(routine, "edge=%d: %d messages of PE %d are waited for and not released; release one first",
			   i, SLOTS, edge->pe);
		return NULL;
	}
	if (edge->each_iteration)
		check_iteration(x, edge, i, routine);
	if (!message_has_come(edge))
		hang_note_peer(routine, "a message of", edge->pe);
	COMMS_WAIT(&message->number,
		   (number = atomic_load_explicit(&message->number, memory_order_acquire)) > edge->waited);
	if (COMMS_UNLIKELY(number <= edge->waited))
		return NULL;
	if (exchange_is_parted(message)) {
		COMMS_WAIT(COMMS_ANYWHERE, exchange_parts_have_come(edge));
		if (rte_is_broken())
			return NULL;
		edge->parted[number % SLOTS]++;
	}
	edge->waited++;
	if (COMMS_UNLIKELY(edge->completion[edge->waited % SLOTS]))
		comms_note_needed(edge->pe, edge->completion[edge->waited % SLOTS]);
	if (edge->each_iteration)
		exchange_end_iteration(&x->receiving);
	if (COMMS_UNLIKELY(number != edge->waited)) {
		if (!rte_is_broken()) /* otherwise none has come */
			rte_misuse(routine, "edge=%d: message %llu of PE %d has overwritten message %llu", i,
				   (unsigned long long)number, edge->pe, (unsigned long long)edge->waited);
		return NULL;
	}
	if (message->released > edge->credit)
		edge->credit = message->released;
	fetch_next_slot(edge);
	return message;
}

static inline const void *wait_for_edge(struct shmemx_exchange *x, int edge, size_t *bytes, const char *routine)
{
	const struct message *message;
	struct edge *e;

	if (exchange_is_all(x, edge, routine)) {
		for (int i = 0; i < x->n_edges; i++)
			if (x->edges[i].receive_bytes > 0)
				await_message(x, &x->edges[i], i, routine);
		return NULL;
	}
	e = edge_that_receives(x, edge, routine);
	message = e ? await_message(x, e, edge, routine) : NULL;
	if (COMMS_UNLIKELY(!message))
		return NULL;
	if (bytes)
		*bytes = exchange_bytes(message);
	return (const char *)message + e->their_payload;
}

/* Records the flag of a message that the NIC has written without the library's knowledge. */
static void record_arrival(const struct edge *edge)
{
	const struct message *message = edge->in[edge->waited % SLOTS];

	if (edge->receive_bytes > 0 && !edge->slot_here[0] && !edge->completion[edge->waited % SLOTS])
		counters_flag(edge->pe, &message->number, edge->waited);
}

__attribute__((noinline, cold)) static const void *wait_observed(struct shmemx_exchange *x, int edge, size_t *bytes,
								 const char *routine)
{
	COMMS_CALL_OR(NULL, routine, 0, COMMS_NOBODY);
	const void *payload = wait_for_edge(x, edge, bytes, routine);

	for (int i = 0; i < x->n_edges; i++)
		if (edge == i || edge == SHMEMX_ALL_EDGES)
			record_arrival(&x->edges[i]);
	return payload;
}

/* One comparison shows that the library is up and no calls are observed. */
API const void *shmemx_exchange_wait(shmemx_exchange_t exchange, int edge, size_t *bytes)
{
	if (COMMS_UNLIKELY(comms.quick_pes == 0))
		return wait_observed(exchange, edge, bytes, __func__);
	return wait_for_edge(exchange, edge, bytes, __func__);
}

static bool has_nothing_to_release(const struct edge *edge, int i, const char *routine)
{
	if (COMMS_LIKELY(edge->waited != edge->released))
		return false;
	if (!rte_is_broken())
		rte_misuse(routine, "edge=%d: no message was waited for since the last release", i);
	return true;
}

API const void *shmemx_exchange_received(shmemx_exchange_t exchange, int edge, size_t *bytes)
{
	if (comms_call_is_refused(__func__))
		return NULL;
	struct edge *e = exchange_edge(exchange, edge, __func__);
	const struct message *message;

	if (!e || has_nothing_to_release(e, edge, __func__))
		return NULL;
	message = e->in[e->waited % SLOTS];
	if (bytes)
		*bytes = exchange_bytes(message);
	return (const char *)message + e->their_payload;
}

/*
 * The header of the next message carries the release if that message follows the one released: the
 * neighbour then gets it in time. Otherwise this notifies the neighbour.
 */
static void release_message(struct edge *edge, int i, const char *routine)
{
	if (has_nothing_to_release(edge, i, routine))
		return;
	edge->released++;
	if (edge->send_bytes == 0 || edge->started != edge->released)
		comms_notify(&edge->theirs->released, edge->released, edge->pe, routine);
}

API void shmemx_exchange_release(shmemx_exchange_t exchange, int edge)
{
	struct edge *e;

	if (comms_call_is_refused(__func__))
		return;
	if (exchange_is_all(exchange, edge, __func__)) {
		for (int i = 0; i < exchange->n_edges; i++)
			if (exchange->edges[i].receive_bytes > 0)
				release_message(&exchange->edges[i], i, __func__);
		return;
	}
	e = exchange_edge(exchange, edge, __func__);
	if (e)
		release_message(e, edge, __func__);
}
