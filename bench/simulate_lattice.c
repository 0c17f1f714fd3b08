/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An iteration of a lattice code. The faces are flows that begin at once and share links (simulate_flows.h); those between PEs of a node are
 * copies in its memory. The sums go by recursive doubling between the nodes, as in shmem/reduce_small.c: messages so short that they do not
 * hold each other up. Each node begins its sums when its faces are there and its sites are computed.
 */
#include "simulate_lattice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/torus/place.h"
#include "simulate_flows.h"

struct job {
	const struct lattice *lattice;
	const struct network *network;
	int nodes, pes; /* pes: on a node */
	int *node;	/* of each PE; nodes are places, since all of the torus is the job's */
	double *time;	/* of each node: since the iteration has begun */
};

static _Noreturn void refuse(const char *problem)
{
	fprintf(stderr, "simulate: %s\n", problem);
	exit(2);
}

/* --- Where PEs are --- */

static void place_by_library(struct job *job)
{
	char problem[TORUS_PROBLEM];
	struct torus_sites sites;
	struct torus_plan plan;

	if (!torus_sites_all(&sites, &job->lattice->shape))
		refuse("no memory for so many nodes");
	if (!torus_place(&plan, &sites, job->pes, &job->lattice->grid, problem))
		refuse(problem);
	for (int pe = 0; pe < job->lattice->grid.cells; pe++)
		job->node[pe] = sites.place[plan.node[pe]];
	torus_plan_free(&plan);
	torus_sites_free(&sites);
}

static unsigned next_random(unsigned *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void place_in_order(struct job *job)
{
	int *order = schedule_allocate((size_t)job->nodes, sizeof *order);
	unsigned state = (unsigned)job->lattice->seed * 2654435761U | 1;

	for (int n = 0; n < job->nodes; n++)
		order[n] = n;
	for (int n = job->nodes - 1; job->lattice->order == LATTICE_RANDOM && n > 0; n--) {
		int other = (int)(next_random(&state) % (unsigned)(n + 1)), node = order[n];

		order[n] = order[other];
		order[other] = node;
	}
	for (int pe = 0; pe < job->lattice->grid.cells; pe++)
		job->node[pe] = order[pe / job->pes];
	free(order);
}

static void place_pes(struct job *job)
{
	const struct lattice *lattice = job->lattice;
	char problem[TORUS_PROBLEM];

	job->nodes = lattice->shape.places;
	job->pes = lattice->grid.cells / job->nodes;
	if (lattice->grid.cells % job->nodes) {
		torus_refuse(problem, "%d PEs do not fit %d nodes with as many on each; give a multiple of %d",
			     lattice->grid.cells, job->nodes, job->nodes);
		refuse(problem);
	}
	if (lattice->local.dims != lattice->grid.dims) {
		torus_refuse(problem, "the grid of PEs has %d dimensions, a PE's lattice %d; give as many",
			     lattice->grid.dims, lattice->local.dims);
		refuse(problem);
	}
	job->node = schedule_allocate((size_t)lattice->grid.cells, sizeof *job->node);
	job->time = schedule_allocate((size_t)job->nodes, sizeof *job->time);
	if (lattice->order == LATTICE_PLACED)
		place_by_library(job);
	else
		place_in_order(job);
}

/* --- The exchange --- */

static struct flow *list_faces(const struct job *job, int *count)
{
	const struct torus_grid *grid = &job->lattice->grid;
	struct flow *flow = schedule_allocate((size_t)grid->cells * 2 * (size_t)grid->dims, sizeof *flow);

	*count = 0;
	for (int pe = 0; pe < grid->cells; pe++)
		for (int d = 0; d < grid->dims; d++)
			for (int step = -1; step <= 1; step += 2) {
				int to = torus_grid_neighbour(grid, pe, d, step);

				if (to >= 0)
					flow[(*count)++] =
						(struct flow){.from = job->node[pe],
							      .to = job->node[to],
							      .bytes = job->lattice->face * job->lattice->local.cells /
								       job->lattice->local.size[d]};
			}
	return flow;
}

void lattice_faces(const struct lattice *lattice, struct schedule *schedule)
{
	struct job job = {.lattice = lattice};
	struct flow *flow;
	int count;

	place_pes(&job);
	flow = list_faces(&job, &count);
	for (int f = 0; f < count; f++)
		if (flow[f].from != flow[f].to)
			schedule_add(schedule, flow[f].from, flow[f].to, 0, NULL, -1, flow[f].bytes);
	free(flow);
	free(job.node);
	free(job.time);
}

static double message_seconds(const struct network *network, int hops, double transmission)
{
	return network->latency + (hops - 1) * network->hop + transmission;
}

/* A copy is read and written. Copies of a node follow one another, while its links send and receive. */
static void exchange_faces(struct job *job, struct lattice_times *times)
{
	double *copied = schedule_allocate((size_t)job->nodes, sizeof *copied), hops = 0;
	int count, between = 0;
	struct flow *flow = list_faces(job, &count);

	times->most = flows_share(&job->lattice->shape, flow, count, job->network->rate).most;
	for (int f = 0; f < count; f++) {
		double *time = &job->time[flow[f].to], there;

		if (flow[f].hops > 0) {
			there = message_seconds(job->network, flow[f].hops, flow[f].seconds);
			hops += flow[f].hops;
			between++;
		} else {
			there = copied[flow[f].to] += 2 * flow[f].bytes / job->lattice->memory;
		}
		*time = there > *time ? there : *time;
		times->longest = flow[f].hops > times->longest ? flow[f].hops : times->longest;
	}
	times->hops = between ? hops / between : 0;
	free(copied);
	free(flow);
}

/* --- Sums --- */

/* The nodes in the order in which they take part in sums: by their first PE. */
static int *list_leaders(const struct job *job)
{
	int *leader = schedule_allocate((size_t)job->nodes, sizeof *leader), count = 0;
	bool *seen = schedule_allocate((size_t)job->nodes, sizeof *seen);

	for (int pe = 0; pe < job->lattice->grid.cells; pe++)
		if (!seen[job->node[pe]]) {
			seen[job->node[pe]] = true;
			leader[count++] = job->node[pe];
		}
	free(seen);
	return leader;
}

/* When what one node sends now is at another, or that one is itself there. */
static double arrival(const struct job *job, int from, int to)
{
	double there = job->time[from] + message_seconds(job->network, torus_hops(&job->lattice->shape, from, to),
							 job->lattice->sum / job->network->rate);

	return there > job->time[to] ? there : job->time[to];
}

/* As double_piece of shmem/reduce_small.c: those beyond a power of two give what they have to a neighbour, and get the result from it. */
static void sum_once(struct job *job, const int *leader)
{
	int power = 1, extra;
	double *next = schedule_allocate((size_t)job->nodes, sizeof *next);

	while (power <= job->nodes / 2)
		power *= 2;
	extra = job->nodes - power;
	for (int i = 0; i < extra; i++)
		job->time[leader[2 * i]] = arrival(job, leader[2 * i + 1], leader[2 * i]);
	for (int mask = 1; mask < power; mask *= 2) {
		for (int rank = 0; rank < power; rank++) {
			int partner = rank ^ mask, me = leader[rank < extra ? 2 * rank : rank + extra];

			next[me] = arrival(job, leader[partner < extra ? 2 * partner : partner + extra], me);
		}
		for (int rank = 0; rank < power; rank++) {
			int me = leader[rank < extra ? 2 * rank : rank + extra];

			job->time[me] = next[me];
		}
	}
	for (int i = 0; i < extra; i++)
		job->time[leader[2 * i + 1]] = arrival(job, leader[2 * i], leader[2 * i + 1]);
	free(next);
}

static double last_of(const struct job *job)
{
	double last = 0;

	for (int n = 0; n < job->nodes; n++)
		last = job->time[n] > last ? job->time[n] : last;
	return last;
}

struct lattice_times lattice_iteration(const struct lattice *lattice, const struct network *network)
{
	struct job job = {.lattice = lattice, .network = network};
	struct lattice_times times = {0};
	int *leader;

	place_pes(&job);
	exchange_faces(&job, &times);
	times.exchange = last_of(&job);
	times.computation = lattice->computes >= 0
				    ? lattice->computes
				    : (double)job.pes * lattice->local.cells * lattice->site / lattice->memory;
	for (int n = 0; n < job.nodes; n++)
		job.time[n] += times.computation;
	leader = list_leaders(&job);
	for (long i = 0; i < lattice->sums; i++)
		sum_once(&job, leader);
	times.sums = last_of(&job) - times.exchange - times.computation;
	free(leader);
	free(job.node);
	free(job.time);
	return times;
}
