/* SPDX-License-Identifier: BSD-3-Clause */
/* The exchange schedule (comms/torus/exchange_schedule.h) as comms/coll/torus_links_alltoall.c carries it out, a transfer for each bundle. */
#include <stdio.h>
#include <stdlib.h>

#include "comms/torus/exchange_schedule.h"
#include "simulate.h"

#define CUTS 8

struct link {
	int place, to, direction, count, done, last;
	struct torus_exchange_step *steps;
};

/* What a place has got of a part up to the end of a phase: the transfers that brought it, none for what passed. */
struct gathered {
	int count, *transfer;
};

struct alltoall {
	struct schedule *schedule;
	const struct torus_shape *shape;
	int parts, phases, longest, links;
	struct link *link;
	struct gathered *gathered; /* by place, part and phase */
	int *passing; /* by place, part, and coordinates of origin and target: what brought it; of the phase that is */
	double bytes; /* of a part */
};

static struct gathered *gathered_of(const struct alltoall *a, int place, int part, int phase)
{
	return &a->gathered[(place * a->parts + part) * a->phases + phase];
}

static int *passing_of(const struct alltoall *a, int place, const struct torus_exchange_step *step)
{
	return &a->passing[((place * a->parts + step->part) * a->longest + step->origin) * a->longest + step->target];
}

static void find_links(struct alltoall *a)
{
	int directions = 2 * a->shape->axes;

	a->link = schedule_allocate((size_t)(a->shape->places * directions), sizeof *a->link);
	for (int l = 0; l < a->shape->places * directions; l++) {
		int place = l / directions, direction = l % directions;
		struct link *link = &a->link[a->links];

		*link = (struct link){.place = place, .direction = direction, .last = -1};
		link->count = torus_exchange_schedule(a->shape, CUTS, place, direction, NULL);
		if (link->count == 0)
			continue;
		link->to = torus_neighbour(a->shape, place, direction);
		link->steps = schedule_allocate((size_t)link->count, sizeof *link->steps);
		torus_exchange_schedule(a->shape, CUTS, place, direction, link->steps);
		a->links++;
	}
}

static void add_step(struct alltoall *a, struct link *link)
{
	const struct torus_exchange_step *step = &link->steps[link->done++];
	int axis = link->direction / 2;
	struct gathered *there = gathered_of(a, link->to, step->part, step->phase), none = {0}, *before = &none;
	double bytes = a->bytes * a->shape->places / a->shape->axis[axis].size;

	if (step->level == 0 && step->phase > 0)
		before = gathered_of(a, link->place, step->part, step->phase - 1);
	link->last = schedule_add(a->schedule, link->place, link->to, step->level ? 1 : before->count,
				  step->level ? passing_of(a, link->place, step) : before->transfer, link->last, bytes);
	if (torus_coordinate(a->shape, link->to, axis) == step->target)
		there->transfer[there->count++] = link->last;
	else
		*passing_of(a, link->to, step) = link->last;
}

/* A phase begins with what came in all phases before it. */
static void begin_phase(struct alltoall *a, int phase)
{
	for (int i = 0; phase > 0 && i < a->shape->places * a->parts; i++) {
		const struct gathered *before = &a->gathered[i * a->phases + phase - 1];
		struct gathered *now = &a->gathered[i * a->phases + phase];

		for (int t = 0; t < before->count; t++)
			now->transfer[now->count++] = before->transfer[t];
	}
}

/* What a transfer waits for is to stand before it: by phase, cut and level, over all links. */
static void add_all(struct alltoall *a)
{
	for (int phase = 0; phase < a->phases; phase++) {
		begin_phase(a, phase);
		for (int cut = 0; cut < CUTS; cut++)
			for (int level = 0; level < a->longest; level++)
				for (int l = 0; l < a->links; l++) {
					struct link *link = &a->link[l];

					while (link->done < link->count && link->steps[link->done].phase == phase &&
					       link->steps[link->done].part % CUTS == cut &&
					       link->steps[link->done].level == level)
						add_step(a, link);
				}
	}
}

void schedule_alltoall(struct schedule *schedule, double bytes)
{
	struct alltoall a = {.schedule = schedule, .shape = &schedule->shape};
	size_t piles;

	a.phases = torus_exchange_phases(a.shape);
	a.parts = torus_exchange_parts(a.shape, CUTS);
	a.bytes = bytes / a.parts;
	for (int axis = 0; axis < a.shape->axes; axis++)
		if (a.shape->axis[axis].size > a.longest)
			a.longest = a.shape->axis[axis].size;
	piles = (size_t)a.shape->places * (size_t)a.parts;
	a.gathered = schedule_allocate(piles * (size_t)a.phases, sizeof *a.gathered);
	a.passing = schedule_allocate(piles * (size_t)(a.longest * a.longest), sizeof *a.passing);
	for (size_t i = 0; i < piles * (size_t)a.phases; i++)
		a.gathered[i].transfer =
			schedule_allocate((size_t)(a.longest * a.phases), sizeof *a.gathered[i].transfer);
	find_links(&a);
	add_all(&a);
	for (int l = 0; l < a.links; l++)
		free(a.link[l].steps);
	for (size_t i = 0; i < piles * (size_t)a.phases; i++)
		free(a.gathered[i].transfer);
	free(a.link);
	free(a.gathered);
	free(a.passing);
}
