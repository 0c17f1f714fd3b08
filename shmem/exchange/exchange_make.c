/* SPDX-License-Identifier: BSD-3-Clause */
/* Creating an exchange, whose ends find each other, and destroying it. */
#include "exchange.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "shmem/collectives.h"
#include "comms/ops/completion_numbers.h"
#include "comms/wait/wait.h"
#include "comms/observe/counters.h"
#include "shmem/grid/grid.h"

static struct {
	pthread_mutex_t lock;
	struct shmemx_exchange *first;
	struct destroyed_handles destroyed;
} exchanges = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool check_exchange_edges(const shmemx_edge_t *edges, int n_edges, const struct comms_group *group,
				 const char *routine)
{
	if (n_edges < 0)
		rte_misuse_together(routine, "n_edges=%d is negative", n_edges);
	for (int i = 0; i < n_edges && !rte_is_broken(); i++) {
		if ((unsigned)edges[i].pe >= (unsigned)group->size)
			rte_misuse_together(routine, "edges[%d].pe=%d: the team has PEs 0 to %d", i, edges[i].pe,
					    group->size - 1);
		if (edges[i].edge < 0)
			rte_misuse_together(routine, "edges[%d].edge=%d is negative", i, edges[i].edge);
		if (edges[i].options & ~(SHMEMX_EDGE_ONE_SEND_BUFFER | SHMEMX_EDGE_EACH_ITERATION))
			rte_misuse_together(routine, "edges[%d].options=%#x: no such option; initialise the edges", i,
					    edges[i].options);
		if (edges[i].send_bytes > PTRDIFF_MAX / 8 || edges[i].receive_bytes > PTRDIFF_MAX / 8)
			rte_misuse_together(routine, "edges[%d]: messages of %zu and %zu bytes are too large", i,
					    edges[i].send_bytes, edges[i].receive_bytes);
	}
	return !rte_is_broken();
}

static size_t out_buffers(const shmemx_edge_t *edge)
{
	return edge->options & SHMEMX_EDGE_ONE_SEND_BUFFER ? 1 : SLOTS;
}

static size_t edge_size(const shmemx_edge_t *edge)
{
	return SLOTS * exchange_slot_size(edge->receive_bytes) +
	       out_buffers(edge) * exchange_slot_size(edge->send_bytes);
}

/* The largest needs of any PE for the exchange. */
struct block_needs {
	size_t stations, size, longest; /* edges, bytes of a block, bytes of a message */
};

static struct block_needs agree_on_needs(const struct set *world, const shmemx_edge_t *edges, int n_edges)
{
	uint64_t most[3] = {(uint64_t)n_edges};

	for (int i = 0; i < n_edges; i++) {
		most[1] += edge_size(&edges[i]);
		most[2] = edges[i].send_bytes > most[2] ? edges[i].send_bytes : most[2];
	}
	set_reduce_words(world, most, 3, SET_MOST);
	return (struct block_needs){most[0], most[0] * sizeof(struct station) + most[1], most[2]};
}

/*
 * For messages over a network that reports their arrival. Message numbers begin with 1, and each
 * slot takes every second message.
 */
static void request_completions(struct edge *edge, size_t size)
{
	struct comms_peer *peer;

	if (edge->receive_bytes == 0 ||
	    (!comms.loopback && (comms_connect(edge->pe), comms_reach(edge->in[0], size, edge->pe, &peer))))
		return;
	for (int s = 0; s < SLOTS; s++) {
		edge->completion[s] =
			comms_completion_listen(edge->pe, &edge->in[s]->number, s == 0 ? SLOTS : (uint64_t)s, SLOTS);
		edge->mine->completion[s] = edge->completion[s];
	}
}

static void release_completions(const struct shmemx_exchange *x)
{
	for (int i = 0; i < x->n_edges; i++)
		for (int s = 0; s < SLOTS; s++)
			if (x->edges[i].completion[s])
				comms_completion_release(x->edges[i].pe, x->edges[i].completion[s]);
}

static void publish_stations(struct shmemx_exchange *x, const shmemx_edge_t *edges, const struct comms_group *group,
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
		for (int s = 0; s < SLOTS; s++, at += exchange_slot_size(edge->receive_bytes)) {
			edge->in[s] = (struct message *)(x->block + at);
			memset(edge->in[s], 0, sizeof *edge->in[s]);
		}
		request_completions(edge, exchange_slot_size(edge->receive_bytes));
		edge->one_out = out_buffers(&edges[i]) == 1;
		edge->out[0] = (struct message *)(x->block + at);
		edge->out[1] =
			(struct message *)(x->block + at + (edge->one_out ? 0 : exchange_slot_size(edge->send_bytes)));
		at += out_buffers(&edges[i]) * exchange_slot_size(edge->send_bytes);
		edge->their_payload = exchange_payload_at(edge->receive_bytes);
		edge->each_iteration = edges[i].options & SHMEMX_EDGE_EACH_ITERATION;
		x->sending.edges += edge->each_iteration && edge->send_bytes > 0;
		x->receiving.edges += edge->each_iteration && edge->receive_bytes > 0;
	}
}

static void check_neighbour(const struct edge *edge, int i, const struct station *theirs, const char *routine)
{
	if (rte_is_broken())
		return; /* nothing was fetched */
	if (theirs->pe == comms.pe && theirs->edge == i) {
		if (theirs->receive_bytes >= edge->send_bytes)
			return;
		rte_misuse(routine, "edges[%d].send_bytes=%zu, but PE %d receives at most %zu bytes on that edge", i,
			   edge->send_bytes, edge->pe, (size_t)theirs->receive_bytes);
		return;
	}
	api_let_lower_speak(edge->pe);
	rte_misuse(routine, "edges[%d] leads to edge %d of PE %d, but that one leads to edge %d of PE %d", i,
		   (int)edge->mine->edge, edge->pe, (int)theirs->edge, (int)theirs->pe);
}

static void find_neighbour(struct shmemx_exchange *x, int i, int stations, const char *routine)
{
	struct edge *edge = &x->edges[i];
	struct station theirs;

	if (edge->mine->edge >= stations) {
		api_let_lower_speak(edge->pe);
		rte_misuse(routine, "edges[%d].edge=%d, but PE %d has no such edge", i, (int)edge->mine->edge,
			   edge->pe);
		return;
	}
	edge->theirs = (struct station *)x->block + edge->mine->edge;
	comms_get(&theirs, edge->theirs, sizeof theirs, edge->pe, routine);
	if (rte_is_broken())
		return;
	check_neighbour(edge, i, &theirs, routine);
	edge->payload = exchange_payload_at(theirs.receive_bytes);
	memcpy(edge->their_completion, theirs.completion, sizeof edge->their_completion);
	for (int s = 0; s < SLOTS; s++) {
		size_t size = exchange_slot_size(theirs.receive_bytes);

		edge->slot[s] = (struct message *)(x->block + theirs.slots + (size_t)s * size);
		edge->slot_here[s] = comms.loopback ? NULL : comms_reach(edge->slot[s], size, edge->pe, &edge->peer);
	}
}

static bool goes_over_network(const struct edge *edge)
{
	return edge->send_bytes > 0 && !edge->slot_here[0];
}

static bool share_network(const struct edge *one, const struct edge *other)
{
	return one->pe == other->pe && goes_over_network(one) && goes_over_network(other);
}

/*
 * An edge shares the batches of earlier edges to the same PE; the first of several edges begins new
 * ones.
 */
static struct batches *find_batches(struct shmemx_exchange *x, int i)
{
	for (int j = 0; j < i; j++)
		if (share_network(&x->edges[j], &x->edges[i]))
			return x->edges[j].batches;
	for (int j = i + 1; j < x->n_edges; j++)
		if (share_network(&x->edges[j], &x->edges[i]))
			return &x->batches[x->n_batches++];
	return NULL;
}

static void pair_batches(struct shmemx_exchange *x, const char *routine)
{
	x->batches = calloc((size_t)x->n_edges / 2 + 1, sizeof *x->batches);
	if (!x->batches)
		rte_die(routine, "no memory for %d edges", x->n_edges);
	for (int i = 0; i < x->n_edges; i++)
		x->edges[i].batches = find_batches(x, i);
}

/* Returns the bytes for them in the block, which has `size` bytes without. */
static size_t choose_detours(struct shmemx_exchange *x, const shmemx_edge_t *edges, const struct comms_group *group,
			     struct block_needs needs, const char *routine)
{
	struct published_edge *published = calloc((size_t)x->n_edges + 1, sizeof *published);
	size_t slots = needs.stations * sizeof(struct station), bytes;

	if (!published)
		rte_die(routine, "no memory for %d edges", x->n_edges);
	for (int i = 0; i < x->n_edges; i++) {
		published[i] = (struct published_edge){comms_group_pe(group, edges[i].pe), edges[i].edge,
						       edges[i].send_bytes, edges[i].receive_bytes, slots};
		slots += edge_size(&edges[i]);
	}
	bytes = exchange_choose_detours(x, published, needs.stations, needs.longest, needs.size, routine);
	free(published);
	return bytes;
}

/* Without room on the heap there are no detours. */
static bool allocate_block(struct shmemx_exchange *x, size_t size, size_t detours, const char *routine)
{
	x->block = api_allocate(size + detours ? size + detours : LINE, routine);
	if (!x->block && detours > 0) {
		exchange_forget_detours(x);
		x->block = api_allocate(size ? size : LINE, routine);
	}
	if (x->plan)
		memset(x->block + size, 0, detours);
	return x->block != NULL;
}

static void enlist_exchange(struct shmemx_exchange *x)
{
	pthread_mutex_lock(&exchanges.lock);
	x->next = exchanges.first;
	exchanges.first = x;
	pthread_mutex_unlock(&exchanges.lock);
}

/* False: the job is broken, and what PEs have told each other is not to be used. */
static bool meet_neighbours(struct shmemx_exchange *x, const shmemx_edge_t *edges, const struct comms_group *group,
			    int stations, const char *routine)
{
	/* Marks stations without an edge. */
	memset(x->block, 0xff, (size_t)stations * sizeof(struct station));
	publish_stations(x, edges, group, (size_t)stations);
	api_barrier_all(routine);
	for (int i = 0; i < x->n_edges && !rte_is_broken(); i++)
		find_neighbour(x, i, stations, routine);
	return !rte_is_broken();
}

API int shmemx_exchange_create(shmem_team_t team, const shmemx_edge_t *edges, int n_edges, shmemx_exchange_t *exchange)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	struct set world = set_of_team(SHMEM_TEAM_WORLD, __func__);
	const struct comms_group *group = n_edges ? &api_team_or_die(team, __func__)->group : world.group;
	struct shmemx_exchange *x;
	struct block_needs needs;

	set_check_agreement(&world, NULL, 0, NULL, 0, NULL);
	if (!check_exchange_edges(edges, n_edges, group, __func__))
		return 1;
	*exchange = SHMEMX_EXCHANGE_INVALID;
	x = calloc(1, sizeof *x + (size_t)n_edges * sizeof x->edges[0]);
	if (!x) {
		rte_break(RTE_ERROR_OTHER, rte.pe, __func__, "no memory for %d edges", n_edges);
		return 1;
	}
	x->n_edges = n_edges;
	needs = agree_on_needs(&world, edges, n_edges);
	if (rte_is_broken() ||
	    !allocate_block(x, needs.size, choose_detours(x, edges, group, needs, __func__), __func__) ||
	    !meet_neighbours(x, edges, group, (int)needs.stations, __func__)) {
		free(x);
		return 1;
	}
	pair_batches(x, __func__);
	if (x->plan)
		exchange_begin_parts(x, __func__);
	enlist_exchange(x);
	*exchange = x;
	return rte_is_broken();
}

/*
 * The neighbour's downward edge is this PE's upward edge. At the end of the grid, the edge leads to
 * itself and carries nothing.
 */
API int shmemx_exchange_create_grid(shmem_team_t team, const size_t *bytes, int options, shmemx_exchange_t *exchange)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	const struct grid *grid = api_grid_of(team, __func__);
	shmemx_edge_t edges[2 * TORUS_AXES] = {0};

	if (!grid)
		return 1;
	for (int e = 0; e < 2 * grid->cells.dims; e++) {
		int pe = api_grid_neighbour(grid, team->group.me, e / 2, e % 2 ? -1 : 1);

		edges[e] = pe < 0 ? (shmemx_edge_t){team->group.me, e, 0, 0, 0}
				  : (shmemx_edge_t){pe, e ^ 1, bytes[e], bytes[e ^ 1], options};
	}
	return shmemx_exchange_create(team, edges, 2 * grid->cells.dims, exchange);
}

/* --- The end --- */

static void unlist_exchange(struct shmemx_exchange *x)
{
	struct shmemx_exchange **link = &exchanges.first;

	pthread_mutex_lock(&exchanges.lock);
	while (*link != x)
		link = &(*link)->next;
	*link = x->next;
	pthread_mutex_unlock(&exchanges.lock);
}

static void come_to_rest(struct shmemx_exchange *x)
{
	for (int i = 0; i < x->n_edges; i++)
		for (int s = 0; s < SLOTS; s++)
			exchange_await_sent(&x->edges[i], s, "shmemx_exchange_destroy");
	for (int b = 0; b < x->n_batches; b++)
		for (int s = 0; s < SLOTS; s++)
			COMMS_WAIT(COMMS_NOWHERE,
				   !atomic_load_explicit(&x->batches[b].epoch[s].under_way, memory_order_acquire));
	comms_complete_all();
}

/* All PEs call this. It first completes messages that were sent but not waited for. */
static void come_to_rest_together(struct shmemx_exchange *x, const char *routine)
{
	come_to_rest(x);
	if (!x->plan)
		return;
	api_barrier_all(routine);
	exchange_await_parts(x);
	api_barrier_all(routine);
	exchange_end_parts(x);
}

/*
 * The struct is kept without edges, and its address is not reused soon, so that later uses are
 * detected.
 */
static void free_exchange(struct shmemx_exchange *x)
{
	free(x->batches);
	*x = (struct shmemx_exchange){.destroyed = true};
	pthread_mutex_lock(&exchanges.lock);
	api_keep_destroyed(&exchanges.destroyed, x);
	pthread_mutex_unlock(&exchanges.lock);
}

API void shmemx_exchange_destroy(shmemx_exchange_t exchange)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);

	if (!exchange)
		rte_misuse_together(__func__, "exchange is SHMEMX_EXCHANGE_INVALID");
	else if (exchange->destroyed)
		rte_misuse_together(__func__, "exchange=%p was destroyed already", (void *)exchange);
	if (rte_is_broken())
		return;
	come_to_rest_together(exchange, __func__);
	if (rte_is_broken()) /* api_exchanges_stop frees it */
		return;
	unlist_exchange(exchange);
	api_release(exchange->block, __func__); /* after its barrier all messages have arrived */
	release_completions(exchange);
	free_exchange(exchange);
}

/* After the last barrier; the memory is freed with the heap. */
void api_exchanges_stop(void)
{
	while (exchanges.first) {
		struct shmemx_exchange *x = exchanges.first;

		come_to_rest(x);
		if (x->plan)
			exchange_end_parts(x);
		release_completions(x);
		exchanges.first = x->next;
		free_exchange(x);
	}
}
