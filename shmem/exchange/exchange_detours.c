/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbour exchange: which messages take detours. Each PE learns all edges of the exchange, and
 * computes the same detours (comms/torus/detours.h); so every node knows what it must forward.
 */
#include "exchange.h"

#include <stdlib.h>
#include <string.h>

#include "comms/nodes/job_torus.h"
#include "comms/nodes/costs.h"
#include "shmem/collectives.h"

/* Bytes of a message: smaller ones have left before detours could help. */
#define LEAST (512UL << 10)
#define LEAST_FORCED (64UL << 10) /* two parts of two segments */

enum { DETOURS_AUTO, DETOURS_NO, DETOURS_YES }; /* the values of SHMEM_EXCHANGE_DETOURS */

struct chooser {
	const struct set *world;
	const struct torus_job *job;
	bool forced;
	size_t stations;
	struct published_edge *table; /* of all PEs */
	struct torus_message *messages;
	struct detour_plan *plan;
};

/* All PEs get the same answer. An invented torus may be a switch, with one cable per node. */
static bool is_worth_a_look(const struct chooser *c, uint64_t most)
{
	if (most < (c->forced ? LEAST_FORCED : LEAST) || !comms.network || c->job->sites.nodes < 2)
		return false;
	if ((uint64_t)comms.n_pes * c->stations > TORUS_DETOUR_MESSAGES)
		return false;
	return c->forced || (!torus_job_logical(c->job) && comms_is_served());
}

static void *chooser_allocate(size_t count, size_t size, const char *routine)
{
	void *memory = calloc(count ? count : 1, size);

	if (!memory)
		rte_die(routine, "no memory for the detours of an exchange");
	return memory;
}

/* Fetches the edges of all PEs. Returns false if the heap has no room for them. */
static bool gather_edges(struct chooser *c, const struct published_edge *edges, int n_edges)
{
	size_t each = c->stations * sizeof *edges, all = (size_t)comms.n_pes * each;
	char *shared = api_allocate(all + each, c->world->routine);

	if (!shared)
		return false;
	memset(shared + all, 0xff, each);
	memcpy(shared + all, edges, (size_t)n_edges * sizeof *edges);
	set_fcollect(c->world, shared, shared + all, each);
	c->table = chooser_allocate(all, 1, c->world->routine);
	memcpy(c->table, shared, all);
	api_release(shared, c->world->routine);
	return true;
}

static const struct published_edge *edge_of(const struct chooser *c, int pe, int edge)
{
	return &c->table[(size_t)pe * c->stations + (size_t)edge];
}

/*
 * The edge at the other end. NULL: none fits, and the job is about to end with a message about it.
 */
static const struct published_edge *other_end(const struct chooser *c, int pe, int i)
{
	const struct published_edge *mine = edge_of(c, pe, i), *theirs;

	if (mine->pe < 0 || (size_t)mine->edge >= c->stations)
		return NULL;
	theirs = edge_of(c, mine->pe, mine->edge);
	return theirs->pe == pe && theirs->edge == i && theirs->receive_bytes >= mine->send_bytes ? theirs : NULL;
}

/* The messages between nodes in an iteration, in the order of PEs and edges. */
static int list_messages(struct chooser *c)
{
	size_t most = (size_t)comms.n_pes * c->stations;
	int n = 0;

	c->messages = chooser_allocate(most, sizeof *c->messages, c->world->routine);
	c->plan->from = chooser_allocate(most, sizeof *c->plan->from, c->world->routine);
	c->plan->to = chooser_allocate(most, sizeof *c->plan->to, c->world->routine);
	for (int pe = 0; pe < comms.n_pes; pe++)
		for (int i = 0; i < (int)c->stations; i++) {
			const struct published_edge *mine = edge_of(c, pe, i), *theirs = other_end(c, pe, i);

			if (!theirs || mine->send_bytes == 0)
				continue;
			c->messages[n] = (struct torus_message){torus_job_place(c->job, pe),
								torus_job_place(c->job, mine->pe), mine->send_bytes};
			c->plan->from[n] = *mine;
			c->plan->to[n] = *theirs;
			n += c->messages[n].from != c->messages[n].to;
		}
	return n;
}

static void find_detours(struct chooser *c)
{
	struct torus_costs costs = *comms_costs_between_nodes();
	const struct torus_topology *topology;
	struct torus_detour_task task = {
		.sites = &c->job->sites,
		.costs = &costs,
		.least = c->forced ? LEAST_FORCED : LEAST,
		.forced = c->forced,
		.cables = comms_has_second_cables(),
	};

	set_prepare_topology(c->world);
	topology = c->world->team->topology;
	if (topology)
		costs = topology->costs;
	task.n = list_messages(c);
	task.messages = c->messages;
	if (!torus_detours_find(&c->plan->found, &task))
		rte_die(c->world->routine, "no memory for the detours of %d messages", task.n);
	if (comms.pe == 0 && c->plan->found.seconds > 0)
		rte_debug("an exchange takes %d detours: %.3g s, by the model, and %.3g s without",
			  c->plan->found.count, c->plan->found.seconds, c->plan->found.direct);
}

/*
 * Assigns each hop its position in the block of the PE that it leads to. Returns the largest size
 * that a PE needs.
 */
static size_t place_parts(struct chooser *c, size_t at)
{
	struct detour_plan *plan = c->plan;
	size_t *used = chooser_allocate((size_t)comms.n_pes, sizeof *used, c->world->routine), most = 0;

	plan->place = chooser_allocate((size_t)plan->found.count, sizeof *plan->place, c->world->routine);
	for (int d = 0; d < plan->found.count; d++) {
		const struct torus_detour *detour = &plan->found.detour[d];
		int from = c->messages[detour->message].from;

		for (int hop = 0; hop < detour->hops; hop++) {
			bool last = hop + 1 == detour->hops;
			int place = torus_detour_place(&c->job->sites.shape, detour, from, hop + 1);
			int pe = last ? plan->from[detour->message].pe
				      : torus_job_pe(c->job, c->job->sites.node[place], 0);

			plan->place[d][hop] = (struct part_place){pe, at + used[pe]};
			used[pe] += sizeof(struct part_words) +
				    (last ? 0 : SLOTS * ((detour->bytes + LINE - 1) / LINE * LINE));
			most = used[pe] > most ? used[pe] : most;
		}
	}
	free(used);
	return most;
}

/* A list for each slot that this PE sends in parts, and for each part that it forwards. */
static bool has_lists(const struct chooser *c)
{
	const struct detour_plan *plan = c->plan;
	int lists = 0, last = -1;

	for (int d = 0; d < plan->found.count; d++) {
		const struct torus_detour *detour = &plan->found.detour[d];

		if (detour->message != last && plan->to[detour->message].pe == comms.pe)
			lists += SLOTS;
		last = detour->message;
		for (int hop = 0; hop + 1 < detour->hops; hop++)
			lists += plan->place[d][hop].pe == comms.pe ? SLOTS : 0;
	}
	return lists <= comms_lists_left();
}

void exchange_forget_detours(struct shmemx_exchange *x)
{
	if (!x->plan)
		return;
	torus_detours_free(&x->plan->found);
	free(x->plan->from);
	free(x->plan->to);
	free(x->plan->place);
	free(x->plan->relays);
	free(x->plan);
	x->plan = NULL;
}

size_t exchange_choose_detours(struct shmemx_exchange *x, const struct published_edge *edges, size_t stations,
			       uint64_t most, size_t at, const char *routine)
{
	struct set world = set_of_team(SHMEM_TEAM_WORLD, routine);
	int choice = setting_choice(SETTING_EXCHANGE_DETOURS);
	struct chooser c = {.world = &world,
			    .job = comms_ensure_torus(),
			    .forced = choice == DETOURS_YES,
			    .stations = stations};
	size_t bytes = 0;

	if (choice == DETOURS_NO || !is_worth_a_look(&c, most) || !gather_edges(&c, edges, x->n_edges))
		return 0;
	c.plan = x->plan = chooser_allocate(1, sizeof *c.plan, routine);
	find_detours(&c);
	if (c.plan->found.count > 0)
		bytes = place_parts(&c, at);
	if (c.plan->found.count == 0 || set_max(&world, !has_lists(&c)) > 0) {
		exchange_forget_detours(x);
		bytes = 0;
	}
	free(c.table);
	free(c.messages);
	return bytes;
}
