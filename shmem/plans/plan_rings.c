/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An all-reduce or a reduce-scatter by the rings of a torus as a plan. It is a procedure of its
 * list (comms/collectives/torus_ring_plan.c), not commands, because a piece waits for several
 * neighbours, and each link has many steps. The plan's staging begins with its words; slots follow.
 */
#include "plans.h"

#include <stdlib.h>
#include <string.h>

#include "comms/collectives/torus_allreduce.h"

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

/* No member uses the words before all have made the plan (plan_end). */
void plan_rings_add(struct maker *m, int queue, const struct plan_rings *rings)
{
	const struct torus_topology *topology = m->set.team->topology;
	const struct torus_shape *shape = &topology->sites.shape;
	struct torus_words *words = ring_words(m->plan->staging);
	ptrdiff_t there[TORUS_DIRECTIONS] = {0};

	memset(words, 0, 2 * sizeof *words);
	for (int direction = 0; direction < 2 * shape->axes; direction++) {
		int next = shape->axis[direction / 2].size > 1 ? torus_neighbour(shape, topology->me, direction) : -1;

		if (next >= 0)
			there[direction] = plan_staging(m, topology->pe[next]) - m->plan->staging;
	}
	plan_advance(m, queue,
		     (struct comms_procedure){advance_rings, dispose_rings, make_rings(m, rings, words, there)});
}
