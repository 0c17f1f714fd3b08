/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring all-reduce and its first half as plans: the streams of torus_allreduce.c, prepared once,
 * and advanced by any thread that moves lists. Run numbers replace the team's operation numbers,
 * and the plan has its own words and slots.
 */
#include "ring_inside.h"

#include <stdlib.h>
#include <string.h>

#include "rte/rte.h"

struct torus_ring_plan {
	struct torus_ring_allreduce allreduce;
	ptrdiff_t there[TORUS_DIRECTIONS];
	struct ring_reduce reduce;
	size_t *blocks; /* of a reduce-scatter, with room for partial results; or NULL */
	char *partial;
};

static void keep_blocks(struct torus_ring_plan *plan)
{
	struct torus_ring_allreduce *reduce = &plan->allreduce;
	size_t places = (size_t)reduce->topology->sites.shape.places;

	plan->blocks = malloc(places * sizeof *plan->blocks);
	plan->partial = malloc(reduce->bytes);
	if (!plan->blocks || !plan->partial)
		rte_die(reduce->routine, "no memory for %zu bytes of partial results", reduce->bytes);
	memcpy(plan->blocks, reduce->blocks, places * sizeof *plan->blocks);
	reduce->blocks = plan->blocks;
	reduce->dest = plan->partial;
}

struct torus_ring_plan *torus_ring_plan_make(const struct torus_ring_allreduce *allreduce)
{
	struct torus_ring_plan *plan = calloc(1, sizeof *plan);

	if (!plan)
		rte_die(allreduce->routine, "no memory for a plan of %zu bytes", allreduce->bytes);
	plan->allreduce = *allreduce;
	memcpy(plan->there, allreduce->room.there, sizeof plan->there);
	plan->allreduce.room.there = plan->there;
	if (allreduce->blocks)
		keep_blocks(plan);
	ring_reduce_prepare(&plan->reduce, &plan->allreduce);
	return plan;
}

static void rewind_plan(struct torus_ring_plan *plan, uint64_t run)
{
	size_t piles = (size_t)TORUS_DIRECTIONS * (size_t)plan->allreduce.topology->sites.shape.places;

	torus_streams_rewind(&plan->reduce.back.streams, run);
	torus_streams_rewind(&plan->reduce.forth.streams, run);
	for (size_t i = 0; i < piles; i++)
		plan->reduce.pile[i].combined = plan->reduce.pile[i].complete = 0;
}

static size_t plan_progress(const struct torus_ring_plan *plan)
{
	return torus_streams_progress(&plan->reduce.back.streams) + torus_streams_progress(&plan->reduce.forth.streams);
}

bool torus_ring_plan_advance(struct torus_ring_plan *plan, uint64_t run, bool *moved)
{
	size_t before;
	bool done;

	if (plan->reduce.back.streams.number != run)
		rewind_plan(plan, run);
	before = plan_progress(plan);
	done = ring_reduce_advance(&plan->reduce);
	*moved |= plan_progress(plan) != before;
	return done;
}

void torus_ring_plan_free(struct torus_ring_plan *plan)
{
	ring_reduce_dispose(&plan->reduce);
	free(plan->partial);
	free(plan->blocks);
	free(plan);
}

size_t torus_ring_plan_staging(const struct torus_topology *topology, size_t bytes)
{
	struct torus_streams streams = {.topology = topology, .by_plan = true};

	ring_cut_streams(&streams, bytes);
	return 2 * (size_t)topology->sites.shape.axes * streams.share;
}

size_t torus_ring_plan_staging_of_blocks(const struct torus_topology *topology, size_t block)
{
	struct torus_streams streams = {.topology = topology, .by_plan = true};

	ring_cut_streams_of_blocks(&streams, block);
	return 2 * (size_t)topology->sites.shape.axes * streams.share;
}
