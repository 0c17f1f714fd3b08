/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbour exchange: messages between fixed neighbours, iteration after iteration, without asking first.
 *
 * station   of an edge, in symmetric memory: what its owner said when it was made, and the words that the neighbour writes
 * slot      place for a message, two at the receiver: message k goes to slot k mod 2
 * message   header (its number, its length, and how many of the other direction's messages its sender has released) and
 *           payload; a small one is in one line with the header
 *
 * Numbers begin with 1 and only grow. A message's number is written after the rest of it is there. Message k may be written
 * when message k - 2 was released, which the sender learns in one of two ways: from the header of a message that came
 * back, or, where none may come in time, from the word `released`. In an exchange both ways, in which each side waits
 * before it starts the next one, the header always comes in time.
 *
 * Where the neighbour's memory can be loaded and stored, the buffer that the user fills is the slot itself.
 *
 * An exchange is used by one thread at a time.
 */
#include <shmemx.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "collectives.h"
#include "comms/watch.h"

#define SLOTS 2
#define LINE 64

struct station {
	int64_t pe, edge; /* the neighbour's */
	uint64_t send_bytes, receive_bytes;
	uint64_t slots;				   /* where the first slot is, from the beginning of the block */
	_Alignas(LINE) _Atomic uint64_t released; /* how many messages the neighbour has released */
};

struct message {
	_Alignas(LINE) _Atomic uint64_t number;
	uint64_t bytes;
	uint64_t released;
	char small[LINE - 3 * sizeof(uint64_t)];
	char large[];
};
_Static_assert(sizeof(struct message) == LINE, "a large payload begins a line");

struct edge {
	int pe;
	size_t send_bytes, receive_bytes;
	uint64_t started, waited, released;
	uint64_t credit; /* of the messages started, how many the neighbour is known to have released */
	struct station *mine, *theirs;
	struct message *in[SLOTS];			/* mine */
	struct message *slot[SLOTS], *slot_here[SLOTS]; /* the neighbour's; here: NULL where it cannot be loaded and stored */
	struct message *out[SLOTS];
	size_t payload, their_payload; /* where it is in a message */
	struct message *filled; /* what the user got last to fill, NULL: nothing */
	struct comms_peer *peer;
	struct comms_telling telling[SLOTS];
};

struct shmemx_exchange {
	char *block;
	struct shmemx_exchange *next;
	int n_edges;
	struct edge edges[];
};

static struct shmemx_exchange *exchanges;
static pthread_mutex_t listing = PTHREAD_MUTEX_INITIALIZER;

/* --- Making --- */

static bool is_small(size_t most)
{
	return most <= sizeof ((struct message *)0)->small;
}

static size_t slot_size(size_t most)
{
	return sizeof(struct message) + (is_small(most) ? 0 : (most + LINE - 1) / LINE * LINE);
}

static void check_edges(const shmemx_edge_t *edges, int n_edges, const struct comms_group *group, const char *routine)
{
	if (n_edges < 0)
		rte_die_together(routine, "n_edges=%d is negative", n_edges);
	for (int i = 0; i < n_edges; i++) {
		if ((unsigned)edges[i].pe >= (unsigned)group->size)
			rte_die_together(routine, "edges[%d].pe=%d: the team has PEs 0 to %d", i, edges[i].pe, group->size - 1);
		if (edges[i].edge < 0)
			rte_die_together(routine, "edges[%d].edge=%d is negative", i, edges[i].edge);
		if (edges[i].send_bytes > PTRDIFF_MAX / 8 || edges[i].receive_bytes > PTRDIFF_MAX / 8)
			rte_die_together(routine, "edges[%d]: messages of %zu and %zu bytes are too large", i,
					 edges[i].send_bytes, edges[i].receive_bytes);
	}
}

static size_t payload_at(size_t most)
{
	return is_small(most) ? offsetof(struct message, small) : sizeof(struct message);
}

static size_t block_size(const shmemx_edge_t *edges, int n_edges, size_t stations)
{
	size_t size = stations * sizeof(struct station);

	for (int i = 0; i < n_edges; i++)
		size += SLOTS * (slot_size(edges[i].receive_bytes) + slot_size(edges[i].send_bytes));
	return size;
}

static void say_who_is_there(struct shmemx_exchange *x, const shmemx_edge_t *edges, const struct comms_group *group,
			     size_t stations)
{
	size_t at = stations * sizeof(struct station);

	for (int i = 0; i < x->n_edges; i++) {
		struct edge *edge = &x->edges[i];

		edge->pe = comms_group_pe(group, edges[i].pe);
		edge->send_bytes = edges[i].send_bytes;
		edge->receive_bytes = edges[i].receive_bytes;
		edge->mine = (struct station *)x->block + i;
		memset(edge->mine, 0, sizeof *edge->mine);
		*edge->mine = (struct station){.pe = edge->pe,
					       .edge = edges[i].edge,
					       .send_bytes = edge->send_bytes,
					       .receive_bytes = edge->receive_bytes,
					       .slots = at};
		for (int s = 0; s < SLOTS; s++, at += slot_size(edge->receive_bytes)) {
			edge->in[s] = (struct message *)(x->block + at);
			memset(edge->in[s], 0, sizeof *edge->in[s]);
		}
		for (int s = 0; s < SLOTS; s++, at += slot_size(edge->send_bytes))
			edge->out[s] = (struct message *)(x->block + at);
		edge->their_payload = payload_at(edge->receive_bytes);
	}
}

/* Both ends may see that they do not fit; one complaint is enough. */
static void let_lower_speak(const struct edge *edge)
{
	if (comms.pe > edge->pe)
		rte_let_others_speak();
}

static void check_neighbour(const struct edge *edge, int i, const struct station *theirs, const char *routine)
{
	if (theirs->pe == comms.pe && theirs->edge == i) {
		if (theirs->receive_bytes >= edge->send_bytes)
			return;
		rte_die(routine, "edges[%d].send_bytes=%zu, but PE %d receives at most %zu bytes on that edge", i,
			edge->send_bytes, edge->pe, (size_t)theirs->receive_bytes);
	}
	let_lower_speak(edge);
	rte_die(routine, "edges[%d] leads to edge %d of PE %d, but that one leads to edge %d of PE %d", i,
		(int)edge->mine->edge, edge->pe, (int)theirs->edge, (int)theirs->pe);
}

static void find_neighbour(struct shmemx_exchange *x, int i, int stations, const char *routine)
{
	struct edge *edge = &x->edges[i];
	struct station theirs;

	if (edge->mine->edge >= stations) {
		let_lower_speak(edge);
		rte_die(routine, "edges[%d].edge=%d, but PE %d has no such edge", i, (int)edge->mine->edge, edge->pe);
	}
	edge->theirs = (struct station *)x->block + edge->mine->edge;
	comms_get(&theirs, edge->theirs, sizeof theirs, edge->pe, routine);
	check_neighbour(edge, i, &theirs, routine);
	edge->payload = payload_at(theirs.receive_bytes);
	for (int s = 0; s < SLOTS; s++) {
		size_t size = slot_size(theirs.receive_bytes);

		edge->slot[s] = (struct message *)(x->block + theirs.slots + (size_t)s * size);
		edge->slot_here[s] = comms_reach(edge->slot[s], size, edge->pe, &edge->peer);
	}
}

static void enlist(struct shmemx_exchange *x)
{
	pthread_mutex_lock(&listing);
	x->next = exchanges;
	exchanges = x;
	pthread_mutex_unlock(&listing);
}

API int shmemx_exchange_create(shmem_team_t team, const shmemx_edge_t *edges, int n_edges, shmemx_exchange_t *exchange)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	struct set world = set_of_team(SHMEM_TEAM_WORLD, __func__);
	const struct comms_group *group = n_edges ? &api_team_or_die(team, __func__)->group : world.group;
	struct shmemx_exchange *x;
	size_t stations, size;

	check_edges(edges, n_edges, group, __func__);
	*exchange = SHMEMX_EXCHANGE_INVALID;
	x = calloc(1, sizeof *x + (size_t)n_edges * sizeof x->edges[0]);
	if (!x)
		rte_die(__func__, "no memory for %d edges", n_edges);
	x->n_edges = n_edges;
	stations = set_max(&world, (uint64_t)n_edges);
	size = set_max(&world, block_size(edges, n_edges, stations));
	x->block = api_allocate(size ? size : LINE, __func__);
	if (!x->block) {
		free(x);
		return 1;
	}
	/* Stations that are none say so. */
	memset(x->block, 0xff, stations * sizeof(struct station));
	say_who_is_there(x, edges, group, stations);
	api_barrier_all();
	for (int i = 0; i < n_edges; i++)
		find_neighbour(x, i, (int)stations, __func__);
	enlist(x);
	*exchange = x;
	return 0;
}

/* --- Using --- */

static struct edge *edge_of(struct shmemx_exchange *x, int i, const char *routine)
{
	if (COMMS_UNLIKELY(!x))
		rte_die(routine, "exchange is SHMEMX_EXCHANGE_INVALID");
	if (COMMS_UNLIKELY((unsigned)i >= (unsigned)x->n_edges))
		rte_die(routine, "edge=%d: the exchange has edges 0 to %d", i, x->n_edges - 1);
	return &x->edges[i];
}

/* Of an own message: has the neighbour released the one that was in its slot? */
static bool has_room(struct edge *edge, uint64_t number)
{
	uint64_t next = edge->waited + 1, told;
	struct message *early = edge->in[next % SLOTS];

	if (number <= edge->credit + SLOTS)
		return true;
	told = atomic_load_explicit(&edge->mine->released, memory_order_acquire);
	if (edge->receive_bytes > 0 && atomic_load_explicit(&early->number, memory_order_acquire) == next && early->released > told)
		told = early->released;
	if (told > edge->credit)
		edge->credit = told;
	return number <= edge->credit + SLOTS;
}

/* Where the next message is to be written. */
static struct message *claim(struct edge *edge)
{
	uint64_t number = edge->started + 1;
	int s = (int)(number % SLOTS);

	COMMS_WAIT(edge->receive_bytes > 0 ? COMMS_ANYWHERE : &edge->mine->released, has_room(edge, number));
	if (edge->slot_here[s])
		return edge->slot_here[s];
	COMMS_WAIT(COMMS_NOWHERE, !atomic_load_explicit(&edge->telling[s].under_way, memory_order_acquire));
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
		e->filled = claim(e);
	return (char *)e->filled + e->payload;
}

static void start(struct edge *edge, size_t bytes, const char *routine)
{
	struct message *message = edge->filled ? edge->filled : claim(edge);
	uint64_t number = ++edge->started;
	int s = (int)(number % SLOTS);

	if (COMMS_UNLIKELY(comms.watched))
		watch_message(message == edge->slot_here[s] ? WATCH_LOCAL : WATCH_UCX, edge->pe, bytes);
	edge->filled = NULL;
	message->bytes = bytes;
	message->released = edge->released;
	if (COMMS_LIKELY(message == edge->slot_here[s])) {
		atomic_store_explicit(&message->number, number, memory_order_release);
		comms_notify_of(edge->peer, &edge->slot[s]->number, sizeof number);
	} else {
		comms_tell_later(&edge->telling[s], &edge->slot[s]->bytes, &message->bytes,
				 edge->payload - offsetof(struct message, bytes) + bytes, &edge->slot[s]->number, number,
				 edge->pe, routine);
	}
}

API void shmemx_exchange_start(shmemx_exchange_t exchange, int edge, size_t bytes)
{
	struct edge *e;

	if (edge == SHMEMX_ALL_EDGES && exchange) {
		for (int i = 0; i < exchange->n_edges; i++)
			if (exchange->edges[i].send_bytes > 0)
				shmemx_exchange_start(exchange, i,
						      bytes < exchange->edges[i].send_bytes ? bytes : exchange->edges[i].send_bytes);
		return;
	}
	e = edge_of(exchange, edge, __func__);
	must_send(e, edge, __func__);
	COMMS_CALL(__func__, bytes, e->pe);
	if (COMMS_UNLIKELY(bytes > e->send_bytes))
		rte_die(__func__, "bytes=%zu: edge %d carries messages of at most %zu", bytes, edge, e->send_bytes);
	start(e, bytes, __func__);
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

	if (edge == SHMEMX_ALL_EDGES && exchange) {
		for (int i = 0; i < exchange->n_edges && come; i++)
			come = exchange->edges[i].receive_bytes == 0 || has_come(&exchange->edges[i]);
	} else {
		struct edge *e = edge_of(exchange, edge, __func__);

		must_receive(e, edge, __func__);
		come = has_come(e);
	}
	if (!come && comms.ucx)
		comms_spin();
	return come;
}

static const struct message *await(struct edge *edge, int i, const char *routine)
{
	struct message *message = next_message(edge);
	uint64_t number;

	if (COMMS_UNLIKELY(edge->waited - edge->released == SLOTS))
		rte_die(routine, "edge=%d: %d messages of PE %d are waited for and not released; release one first", i, SLOTS,
			edge->pe);
	COMMS_WAIT(&message->number,
		   (number = atomic_load_explicit(&message->number, memory_order_acquire)) > edge->waited);
	edge->waited++;
	if (COMMS_UNLIKELY(number != edge->waited))
		rte_die(routine, "edge=%d: message %llu of PE %d has overwritten message %llu", i, (unsigned long long)number,
			edge->pe, (unsigned long long)edge->waited);
	if (message->released > edge->credit)
		edge->credit = message->released;
	return message;
}

API const void *shmemx_exchange_wait(shmemx_exchange_t exchange, int edge, size_t *bytes)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	const struct message *message;
	struct edge *e;

	if (edge == SHMEMX_ALL_EDGES && exchange) {
		for (int i = 0; i < exchange->n_edges; i++)
			if (exchange->edges[i].receive_bytes > 0)
				await(&exchange->edges[i], i, __func__);
		return NULL;
	}
	e = edge_of(exchange, edge, __func__);
	must_receive(e, edge, __func__);
	message = await(e, edge, __func__);
	if (bytes)
		*bytes = message->bytes;
	return (const char *)message + e->their_payload;
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
		comms_tell(NULL, NULL, 0, &edge->theirs->released, edge->released, edge->pe, routine);
}

API void shmemx_exchange_release(shmemx_exchange_t exchange, int edge)
{
	if (edge == SHMEMX_ALL_EDGES && exchange) {
		for (int i = 0; i < exchange->n_edges; i++)
			if (exchange->edges[i].receive_bytes > 0)
				release(&exchange->edges[i], i, __func__);
		return;
	}
	release(edge_of(exchange, edge, __func__), edge, __func__);
}

/* --- The end --- */

static void forget(struct shmemx_exchange *x)
{
	struct shmemx_exchange **link = &exchanges;

	pthread_mutex_lock(&listing);
	while (*link != x)
		link = &(*link)->next;
	*link = x->next;
	pthread_mutex_unlock(&listing);
}

static void come_to_rest(struct shmemx_exchange *x)
{
	for (int i = 0; i < x->n_edges; i++)
		for (int s = 0; s < SLOTS; s++)
			COMMS_WAIT(COMMS_NOWHERE, !atomic_load(&x->edges[i].telling[s].under_way));
	comms_complete_all();
}

API void shmemx_exchange_destroy(shmemx_exchange_t exchange)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);

	if (!exchange)
		rte_die_together(__func__, "exchange is SHMEMX_EXCHANGE_INVALID");
	come_to_rest(exchange);
	forget(exchange);
	api_release(exchange->block, __func__);
	free(exchange);
}

/* After the last barrier; the memory goes with the heap. */
void api_exchanges_stop(void)
{
	while (exchanges) {
		struct shmemx_exchange *x = exchanges;

		come_to_rest(x);
		exchanges = x->next;
		free(x);
	}
}
