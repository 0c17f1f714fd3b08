/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gathers, reduce-scatters and all-reduces by rings (comms/collectives/torus_allgather.h,
 * torus_allreduce.h). An all-gather is the ring schedule, a reduce-scatter the reverse one. An all-
 * reduce is on each link in each round the steps of the reverse ring schedule, and then those of
 * the ring schedule of the round before. (The library sends whichever is ready first.) Of a large
 * torus only the links of one node are replayed, and what its neighbours bring is taken from what
 * it brings to its own.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/torus/ring_schedule.h"
#include "simulate.h"

#define REPLAYED_WHOLE 512 /* places */
/* Of an all-reduce on a small torus or mesh; large ones of rings need no more than one. */
#define ROUNDS 16
#define IN_ROUNDS 128 /* places of a small one */
/* As the library does, of a reduce-scatter on rings. */
#define SCATTER_ROUNDS 2

struct link {
	int place, to, direction;
	int n_returns, n_steps;
	int last; /* transfer */
	struct torus_ring_step *returns, *steps;
};

/* What brings a part of one origin to a place. */
struct arrivals {
	int count, transfer[TORUS_DIRECTIONS];
};

struct rings {
	struct schedule *schedule;
	const struct torus_shape *shape;
	int parts, replayed, links; /* replayed: places */
	int rounds;
	bool gathers;  /* and does not reduce */
	bool scatters; /* what it reduced, and does not gather */
	struct link *link;
	/* Before: in the round before; of an all-gather nothing comes back. */
	struct arrivals *back, *before;
	int *brought;
	double bytes;		       /* of a block, in a round */
	double part[TORUS_DIRECTIONS]; /* bytes of each part of it */
};

static size_t index_of(const struct rings *r, const struct torus_ring_step *step, int place)
{
	size_t of = (size_t)step->part * (size_t)r->shape->places;

	if (r->replayed == 1)
		return of + (size_t)schedule_seen_from(r->shape, step->origin, place);
	return (of + (size_t)step->origin) * (size_t)r->shape->places + (size_t)place;
}

typedef int list_maker(const struct torus_shape *shape, int place, int direction, struct torus_ring_step *list);

static struct torus_ring_step *list_of(const struct rings *r, list_maker *make, int place, int direction, int *count)
{
	struct torus_ring_step *list;

	*count = make(r->shape, place, direction, NULL);
	list = schedule_allocate((size_t)*count, sizeof *list);
	make(r->shape, place, direction, list);
	return list;
}

static void find_links(struct rings *r)
{
	int directions = 2 * r->shape->axes;

	r->link = schedule_allocate((size_t)(r->replayed * directions), sizeof *r->link);
	for (int l = 0; l < r->replayed * directions; l++) {
		int place = l / directions, direction = l % directions;
		int to = r->shape->axis[direction / 2].size > 1 ? torus_neighbour(r->shape, place, direction) : -1;
		struct link *link = &r->link[r->links];

		if (to < 0)
			continue;
		*link = (struct link){.place = place, .to = to, .direction = direction, .last = -1};
		if (!r->gathers)
			link->returns = list_of(r, torus_ring_reverse_schedule, to, direction ^ 1, &link->n_returns);
		link->steps = list_of(r, torus_ring_schedule, place, direction, &link->n_steps);
		r->links++;
	}
}

/*
 * The lists of a place, moved to where another one is, are that one's: but for the order among what
 * is alike.
 */
static void compare_lists(const struct rings *r, int place)
{
	int *seen = schedule_allocate((size_t)(r->parts * r->shape->places), sizeof *seen);

	for (int l = 0; l < r->links; l++) {
		const struct link *link = &r->link[l];
		int count;
		struct torus_ring_step *list = list_of(r, torus_ring_schedule, place, link->direction, &count);
		bool alike = count == link->n_steps;

		for (int i = 0; i < link->n_steps; i++)
			seen[link->steps[i].part * r->shape->places + link->steps[i].origin] = 1 + link->steps[i].level;
		for (int i = 0; i < count; i++)
			alike &= seen[list[i].part * r->shape->places +
				      schedule_seen_from(r->shape, list[i].origin, place)] == 1 + list[i].level;
		memset(seen, 0, (size_t)(r->parts * r->shape->places) * sizeof *seen);
		free(list);
		if (!alike)
			schedule_differs(place);
	}
	free(seen);
}

static void add_return(struct rings *r, struct link *link, const struct torus_ring_step *step)
{
	const struct arrivals *before = &r->back[index_of(r, step, link->place)];
	struct arrivals *there = &r->back[index_of(r, step, link->to)];

	link->last = schedule_add(r->schedule, link->place, link->to, before->count, before->transfer, link->last,
				  r->part[step->part]);
	there->transfer[there->count++] = link->last;
}

static void add_step(struct rings *r, struct link *link, const struct torus_ring_step *step)
{
	const struct arrivals *own = &r->before[index_of(r, step, link->place)];
	bool mine = step->origin == link->place;

	link->last = schedule_add(r->schedule, link->place, link->to, mine ? own->count : 1,
				  mine ? own->transfer : &r->brought[index_of(r, step, link->place)], link->last,
				  r->part[step->part]);
	r->brought[index_of(r, step, link->to)] = link->last;
}

/* Level by level, since what a transfer waits for is to stand before it. */
static void add_returns(struct rings *r, int *at)
{
	for (int level = torus_diameter(r->shape); level >= 0; level--)
		for (int l = 0; l < r->links; l++)
			for (struct link *link = &r->link[l];
			     at[l] < link->n_returns && link->returns[at[l]].level == level; at[l]++)
				add_return(r, link, &link->returns[at[l]]);
}

static void add_steps(struct rings *r, int *at)
{
	for (int level = 0; level <= torus_diameter(r->shape); level++)
		for (int l = 0; l < r->links; l++)
			for (struct link *link = &r->link[l];
			     at[l] < link->n_steps && link->steps[at[l]].level == level; at[l]++)
				add_step(r, link, &link->steps[at[l]]);
}

static void add_all(struct rings *r, size_t piles)
{
	int *at = schedule_allocate((size_t)r->links, sizeof *at);

	for (int round = 0; round <= r->rounds; round++) {
		struct arrivals *free_now = r->before;

		memset(at, 0, (size_t)r->links * sizeof *at);
		r->before = r->back;
		r->back = free_now;
		memset(r->back, 0, piles * sizeof *r->back);
		if (round < r->rounds)
			add_returns(r, at);
		memset(at, 0, (size_t)r->links * sizeof *at);
		if (round > 0 && !r->scatters)
			add_steps(r, at);
	}
	free(at);
}

/* Those of an all-gather begin at whole lines, as in comms/collectives/torus_allgather.c. */
static void find_parts(struct rings *r)
{
	struct torus_ring_shares shares;

	torus_ring_shares(r->shape, r->gathers || r->scatters ? TORUS_ONE_WAY : TORUS_BOTH_WAYS, &shares);
	r->parts = torus_ring_parts(r->shape);
	for (int p = 0; p < r->parts; p++)
		r->part[p] = r->gathers ? (double)(torus_ring_part_begin(&shares, (size_t)r->bytes, p + 1) -
						   torus_ring_part_begin(&shares, (size_t)r->bytes, p))
					: r->bytes * torus_ring_share(&shares, p);
}

static void make(struct rings *r)
{
	size_t places = (size_t)r->shape->places, piles;

	r->replayed = schedule_one_node(r->schedule, REPLAYED_WHOLE) ? 1 : r->shape->places;
	find_parts(r);
	piles = (size_t)r->parts * places * (r->replayed == 1 ? 1 : places);
	r->back = schedule_allocate(piles, sizeof *r->back);
	r->before = schedule_allocate(piles, sizeof *r->before);
	r->brought = schedule_allocate(piles, sizeof *r->brought);
	find_links(r);
	for (int i = 0; r->replayed == 1 && i < SCHEDULE_COMPARED; i++)
		compare_lists(r, schedule_compared(r->shape, i));
	add_all(r, piles);
	for (int l = 0; l < r->links; l++) {
		free(r->link[l].returns);
		free(r->link[l].steps);
	}
	free(r->link);
	free(r->back);
	free(r->before);
	free(r->brought);
}

void schedule_allgather(struct schedule *schedule, double bytes)
{
	make(&(struct rings){.schedule = schedule,
			     .shape = &schedule->shape,
			     .gathers = true,
			     .rounds = 1,
			     .bytes = bytes});
}

void schedule_allreduce(struct schedule *schedule, double bytes)
{
	int rounds = schedule->shape.places > IN_ROUNDS ? 1 : ROUNDS;

	make(&(struct rings){.schedule = schedule,
			     .shape = &schedule->shape,
			     .rounds = rounds,
			     .bytes = bytes / schedule->shape.places / rounds});
}

void schedule_reduce_scatter(struct schedule *schedule, double bytes)
{
	make(&(struct rings){.schedule = schedule,
			     .shape = &schedule->shape,
			     .scatters = true,
			     .rounds = SCATTER_ROUNDS,
			     .bytes = bytes / SCATTER_ROUNDS});
}
