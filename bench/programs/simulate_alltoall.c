/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange schedule (comms/torus/exchange_schedule.h) as
 * comms/collectives/torus_links_alltoall.c carries it out, a transfer for each bundle: in as many
 * cuts as it takes, and blocks that are too large at once in rounds. A node begins a round when it
 * is done with the one before. Of a large torus only the links of one node are replayed; what it
 * sends to a neighbour is then what it gets from the one opposite.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/torus/exchange_schedule.h"
#include "comms/torus/model.h"
#include "simulate.h"

#define REPLAYED_WHOLE 128 /* places */

struct link {
	int place, to, direction, count, done, last;
	int before; /* the last transfer of the round before */
	struct torus_exchange_step *steps;
};

/*
 * What a place has got of a part up to the end of a phase: the transfers that brought it, none for
 * what passed.
 */
struct gathered {
	int count, *transfer;
};

struct alltoall {
	struct schedule *schedule;
	const struct torus_shape *shape;
	int replayed; /* places */
	int cuts, parts, phases, longest, links;
	struct link *link;
	struct gathered *gathered; /* by place, part and phase */
	/*
	 * By place, part, and origin and target as seen from the place: what brought it; of the
	 * phase that is.
	 */
	int *passing;
	size_t bytes; /* of a block in this round */
};

static int index_of(const struct alltoall *a, int place)
{
	return a->replayed == 1 ? 0 : place;
}

static struct gathered *gathered_of(const struct alltoall *a, int place, int part, int phase)
{
	return &a->gathered[(index_of(a, place) * a->parts + part) * a->phases + phase];
}

static int seen_from(const struct alltoall *a, int coordinate, int place, int axis)
{
	int size = a->shape->axis[axis].size;

	return (coordinate - torus_coordinate(a->shape, place, axis) + size) % size;
}

static int *passing_of(const struct alltoall *a, int place, int axis, const struct torus_exchange_step *step)
{
	int origin = seen_from(a, step->origin, place, axis), target = seen_from(a, step->target, place, axis);

	return &a->passing[((index_of(a, place) * a->parts + step->part) * a->longest + origin) * a->longest + target];
}

static struct torus_exchange_step *list_of(const struct alltoall *a, int place, int direction, int *count)
{
	struct torus_exchange_step *list;

	*count = torus_exchange_schedule(a->shape, NULL, a->cuts, place, direction, NULL);
	list = schedule_allocate((size_t)*count, sizeof *list);
	torus_exchange_schedule(a->shape, NULL, a->cuts, place, direction, list);
	return list;
}

/* Of a round; a link goes on behind what it has sent in the one before. */
static void find_links(struct alltoall *a)
{
	int directions = 2 * a->shape->axes;
	bool first = a->link == NULL;

	if (first)
		a->link = schedule_allocate((size_t)(a->replayed * directions), sizeof *a->link);
	a->links = 0;
	for (int l = 0; l < a->replayed * directions; l++) {
		struct link *link = &a->link[a->links];
		int place = l / directions, direction = l % directions;
		int last = first ? -1 : link->last;

		if (torus_exchange_schedule(a->shape, NULL, a->cuts, place, direction, NULL) == 0)
			continue;
		*link = (struct link){.place = place, .direction = direction, .last = last, .before = last};
		link->to = torus_neighbour(a->shape, place, direction);
		link->steps = list_of(a, place, direction, &link->count);
		a->links++;
	}
}

/* The list of a place is that of the replayed one, moved there. */
static void compare_lists(const struct alltoall *a, int place)
{
	for (int l = 0; l < a->links; l++) {
		const struct link *link = &a->link[l];
		int axis = link->direction / 2, count;
		struct torus_exchange_step *list = list_of(a, place, link->direction, &count);
		bool alike = count == link->count;

		for (int i = 0; alike && i < count; i++) {
			list[i].origin = seen_from(a, list[i].origin, place, axis);
			list[i].target = seen_from(a, list[i].target, place, axis);
			list[i].line -= place - torus_coordinate(a->shape, place, axis) * a->shape->stride[axis];
			alike = memcmp(&list[i], &link->steps[i], sizeof *list) == 0;
		}
		free(list);
		if (!alike)
			schedule_differs(place);
	}
}

/*
 * What must have come before a place begins a round: all that the links to it brought in the one
 * before. Returns how many.
 */
static int find_round_before(const struct alltoall *a, int place, int before[TORUS_DIRECTIONS])
{
	int count = 0;

	for (int l = 0; l < a->links; l++)
		if (index_of(a, a->link[l].to) == place && a->link[l].before >= 0 && count < TORUS_DIRECTIONS)
			before[count++] = a->link[l].before;
	return count;
}

static double bytes_of(const struct alltoall *a, int part)
{
	return (double)(torus_part_begin(a->bytes, a->parts, part + 1) - torus_part_begin(a->bytes, a->parts, part));
}

static void add_step(struct alltoall *a, struct link *link)
{
	const struct torus_exchange_step *step = &link->steps[link->done++];
	int axis = link->direction / 2, begin[TORUS_DIRECTIONS], count = 0, *before = begin;
	struct gathered *there = gathered_of(a, link->to, step->part, step->phase);
	double bytes = bytes_of(a, step->part) * a->shape->places / a->shape->axis[axis].size;

	if (step->level > 0) {
		before = passing_of(a, link->place, axis, step);
		count = 1;
	} else if (step->phase > 0) {
		before = gathered_of(a, link->place, step->part, step->phase - 1)->transfer;
		count = gathered_of(a, link->place, step->part, step->phase - 1)->count;
	} else if (link->done == 1) {
		count = find_round_before(a, link->place, begin);
	}
	link->last = schedule_add(a->schedule, link->place, link->to, count, before, link->last, bytes);
	if (torus_coordinate(a->shape, link->to, axis) == step->target)
		there->transfer[there->count++] = link->last;
	else
		*passing_of(a, link->to, axis, step) = link->last;
}

/* A phase begins with what came in all phases before it. */
static void begin_phase(struct alltoall *a, int phase)
{
	for (int i = 0; phase > 0 && i < a->replayed * a->parts; i++) {
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
		for (int cut = 0; cut < a->cuts; cut++)
			for (int level = 0; level < a->longest; level++)
				for (int l = 0; l < a->links; l++) {
					struct link *link = &a->link[l];

					while (link->done < link->count && link->steps[link->done].phase == phase &&
					       link->steps[link->done].part % a->cuts == cut &&
					       link->steps[link->done].level == level)
						add_step(a, link);
				}
	}
}

static void add_round(struct alltoall *a, size_t bytes)
{
	size_t piles, each = (size_t)(a->longest * a->phases);
	int *transfers;

	a->bytes = bytes;
	a->cuts = torus_exchange_cuts(a->shape, bytes);
	a->parts = torus_exchange_parts(a->shape, a->cuts);
	piles = (size_t)a->replayed * (size_t)a->parts;
	a->gathered = schedule_allocate(piles * (size_t)a->phases, sizeof *a->gathered);
	transfers = schedule_allocate(piles * (size_t)a->phases * each, sizeof *transfers);
	a->passing = schedule_allocate(piles * (size_t)(a->longest * a->longest), sizeof *a->passing);
	for (size_t i = 0; i < piles * (size_t)a->phases; i++)
		a->gathered[i].transfer = transfers + i * each;
	find_links(a);
	for (int i = 0; a->replayed == 1 && i < SCHEDULE_COMPARED; i++)
		compare_lists(a, schedule_compared(a->shape, i));
	add_all(a);
	for (int l = 0; l < a->links; l++)
		free(a->link[l].steps);
	free(transfers);
	free(a->gathered);
	free(a->passing);
}

void schedule_alltoall(struct schedule *schedule, double bytes)
{
	struct alltoall a = {.schedule = schedule, .shape = &schedule->shape};
	size_t left = (size_t)bytes, most = torus_exchange_block_most(a.shape);

	a.replayed = schedule_one_node(schedule, REPLAYED_WHOLE) ? 1 : a.shape->places;
	a.phases = torus_exchange_phases(a.shape);
	if (most == 0) {
		fprintf(stderr, "simulate: an all-to-all by links needs links, and fewer places\n");
		exit(2);
	}
	for (int axis = 0; axis < a.shape->axes; axis++)
		if (a.shape->axis[axis].size > a.longest)
			a.longest = a.shape->axis[axis].size;
	for (size_t now; left > 0; left -= now) {
		now = left < most ? left : most;
		add_round(&a, now);
	}
	free(a.link);
}
