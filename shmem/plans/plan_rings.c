/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An all-reduce, a reduce-scatter or an all-gather by the rings of a torus as a plan. It is a
 * procedure of its list (comms/collectives/torus_ring_plan.c, torus_allgather.c), not commands,
 * because a piece waits for several neighbours, and each link has many steps. The plan's staging
 * begins with its words; slots follow.
 */
#include "plans.h"

#include <stdlib.h>
#include <string.h>

#include "comms/collectives/torus_allreduce.h"
#include "shmem/gather.h"

/* For pieces to combine, and for results. */
static struct torus_words *ring_words(char *staging)
{
	return (struct torus_words *)(void *)staging;
}

size_t plan_rings_staging(const struct maker *m, bool scatters)
{
	const struct torus_topology *topology = m->set.team->topology;

	return 2 * sizeof(struct torus_words) + (scatters ? torus_ring_plan_staging_of_blocks(topology, m->bytes)
							  : torus_ring_plan_staging(topology, m->bytes));
}

static bool advance_rings(void *state, uint64_t run, bool *moved)
{
	return torus_ring_plan_advance(state, run, moved);
}

static void dispose_rings(void *state)
{
	torus_ring_plan_free(state);
}

static struct torus_ring_plan *make_rings(const struct maker *m, const struct plan_rings *rings,
					  struct torus_words *words, const ptrdiff_t *there)
{
	const struct torus_topology *topology = m->set.team->topology;
	struct torus_ring_allreduce allreduce = {
		.topology = topology,
		.room = {words, words + 1, (char *)(words + 2), there},
		.source = rings->source,
		.combine = rings->combine,
		.element = rings->element,
		.routine = m->set.routine,
	};
	size_t places = (size_t)topology->sites.shape.places, *blocks;
	struct torus_ring_plan *plan;

	if (!rings->scatters) {
		allreduce.dest = rings->dest;
		allreduce.bytes = m->bytes;
		return torus_ring_plan_make(&allreduce);
	}
	blocks = malloc(places * sizeof *blocks);
	if (!blocks)
		rte_die(m->set.routine, "no memory for the blocks of %zu nodes", places);
	for (size_t p = 0; p < places; p++)
		blocks[p] = (size_t)topology->sites.node[p] * m->bytes;
	allreduce.blocks = blocks;
	allreduce.own = rings->dest;
	allreduce.bytes = m->bytes * places;
	plan = torus_ring_plan_make(&allreduce);
	free(blocks);
	return plan;
}

void plan_find_stagings(struct maker *m, ptrdiff_t there[TORUS_DIRECTIONS])
{
	const struct torus_topology *topology = m->set.team->topology;
	const struct torus_shape *shape = &topology->sites.shape;

	for (int direction = 0; direction < 2 * shape->axes; direction++) {
		int next = shape->axis[direction / 2].size > 1 ? torus_neighbour(shape, topology->me, direction) : -1;

		if (next >= 0)
			there[direction] = plan_staging(m, topology->pe[next]) - m->plan->staging;
	}
}

/* No member uses the words before all have made the plan (plan_end). */
void plan_rings_add(struct maker *m, int queue, const struct plan_rings *rings)
{
	struct torus_words *words = ring_words(m->plan->staging);
	ptrdiff_t there[TORUS_DIRECTIONS] = {0};

	memset(words, 0, 2 * sizeof *words);
	plan_find_stagings(m, there);
	plan_advance(m, queue,
		     (struct comms_procedure){advance_rings, dispose_rings, make_rings(m, rings, words, there)});
}

/* --- All-gather --- */

static bool advance_gather(void *state, uint64_t run, bool *moved)
{
	return torus_gather_plan_advance(state, run, moved);
}

static void dispose_gather(void *state)
{
	torus_gather_plan_free(state);
}

bool plan_gather_by_rings(struct maker *m, const struct layout *layout, char *dest, const void *source)
{
	int me = m->set.group->me, queue;
	ptrdiff_t there[TORUS_DIRECTIONS] = {0};
	struct torus_gathering gathering;
	struct torus_words *words;

	if (!plan_begin(m, (size_t)m->set.group->size, sizeof *words, 0))
		return false;
	words = ring_words(m->plan->staging);
	memset(words, 0, sizeof *words);
	plan_find_stagings(m, there);
	gathering = gather_along_runs(&m->set, layout, dest);
	gathering.words = words;
	gathering.there = there;
	queue = plan_queue(m);
	if (block_bytes(layout, me) > 0 && dest + block_at(layout, me) != source)
		plan_copy(m, queue, AT_ONCE, dest + block_at(layout, me), source, block_bytes(layout, me));
	plan_advance(m, queue,
		     (struct comms_procedure){advance_gather, dispose_gather, torus_gather_plan_make(&gathering)});
	gather_free_runs(&gathering);
	return true;
}
