/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange_schedule.h"

#define KEPT (64UL << 20) /* bytes stored between the phases */
#define FEWEST_CUTS 2	  /* half-way round a ring, one goes up and one goes down */
#define MOST_CUTS 8
#define SHORTEST_PART 1024 /* more cuts would make messages too small to pay */

/* The axes longer than 1; returns their number. */
static int long_axes(const struct torus_shape *shape, int *axes)
{
	int count = 0;

	for (int a = 0; a < shape->axes; a++)
		if (shape->axis[a].size > 1)
			axes[count++] = a;
	return count;
}

int torus_exchange_phases(const struct torus_shape *shape)
{
	int axes[TORUS_AXES];

	return long_axes(shape, axes);
}

size_t torus_exchange_block_most(const struct torus_shape *shape)
{
	int phases = torus_exchange_phases(shape);

	return phases == 0 ? 0 : KEPT / ((size_t)shape->places * (size_t)phases) / 64 * 64;
}

int torus_exchange_cuts(const struct torus_shape *shape, size_t bytes)
{
	int cuts = FEWEST_CUTS;

	while (cuts < MOST_CUTS && bytes >= (size_t)torus_exchange_parts(shape, 2 * cuts) * SHORTEST_PART)
		cuts *= 2;
	return cuts;
}

int torus_exchange_parts(const struct torus_shape *shape, int cuts)
{
	return cuts * torus_exchange_phases(shape);
}

int torus_exchange_axis(const struct torus_shape *shape, int cuts, int part, int phase)
{
	int axes[TORUS_AXES], count = long_axes(shape, axes);

	return axes[(part / cuts + phase) % count];
}

/* Number of nodes that the furthest bundle of a cut travels from a coordinate. */
static int furthest_of(const struct torus_axis *axis, int at, int down, int cut)
{
	if (!axis->ring)
		return down ? at : axis->size - 1 - at;
	return (axis->size % 2 || cut % 2 == down) ? axis->size / 2 : axis->size / 2 - 1;
}

/* The coordinate this many steps on; on a mesh, below 0 if it does not exist. */
static int coordinate_on(const struct torus_axis *axis, int at, int down, int steps)
{
	int to = down ? at - steps : at + steps;

	if (axis->ring)
		return (to + axis->size) % axis->size;
	return to < axis->size ? to : -1;
}

/* A source of a link: traffic along a line, over the line's own link or over one of a bypass. */
struct source {
	int place, direction; /* the link of the line */
	int bypass, hop;      /* -1: its own link */
};

static int place_of(const struct torus_shape *shape, int line, int axis, int coordinate)
{
	return line + coordinate * shape->stride[axis];
}

/* A line and a direction of travel. */
struct line {
	const struct torus_shape *shape;
	const struct torus_lines *lines;
	int number, direction;
	struct torus_axis axis;
	int begins; /* the shape's coordinate that is 0 here */
};

static struct line line_through(const struct torus_shape *shape, const struct torus_lines *lines, int place,
				int direction)
{
	int a = direction / 2;
	struct line line = {shape,     lines,	       place_of(shape, place, a, -torus_coordinate(shape, place, a)),
			    direction, shape->axis[a], lines ? lines->begins[place * shape->axes + a] : -1};

	if (line.begins < 0)
		line.begins = 0;
	else
		line.axis.ring = false;
	return line;
}

static int in_shape(const struct line *line, int coordinate)
{
	return (coordinate + line->begins) % line->axis.size;
}

static int from_shape(const struct line *line, int place)
{
	int size = line->axis.size;

	return (torus_coordinate(line->shape, place, line->direction / 2) - line->begins + size) % size;
}

/* The number of bypasses between two of its coordinates: only lines that are no rings have any. */
static int bypasses_between(const struct line *line, int from, int to)
{
	int low = from < to ? from : to, high = from < to ? to : from, count = 0;

	for (int b = 0; line->lines && b < line->lines->bypasses; b++) {
		const struct torus_bypass *bypass = &line->lines->bypass[b];
		int at = from_shape(line, bypass->place);

		count += bypass->direction / 2 == line->direction / 2 && at >= low && at < high &&
			 place_of(line->shape, line->number, line->direction / 2, in_shape(line, at)) == bypass->place;
	}
	return count;
}

/* The directions in which a line's bundles leave one of its places, and arrive there. */
static int leaves_by(const struct line *line, int place)
{
	return torus_lines_leave(line->shape, line->lines, place, line->direction);
}

static int comes_by(const struct line *line, int place)
{
	int by = torus_lines_leave(line->shape, line->lines, place, line->direction ^ 1);

	return by ^ 1;
}

/* The links by which a step arrives and leaves: along its line, or on a bypass. */
static void find_links(const struct line *line, const struct source *source, struct torus_exchange_step *step)
{
	int next = torus_neighbour(line->shape, source->place, source->direction);

	step->from = step->onwards = source->direction;
	if (source->hop == 1)
		step->from = line->lines->bypass[source->bypass].side;
	else if (source->hop == 0)
		step->from = step->level == 0 ? -1 : comes_by(line, source->place);
	if (source->hop == 1)
		step->onwards = line->lines->bypass[source->bypass].side ^ 1;
	else if (source->bypass < 0 || source->hop == TORUS_BYPASS_HOPS - 1)
		step->onwards = torus_coordinate(line->shape, next, line->direction / 2) == step->target
					? -1
					: leaves_by(line, next);
}

/* One cut of a phase: from the coordinates behind this one, level by level. */
static int list_cut(const struct line *line, const struct source *source, int cut, struct torus_exchange_step step,
		    struct torus_exchange_step *list)
{
	const struct torus_axis *axis = &line->axis;
	int at = from_shape(line, source->place), down = line->direction % 2, count = 0;

	for (int behind = 0; behind < axis->size; behind++) {
		int origin = coordinate_on(axis, at, !down, behind), furthest;

		if (origin < 0)
			break;
		furthest = furthest_of(axis, origin, down, cut);
		for (int steps = furthest; steps > behind; steps--, count++) {
			if (!list)
				continue;
			step.level =
				behind + (TORUS_BYPASS_HOPS - 1) * bypasses_between(line, origin, at) + source->hop;
			step.line = line->number;
			step.origin = in_shape(line, origin);
			step.target = in_shape(line, coordinate_on(axis, origin, down, steps));
			find_links(line, source, &step);
			list[count] = step;
		}
	}
	return count;
}

/* Merges several sources of a link, each sorted by level. */
static void sort_by_level(struct torus_exchange_step *list, int count)
{
	for (int i = 1; i < count; i++) {
		struct torus_exchange_step step = list[i];
		int at = i;

		for (; at > 0 && list[at - 1].level > step.level; at--)
			list[at] = list[at - 1];
		list[at] = step;
	}
}

/* All steps over a link in a cut of a phase, from one source. */
static int list_source(const struct torus_shape *shape, const struct torus_lines *lines, const struct source *source,
		       struct torus_exchange_step step, int cuts, struct torus_exchange_step *list)
{
	int axes[TORUS_AXES], phases = long_axes(shape, axes), along = -1, cut = step.part;
	struct line line = line_through(shape, lines, source->place, source->direction);

	for (int i = 0; i < phases; i++)
		if (axes[i] == source->direction / 2)
			along = i;
	if (along < 0)
		return 0;
	step.part = (along - step.phase + phases) % phases * cuts + cut;
	return list_cut(&line, source, cut, step, list);
}

/*
 * Bundles on a link may come from several lines: i = 0 is the link's own line, the others are the
 * lines of flaws that a bypass leads round over this link, hop by hop of each bypass and direction.
 * Returns false if the i-th of them does not use this link.
 */
static bool find_source(const struct torus_shape *shape, const struct torus_lines *lines, struct torus_hop link, int i,
			struct source *source)
{
	const struct torus_bypass *bypass;
	struct torus_hop hop;

	*source = (struct source){link.place, link.direction, -1, 0};
	if (i == 0)
		return torus_lines_leave(shape, lines, link.place, link.direction) == link.direction;
	i--;
	source->bypass = i / (2 * TORUS_BYPASS_HOPS);
	source->hop = i % TORUS_BYPASS_HOPS;
	bypass = &lines->bypass[source->bypass];
	source->direction = bypass->direction ^ (i / TORUS_BYPASS_HOPS % 2);
	source->place = source->direction == bypass->direction
				? bypass->place
				: torus_neighbour(shape, bypass->place, bypass->direction);
	hop = torus_bypass_hop(shape, bypass, source->direction != bypass->direction, source->hop);
	return hop.place == link.place && hop.direction == link.direction;
}

int torus_exchange_schedule(const struct torus_shape *shape, const struct torus_lines *lines, int cuts, int place,
			    int direction, struct torus_exchange_step *list)
{
	int phases = torus_exchange_phases(shape), sources = 1 + (lines ? 2 * TORUS_BYPASS_HOPS * lines->bypasses : 0);
	int count = 0;

	if (torus_neighbour(shape, place, direction) < 0)
		return 0;
	for (int phase = 0; phase < phases; phase++)
		for (int cut = 0; cut < cuts; cut++) {
			int begin = count;

			for (int i = 0; i < sources; i++) {
				struct source source;

				if (find_source(shape, lines, (struct torus_hop){place, direction}, i, &source))
					count += list_source(shape, lines, &source,
							     (struct torus_exchange_step){.phase = phase, .part = cut},
							     cuts, list ? list + count : NULL);
			}
			if (list && sources > 1)
				sort_by_level(list + begin, count - begin);
		}
	return count;
}

/*
 * For all pairs of a line: how many cross its busiest link, if half of those half-way round go each
 * way; and their total hops.
 */
static double busiest_of_line(const struct torus_axis *axis)
{
	int size = axis->size;

	return axis->ring ? size * size / 4 / 2.0 : (double)(size / 2) * ((size + 1) / 2);
}

static double hops_of_line(const struct torus_axis *axis)
{
	int size = axis->size;

	return axis->ring ? (double)size * (size * size / 4) : (double)size * (size * size - 1) / 3.0;
}

/* Load of the busiest link of an axis, without bypasses. */
static double busiest_of_axis(const struct torus_shape *shape, const struct torus_lines *lines, int a)
{
	struct torus_axis axis = shape->axis[a];

	for (int p = 0; lines && p < shape->places; p++)
		axis.ring &= lines->begins[p * shape->axes + a] < 0;
	return busiest_of_line(&axis) * shape->places / axis.size;
}

/* Largest load of a bypass's links: of other lines, and of their own. */
static double busiest_of_bypass(const struct torus_shape *shape, const struct torus_lines *lines, const double *axes,
				int number)
{
	double busiest = 0;

	for (int i = 0; i < 2 * TORUS_BYPASS_HOPS; i++) {
		struct torus_hop link = torus_bypass_hop(shape, &lines->bypass[number], i % 2, i / 2);
		double here = axes[link.direction / 2];

		for (int j = 1; j <= 2 * TORUS_BYPASS_HOPS * lines->bypasses; j++) {
			struct source source;

			if (find_source(shape, lines, link, j, &source))
				here += axes[source.direction / 2];
		}
		busiest = here > busiest ? here : busiest;
	}
	return busiest;
}

double torus_exchange_busiest(const struct torus_shape *shape, const struct torus_lines *lines)
{
	double busiest = 0, axes[TORUS_AXES];

	for (int a = 0; a < shape->axes; a++) {
		axes[a] = busiest_of_axis(shape, lines, a);
		busiest = axes[a] > busiest ? axes[a] : busiest;
	}
	for (int b = 0; lines && b < lines->bypasses; b++) {
		double here = busiest_of_bypass(shape, lines, axes, b);

		busiest = here > busiest ? here : busiest;
	}
	return busiest;
}

double torus_exchange_mean(const struct torus_shape *shape)
{
	double hops = 0, links = 0;

	for (int a = 0; a < shape->axes; a++) {
		double size = shape->axis[a].size;

		hops += hops_of_line(&shape->axis[a]) * shape->places / size * shape->places / size;
		links += size > 1 ? shape->places / size * (shape->axis[a].ring ? 2 * size : 2 * (size - 1)) : 0;
	}
	return links > 0 ? hops / links : 0;
}
