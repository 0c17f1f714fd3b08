/* SPDX-License-Identifier: BSD-3-Clause */
#include "exchange_schedule.h"

#define KEPT (64UL << 20) /* bytes between the phases */
#define FEWEST_CUTS 2	  /* half-way round a ring one goes up, the other down */
#define MOST_CUTS 8
#define SHORTEST_PART 1024 /* more cuts would make messages that are not worth it */

/* The axes longer than 1; returns how many. */
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

/* How many nodes further the furthest bundle of a cut goes from a coordinate. */
static int furthest_of(const struct torus_axis *axis, int at, int down, int cut)
{
	if (!axis->ring)
		return down ? at : axis->size - 1 - at;
	return (axis->size % 2 || cut % 2 == down) ? axis->size / 2 : axis->size / 2 - 1;
}

/* The coordinate so many steps on; on a mesh it is there, or the result is below 0. */
static int coordinate_on(const struct torus_axis *axis, int at, int down, int steps)
{
	int to = down ? at - steps : at + steps;

	if (axis->ring)
		return (to + axis->size) % axis->size;
	return to < axis->size ? to : -1;
}

/* A line as it is sent along. */
struct line {
	struct torus_axis axis;
	int begins; /* what is its coordinate 0 in the shape */
};

static struct line line_through(const struct torus_shape *shape, const int *begins, int place, int a)
{
	struct line line = {shape->axis[a], begins ? begins[place * shape->axes + a] : -1};

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

/* One cut of a phase: from the coordinates behind this one, level by level. */
static int list_cut(const struct line *line, int at, int down, struct torus_exchange_step step,
		    struct torus_exchange_step *list)
{
	const struct torus_axis *axis = &line->axis;
	int cut = step.level, count = 0;

	at = (at - line->begins + axis->size) % axis->size;
	for (int level = 0; level < axis->size; level++) {
		int origin = coordinate_on(axis, at, !down, level), furthest;

		if (origin < 0)
			break;
		furthest = furthest_of(axis, origin, down, cut);
		for (int steps = furthest; steps > level; steps--, count++) {
			step.level = level;
			step.origin = in_shape(line, origin);
			step.target = in_shape(line, coordinate_on(axis, origin, down, steps));
			if (list)
				list[count] = step;
		}
	}
	return count;
}

int torus_exchange_schedule(const struct torus_shape *shape, const int *begins, int cuts, int place, int direction,
			    struct torus_exchange_step *list)
{
	int axes[TORUS_AXES], phases = long_axes(shape, axes), along = -1, count = 0;
	struct line line = line_through(shape, begins, place, direction / 2);

	for (int i = 0; i < phases; i++)
		if (axes[i] == direction / 2)
			along = i;
	for (int phase = 0; along >= 0 && phase < phases; phase++)
		for (int cut = 0; cut < cuts; cut++) {
			int part = (along - phase + phases) % phases * cuts + cut;

			count += list_cut(&line, torus_coordinate(shape, place, direction / 2), direction % 2,
					  (struct torus_exchange_step){.phase = phase, .part = part, .level = cut},
					  list ? list + count : NULL);
		}
	return count;
}

/* Of all pairs of a line: how many go over its busiest link, if half-way round half of them go either way; and how many hops all make. */
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

double torus_exchange_busiest(const struct torus_shape *shape)
{
	double busiest = 0;

	for (int a = 0; a < shape->axes; a++) {
		double here = busiest_of_line(&shape->axis[a]) * shape->places / shape->axis[a].size;

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
