/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Returns: what all bring for one comes back to it, combined on its path. With a few slots on each
 * link and every list in its order, nobody waits for ever; each part of each block has, in the end,
 * what every place brings just once; no link carries more than the steps of an all-gather; and on
 * rings of equal length no more time goes by than a link needs for its share, and a little.
 */
#include "comms/torus/ring_schedule.h"

#include <stdlib.h>

#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

#define SLOTS 8

static char text[TORUS_TEXT];

/* What goes back from a place to its neighbour in that direction. */
struct link {
	int from, to, count, sent, taken;
	struct torus_ring_step *steps;
};

struct run {
	const struct torus_shape *shape;
	int parts, directions, time;
	struct link *link; /* by place and direction: what the place gets from there */
	int *awaited;	   /* by place, part and origin: from how many neighbours */
	int *sum;	   /* what has been combined there: of how many places */
};

static int pile(const struct run *run, int place, const struct torus_ring_step *step)
{
	return (place * run->parts + step->part) * run->shape->places + step->origin;
}

static void make(struct run *run, const struct torus_shape *shape)
{
	size_t piles;

	*run = (struct run){.shape = shape, .parts = torus_ring_parts(shape), .directions = 2 * shape->axes};
	piles = (size_t)shape->places * (size_t)shape->places * (size_t)run->parts;
	run->link = calloc((size_t)(shape->places * run->directions), sizeof *run->link);
	run->awaited = calloc(piles + 1, sizeof *run->awaited);
	run->sum = calloc(piles + 1, sizeof *run->sum);
	for (int l = 0; l < shape->places * run->directions; l++) {
		struct link *link = &run->link[l];

		link->to = l / run->directions;
		link->from = shape->axis[l % run->directions / 2].size > 1
				     ? torus_neighbour(shape, link->to, l % run->directions)
				     : -1;
		link->count =
			link->from < 0 ? 0 : torus_ring_reverse_schedule(shape, link->to, l % run->directions, NULL);
		link->steps = calloc((size_t)link->count + 1, sizeof *link->steps);
		if (link->count > 0)
			torus_ring_reverse_schedule(shape, link->to, l % run->directions, link->steps);
		for (int i = 0; i < link->count; i++)
			run->awaited[pile(run, link->to, &link->steps[i])]++;
	}
	for (size_t i = 0; i < piles; i++)
		run->sum[i] = 1;
}

static void dispose(struct run *run)
{
	for (int l = 0; l < run->shape->places * run->directions; l++)
		free(run->link[l].steps);
	free(run->link);
	free(run->awaited);
	free(run->sum);
}

/* Of the links to a place, is this one's next the same, and there? */
static bool brings(const struct link *link, const struct torus_ring_step *step)
{
	return link->taken < link->sent && link->steps[link->taken].part == step->part &&
	       link->steps[link->taken].origin == step->origin;
}

static bool take(struct run *run, int place)
{
	struct link *links = &run->link[place * run->directions];
	bool moved = false;

	for (int w = 0; w < run->directions; w++) {
		const struct torus_ring_step *step = &links[w].steps[links[w].taken];
		int come = 0;

		for (int v = 0; links[w].taken < links[w].sent && v < run->directions; v++)
			come += brings(&links[v], step);
		if (come == 0 || come < run->awaited[pile(run, place, step)])
			continue;
		for (int v = 0; v < run->directions; v++)
			if (brings(&links[v], step)) {
				run->sum[pile(run, place, step)] += run->sum[pile(run, links[v].from, step)];
				links[v].taken++;
			}
		run->awaited[pile(run, place, step)] = 0;
		moved = true;
	}
	return moved;
}

/*
 * In a unit of time each link carries one part, if its sender has it complete and there is a slot.
 */
static bool step(struct run *run)
{
	int links = run->shape->places * run->directions;
	bool *goes = calloc((size_t)links, sizeof *goes), moved = false;

	for (int l = 0; l < links; l++) {
		struct link *link = &run->link[l];

		goes[l] = link->sent < link->count && link->sent - link->taken < SLOTS &&
			  run->awaited[pile(run, link->from, &link->steps[link->sent])] == 0;
	}
	for (int l = 0; l < links; l++) {
		run->link[l].sent += goes[l];
		moved |= goes[l];
	}
	for (int place = 0; place < run->shape->places; place++)
		while (take(run, place))
			moved = true;
	run->time += moved;
	free(goes);
	return moved;
}

static void check(const struct torus_shape *shape)
{
	struct run run;
	int most = torus_ring_schedule_most(shape);

	torus_shape_text(shape, text);
	make(&run, shape);
	while (step(&run))
		;
	for (int l = 0; l < shape->places * run.directions; l++) {
		EXPECT(run.link[l].taken == run.link[l].count, "%s: %d of %d came to %d in direction %d", text,
		       run.link[l].taken, run.link[l].count, l / run.directions, l % run.directions);
		EXPECT(run.link[l].count <= most, "%s: a link carries %d parts, at most %d", text, run.link[l].count,
		       most);
	}
	for (int part = 0; part < run.parts; part++)
		for (int place = 0; place < shape->places; place++) {
			struct torus_ring_step own = {.part = part, .origin = place};

			EXPECT(run.sum[pile(&run, place, &own)] == shape->places,
			       "%s: part %d for %d has what %d places bring", text, part, place,
			       run.sum[pile(&run, place, &own)]);
		}
	if (tori_equal_rings(shape))
		EXPECT(run.time <= most + most / 4 + 2, "%s: %d units of time for %d parts on a link", text, run.time,
		       most);
	dispose(&run);
}

int main(void)
{
	static const char *const known[] = {"3x3x3", "4x4",   "4x4x4", "5x5x5", "2dx2d", "5",	  "2",	    "2d",
					    "6",     "4mx3m", "2x2x2", "3x3m",	"1x5x1", "2x3x4", "3x3x3x3"};
	struct torus_shape shape;

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		tori_read(&shape, known[i]);
		check(&shape);
	}
	for (int i = 0; i < 60; i++) {
		tori_shape(&shape, 60);
		check(&shape);
	}
	return unit_failures > 0;
}
