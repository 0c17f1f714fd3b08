/* SPDX-License-Identifier: BSD-3-Clause */
/* Which axes are rings, and where meshes begin. */
#include <stdlib.h>
#include <string.h>

#include "cabling_parts.h"

/* --- Moving all hosts --- */

int cabling_turn_place(const struct cabling_turn *turn, const struct torus_shape *old, const struct torus_shape *shape,
		       int place)
{
	int at[TORUS_AXES];

	for (int a = 0; a < turn->axes; a++) {
		int size = shape->axis[a].size, c = torus_coordinate(old, place, turn->from[a]);

		at[a] = ((turn->down[a] ? size - 1 - c : c) + turn->shift[a]) % size;
	}
	return torus_place_at(shape, at);
}

void cabling_turn_layout(struct cabling_work *work, struct cabling_layout *layout, const struct cabling_turn *turn)
{
	struct torus_shape old = layout->shape;
	struct cabling_rule rule = work->rule;

	layout->shape.axes = work->rule.axes = turn->axes;
	for (int a = 0; a < turn->axes; a++) {
		int from = turn->from[a];

		layout->shape.axis[a] = old.axis[from];
		work->rule.up[a] = turn->down[a] ? rule.down[from] : rule.up[from];
		work->rule.down[a] = turn->down[a] ? rule.up[from] : rule.down[from];
	}
	torus_shape_complete(&layout->shape);
	for (int p = 0; p < layout->shape.places; p++)
		layout->host[p] = -1;
	for (int h = 0; h < work->cabling->hosts; h++)
		if (layout->place[h] >= 0) {
			layout->place[h] = cabling_turn_place(turn, &old, &layout->shape, layout->place[h]);
			layout->host[layout->place[h]] = h;
		}
}

struct cabling_turn cabling_no_turn(const struct torus_shape *shape)
{
	struct cabling_turn turn = {.axes = shape->axes};

	for (int a = 0; a < shape->axes; a++)
		turn.from[a] = a;
	return turn;
}

void cabling_drop_axes_of_one(struct cabling_work *work, struct cabling_layout *layout)
{
	struct cabling_turn turn = {0};

	for (int a = 0; a < layout->shape.axes; a++)
		if (layout->shape.axis[a].size > 1)
			turn.from[turn.axes++] = a;
	if (turn.axes)
		cabling_turn_layout(work, layout, &turn);
}

/* --- Rings and meshes --- */

/*
 * Sets (*count)[c] to the number of cables from hosts with coordinate c of this axis to hosts with
 * the next one; the one after the last is 0, as on a ring. Each cable is counted once, at its lower
 * end; but on an axis of size 2 either end is below the other, so it is counted at both. Returns
 * false if there is no memory.
 */
static bool count_crossings(const struct cabling_work *work, const struct cabling_layout *layout, int axis, int **count)
{
	const struct torus_shape *shape = &layout->shape;

	*count = calloc((size_t)shape->axis[axis].size, sizeof **count);
	for (int p = 0; *count && p < work->cabling->ports; p++) {
		int peer = cabling_peer(work->cabling, p), from, to, direction;

		if (peer < 0)
			continue;
		from = layout->place[work->cabling->port[p].host];
		to = layout->place[work->cabling->port[peer].host];
		direction = from < 0 || to < 0 ? -1 : cabling_direction(shape, from, to, -1);
		if (direction == 2 * axis)
			(*count)[torus_coordinate(shape, from, axis)]++;
	}
	return *count != NULL;
}

static bool has_port(const struct cabling_work *work, int host, int label)
{
	for (int p = work->first[host]; host >= 0 && p < work->first[host + 1]; p++)
		if (!work->cabling->port[p].shared &&
		    (work->rule.label[p] == label || (work->rule.made_up && work->rule.label[p] < 0)))
			return true;
	return false;
}

/* The next host along a single row, up or down from a place, skipping silent hosts. */
static int host_beside(const struct cabling_layout *layout, int place, int direction)
{
	for (int i = 0; i < layout->shape.places && layout->host[place] < 0; i++)
		place = torus_neighbour(&layout->shape, place, direction);
	return layout->host[place];
}

/* Do the ends of a single row have ports for the cable that would close it? */
static bool ends_have_ports(const struct cabling_work *work, const struct cabling_layout *layout, int axis, int last)
{
	int first = torus_neighbour(&layout->shape, last, 2 * axis);
	int upper = host_beside(layout, last, 2 * axis + 1), lower = host_beside(layout, first, 2 * axis);

	return has_port(work, upper, work->rule.up[axis]) && has_port(work, lower, work->rule.down[axis]);
}

/* Pairs of hosts at two neighbouring places along the axis. */
static int count_pairs(const struct cabling_layout *layout, int axis)
{
	int pairs = 0;

	for (int p = 0; p < layout->shape.places; p++) {
		int next =
			torus_coordinate(&layout->shape, p, axis) ? -1 : torus_neighbour(&layout->shape, p, 2 * axis);

		pairs += next >= 0 && layout->host[p] >= 0 && layout->host[next] >= 0;
	}
	return pairs;
}

/*
 * In a pair with one cable, the lower host's port should be the one called up. Is it the other way
 * round for most pairs?
 */
static bool upper_is_lower(const struct cabling_work *work, const struct cabling_layout *layout, int axis)
{
	const struct cabling_rule *rule = &work->rule;
	int more = 0;

	if (rule->up[axis] == rule->down[axis])
		return false;
	for (int p = 0; p < work->cabling->ports; p++) {
		int place = layout->place[work->cabling->port[p].host];

		if (place >= 0 && cabling_peer(work->cabling, p) >= 0 && rule->label[p] == rule->up[axis])
			more += torus_coordinate(&layout->shape, place, axis) ? 1 : -1;
	}
	return more > 0;
}

static bool find_ring(const struct cabling_work *work, struct cabling_layout *layout, int axis, int *shift)
{
	struct torus_axis *of = &layout->shape.axis[axis];
	int *count, least = 0;

	*shift = 0;
	if (!count_crossings(work, layout, axis, &count))
		return false;
	for (int c = 1; c < of->size; c++)
		if (count[c] < count[least])
			least = c;
	if (of->size == 2) {
		/* Both ends count a cable. */
		of->ring = count[0] + count[1] >= 3 * count_pairs(layout, axis);
		*shift = !of->ring && upper_is_lower(work, layout, axis);
	} else if (count[least] == 0) {
		of->ring = layout->shape.places == of->size;
		/* A single row with gaps: one of them is its end, unless all may be dead cables. */
		for (int c = 0; of->ring && c < of->size; c++)
			if (count[c] == 0 && !ends_have_ports(work, layout, axis, c)) {
				of->ring = false;
				least = c;
			}
		*shift = of->ring ? 0 : of->size - 1 - least;
	}
	free(count);
	return true;
}

bool cabling_find_rings(struct cabling_work *work, struct cabling_layout *layout)
{
	struct cabling_turn turn = cabling_no_turn(&layout->shape);

	/* All axes are rings until all are known, so that places beyond an end exist. */
	struct cabling_layout rings = *layout;

	for (int a = 0; a < turn.axes; a++) {
		struct cabling_layout one = *layout;

		if (!find_ring(work, &one, a, &turn.shift[a]))
			return false;
		rings.shape.axis[a].ring = one.shape.axis[a].ring;
	}
	cabling_turn_layout(work, layout, &turn);
	for (int a = 0; a < turn.axes; a++)
		layout->shape.axis[a].ring = rings.shape.axis[a].ring;
	return true;
}
