/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An alltoall or alltoallv from neighbour to neighbour on a torus as a plan, as the collective does
 * it. It is a procedure of its list, like those of plan_rings.c. Blocks that are longer than what a
 * node may hold for others go in rounds.
 */
#include "plans.h"

#include <stdlib.h>
#include <string.h>

#include "comms/collectives/torus_links_alltoall.h"
#include "shmem/vectors/vectors.h"

struct linked_round {
	struct linked_blocks blocks;
	struct torus_links_plan *plan;
};

struct linked_plan {
	struct vector to, from; /* of all rounds */
	uint64_t run;
	size_t rounds, over; /* over: of this run */
	struct linked_round round[];
};

static bool advance_links(void *state, uint64_t run, bool *moved)
{
	struct linked_plan *linked = state;

	if (linked->run != run)
		linked->over = 0;
	linked->run = run;
	while (linked->over < linked->rounds && torus_links_plan_advance(linked->round[linked->over].plan, run, moved))
		linked->over++;
	return linked->over == linked->rounds;
}

static void dispose_links(void *state)
{
	struct linked_plan *linked = state;

	for (size_t i = 0; i < linked->rounds; i++)
		torus_links_plan_free(linked->round[i].plan);
	vector_free(&linked->to);
	vector_free(&linked->from);
	free(linked);
}

static size_t count_rounds(const struct maker *m, size_t longest)
{
	size_t most = torus_links_alltoall_most(m->set.team->topology);

	return (longest + most - 1) / most;
}

static size_t bytes_of_round(const struct maker *m, size_t longest, size_t round)
{
	size_t most = torus_links_alltoall_most(m->set.team->topology), left = longest - round * most;

	return left < most ? left : most;
}

/* All rounds but the last are equal. */
static size_t links_staging(const struct maker *m, size_t longest)
{
	const struct torus_topology *topology = m->set.team->topology;
	size_t first = torus_links_plan_staging(topology, bytes_of_round(m, longest, 0));
	size_t last = torus_links_plan_staging(topology, bytes_of_round(m, longest, count_rounds(m, longest) - 1));

	return sizeof(struct torus_words) + (first > last ? first : last);
}

static struct linked_plan *make_rounds(struct maker *m, const struct plan_order *order, size_t longest)
{
	size_t rounds = count_rounds(m, longest);
	struct linked_plan *linked = calloc(1, sizeof *linked + rounds * sizeof linked->round[0]);
	struct torus_words *words = (struct torus_words *)(void *)m->plan->staging;
	ptrdiff_t there[TORUS_DIRECTIONS] = {0};

	if (!linked)
		rte_die(m->set.routine, "no memory for a plan of %zu rounds", rounds);
	memset(words, 0, sizeof *words);
	plan_find_stagings(m, there);
	linked->to = vector_copy(&m->set, order->to);
	linked->from = vector_copy(&m->set, order->from);
	linked->rounds = rounds;
	for (size_t i = 0; i < rounds; i++) {
		struct linked_round *round = &linked->round[i];
		struct torus_links_alltoall alltoall = {.topology = m->set.team->topology,
							.words = words,
							.staging = (char *)(words + 1),
							.there = there,
							.bytes = bytes_of_round(m, longest, i),
							.load = vectors_load,
							.store = vectors_store,
							.blocks = &round->blocks,
							.routine = m->set.routine};

		round->blocks = (struct linked_blocks){order->dest, order->source, linked->to, linked->from,
						       i * bytes_of_round(m, longest, 0)};
		round->plan = torus_links_plan_make(&alltoall, (struct torus_links_round){i, rounds});
	}
	return linked;
}

size_t plan_agree_on_links(struct maker *m, const struct plan_order *order)
{
	uint64_t most[] = {order->from->longest, order->from->sum};

	if (plan_wants_nic(m) || !set_may_take_links(&m->set))
		return 0;
	set_reduce_words(&m->set, most, 2, SET_MOST);
	if (rte_is_broken()) /* the most of other members may be missing */
		return 0;
	return most[0] > 0 && set_prefers_links(&m->set, most[0], most[1]) ? most[0] : 0;
}

bool plan_begin_links(struct maker *m, size_t ports, size_t staging, size_t *longest)
{
	size_t linked = *longest > 0 ? links_staging(m, *longest) : 0;
	bool quiet = m->quiet, begun;

	if (linked <= staging)
		return plan_begin(m, ports, staging, 0);
	m->quiet = true;
	begun = plan_begin(m, ports, linked, 0);
	m->quiet = quiet;
	if (begun)
		return true;
	*longest = 0;
	return plan_begin(m, ports, staging, 0);
}

void plan_links_add(struct maker *m, const struct plan_order *order, size_t longest)
{
	plan_advance(m, plan_queue(m),
		     (struct comms_procedure){advance_links, dispose_links, make_rounds(m, order, longest)});
}
