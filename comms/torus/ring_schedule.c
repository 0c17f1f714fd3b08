/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring_schedule.h"

#include <stdlib.h>

/* The axes longer than 1, starting with the part's first; returns their number. */
static int axes_of(const struct torus_shape *shape, int part, int *axes)
{
	int all[TORUS_AXES], count = 0;

	for (int a = 0; a < shape->axes; a++)
		if (shape->axis[a].size > 1)
			all[count++] = a;
	for (int i = 0; i < count; i++)
		axes[i] = all[(part / 2 + i) % count];
	return count;
}

int torus_ring_parts(const struct torus_shape *shape)
{
	int axes[TORUS_AXES];

	return 2 * axes_of(shape, 0, axes);
}

/* As torus_steps, but half-way round a ring, odd parts go downwards. */
static int ring_steps(const struct torus_shape *shape, int axis, int part, int from, int to)
{
	const struct torus_axis *along = &shape->axis[axis];
	int count = torus_steps(along, torus_coordinate(shape, from, axis), torus_coordinate(shape, to, axis));

	return along->ring && part % 2 && 2 * count == along->size ? -count : count;
}

/*
 * Does the place send the part of the origin in this direction? level: the level of the part there.
 */
static bool place_sends(const struct torus_shape *shape, int part, int origin, int place, int direction, int *level)
{
	int axes[TORUS_AXES], count = axes_of(shape, part, axes), next = torus_neighbour(shape, place, direction),
			      step = direction % 2 ? -1 : 1;
	bool behind = false;

	*level = 0;
	if (shape->axis[direction / 2].size < 2 || next < 0)
		return false;
	for (int i = 0; i < count; i++) {
		int here = ring_steps(shape, axes[i], part, origin, place);

		if (behind && here != 0)
			return false;
		if (axes[i] == direction / 2) {
			/* Outwards, but not past the point that the other direction reaches. */
			if (here * step < 0 || ring_steps(shape, axes[i], part, origin, next) != here + step)
				return false;
			behind = true;
		}
		*level += abs(here);
	}
	return true;
}

static int compare_levels(const void *left, const void *right)
{
	const struct torus_ring_step *a = left, *b = right;

	if (a->level != b->level)
		return a->level - b->level;
	return a->part != b->part ? a->part - b->part : a->origin - b->origin;
}

static int compare_orders(const void *left, const void *right)
{
	const struct torus_ring_step *a = left, *b = right;

	if (a->level != b->level)
		return b->level - a->level;
	if (a->order != b->order)
		return a->order - b->order;
	return a->part != b->part ? a->part - b->part : a->origin - b->origin;
}

/*
 * The number by which steps of one level of the reverse schedule are sorted. Steps with the same
 * number run together, so it is chosen such that they use links of different axes. A step of the
 * reverse schedule moves data along the last axis, in the order of its part, in which the place
 * differs from the origin; the number is the position of the part's first axis minus that of this
 * axis, modulo the number of axes.
 */
static int order_of(const struct torus_shape *shape, int part, int origin, int place)
{
	int axes[TORUS_AXES], count = axes_of(shape, part, axes), last = 0;

	for (int i = 0; i < count; i++)
		if (ring_steps(shape, axes[i], part, origin, place) != 0)
			last = i;
	return (part / 2 + count - last) % count;
}

static int list_all(const struct torus_shape *shape, int place, int direction, struct torus_ring_step *list)
{
	int count = 0, level;

	for (int part = 0; part < torus_ring_parts(shape); part++)
		for (int origin = 0; origin < shape->places; origin++) {
			if (!place_sends(shape, part, origin, place, direction, &level))
				continue;
			if (list)
				list[count] = (struct torus_ring_step){level, part, origin,
								       order_of(shape, part, origin, place)};
			count++;
		}
	return count;
}

int torus_ring_schedule(const struct torus_shape *shape, int place, int direction, struct torus_ring_step *list)
{
	int count = list_all(shape, place, direction, list);

	if (list)
		qsort(list, (size_t)count, sizeof *list, compare_levels);
	return count;
}

int torus_ring_reverse_schedule(const struct torus_shape *shape, int place, int direction, struct torus_ring_step *list)
{
	int count = list_all(shape, place, direction, list);

	if (list)
		qsort(list, (size_t)count, sizeof *list, compare_orders);
	return count;
}

/*
 * On a ring all places send the same amount; on a mesh, the middle link carries the most: all data
 * from one side, of both parts.
 */
int torus_ring_schedule_most(const struct torus_shape *shape)
{
	int most = 0;

	for (int direction = 0; direction < 2 * shape->axes; direction++) {
		const struct torus_axis *axis = &shape->axis[direction / 2];
		int last = axis->ring ? 1 : axis->size;

		for (int c = 0; c < last; c++) {
			int count = torus_ring_schedule(shape, c * shape->stride[direction / 2], direction, NULL);

			most = count > most ? count : most;
		}
	}
	return most;
}
