/* SPDX-License-Identifier: BSD-3-Clause */
#include "sites.h"

#include <stdlib.h>
#include <string.h>

/*
 * The part of an axis in use. Minimum and maximum coordinate would be wrong for a box that wraps:
 * on a ring the box begins behind the longest run of unused coordinates.
 */
static void find_extent(const struct torus_axis *axis, const bool *used, int *origin, int *extent)
{
	int size = axis->size, last = -1, first = -1, longest = 0;

	for (int c = 0; c < size; c++)
		if (used[c]) {
			first = first < 0 ? c : first;
			last = c;
		}
	*origin = first;
	*extent = last - first + 1;
	if (!axis->ring)
		return;
	longest = size - *extent; /* the run across the end of the ring */
	for (int c = first, run = 0; c <= last; c++) {
		run = used[c] ? 0 : run + 1;
		if (run > longest) {
			longest = run;
			*origin = c + 1;
			*extent = size - run;
		}
	}
}

void torus_box_find(struct torus_box *box, const struct torus_shape *machine, const int *places, int count)
{
	memset(box, 0, sizeof *box);
	for (int a = 0; a < machine->axes; a++) {
		bool *used = calloc((size_t)machine->axis[a].size, sizeof *used);

		if (!used) {
			/* A box that is too large is still correct. */
			box->extent[a] = machine->axis[a].size;
			continue;
		}
		for (int i = 0; i < count; i++)
			used[torus_coordinate(machine, places[i], a)] = true;
		find_extent(&machine->axis[a], used, &box->origin[a], &box->extent[a]);
		free(used);
	}
}

static void fill_box_shape(struct torus_shape *shape, const struct torus_shape *machine, const struct torus_box *box)
{
	*shape = *machine;
	for (int a = 0; a < machine->axes; a++) {
		shape->axis[a].size = box->extent[a];
		shape->axis[a].ring = machine->axis[a].ring && box->extent[a] == machine->axis[a].size;
	}
	torus_shape_complete(shape);
}

bool torus_box_wraps(const struct torus_box *box, const struct torus_shape *machine, int axis)
{
	return box->origin[axis] + box->extent[axis] > machine->axis[axis].size;
}

int torus_box_inside(const struct torus_box *box, const struct torus_shape *machine, const struct torus_shape *shape,
		     int place)
{
	int inside = 0;

	for (int a = 0; a < machine->axes; a++) {
		int c = torus_coordinate(machine, place, a) - box->origin[a];

		inside += (c < 0 ? c + machine->axis[a].size : c) * shape->stride[a];
	}
	return inside;
}

int torus_box_outside(const struct torus_box *box, const struct torus_shape *machine, const struct torus_shape *shape,
		      int place)
{
	int outside = 0;

	for (int a = 0; a < machine->axes; a++)
		outside += (torus_coordinate(shape, place, a) + box->origin[a]) % machine->axis[a].size *
			   machine->stride[a];
	return outside;
}

static bool allocate_sites(struct torus_sites *sites, int nodes)
{
	sites->nodes = nodes;
	sites->share = NULL;
	sites->place = malloc((size_t)nodes * sizeof *sites->place);
	sites->node = malloc((size_t)sites->shape.places * sizeof *sites->node);
	if (sites->place && sites->node)
		return true;
	torus_sites_free(sites);
	return false;
}

bool torus_sites_all(struct torus_sites *sites, const struct torus_shape *shape)
{
	sites->shape = *shape;
	if (!allocate_sites(sites, shape->places))
		return false;
	for (int p = 0; p < shape->places; p++)
		sites->place[p] = sites->node[p] = p;
	return true;
}

bool torus_sites_some(struct torus_sites *sites, struct torus_box *box, const struct torus_shape *machine,
		      const int *places, int count)
{
	torus_box_find(box, machine, places, count);
	fill_box_shape(&sites->shape, machine, box);
	if (!allocate_sites(sites, count))
		return false;
	for (int p = 0; p < sites->shape.places; p++)
		sites->node[p] = -1;
	for (int i = 0; i < count; i++) {
		sites->place[i] = torus_box_inside(box, machine, &sites->shape, places[i]);
		sites->node[sites->place[i]] = i;
	}
	return true;
}

static bool is_inside(const struct torus_box *box, const struct torus_shape *machine, int place)
{
	for (int a = 0; a < machine->axes; a++) {
		int c = torus_coordinate(machine, place, a) - box->origin[a];

		if ((c < 0 ? c + machine->axis[a].size : c) >= box->extent[a])
			return false;
	}
	return true;
}

/* Of two flaws of a cable the worse one counts. */
static void mark_link(struct torus_sites *sites, int place, int direction, float share)
{
	float *link = &sites->share[(size_t)place * (size_t)(2 * sites->shape.axes) + (size_t)direction];

	*link = share < *link ? share : *link;
}

bool torus_sites_mark(struct torus_sites *sites, const struct torus_box *box, const struct torus_shape *machine,
		      const struct torus_flaw *flaw, int flaws)
{
	size_t links = (size_t)sites->shape.places * (size_t)(2 * sites->shape.axes);

	if (!flaws)
		return true;
	sites->share = malloc(links * sizeof *sites->share);
	if (!sites->share)
		return false;
	for (size_t l = 0; l < links; l++)
		sites->share[l] = 1;
	for (int i = 0; i < flaws; i++) {
		int place, next;

		if (!is_inside(box, machine, flaw[i].place))
			continue;
		place = torus_box_inside(box, machine, &sites->shape, flaw[i].place);
		next = torus_neighbour(&sites->shape, place, flaw[i].direction);
		if (next < 0)
			continue;
		mark_link(sites, place, flaw[i].direction, flaw[i].share);
		mark_link(sites, next, flaw[i].direction ^ 1, flaw[i].share);
	}
	return true;
}

bool torus_sites_inherit(struct torus_sites *sites, const struct torus_box *box, const struct torus_sites *all)
{
	int directions = 2 * all->shape.axes, links = all->shape.places * directions, flaws = 0;
	struct torus_flaw *flaw;
	bool good;

	if (!all->share)
		return true;
	flaw = malloc((size_t)links * sizeof *flaw);
	for (int l = 0; flaw && l < links; l++)
		if (all->share[l] < 1)
			flaw[flaws++] = (struct torus_flaw){l / directions, l % directions, all->share[l]};
	good = flaw && torus_sites_mark(sites, box, &all->shape, flaw, flaws);
	free(flaw);
	return good;
}

float torus_sites_share(const struct torus_sites *sites, int place, int direction)
{
	const struct torus_shape *shape = &sites->shape;
	int next = shape->axis[direction / 2].size > 1 ? torus_neighbour(shape, place, direction) : -1;

	if (next < 0 || sites->node[place] < 0 || sites->node[next] < 0)
		return 0;
	return sites->share ? sites->share[(size_t)place * (size_t)(2 * shape->axes) + (size_t)direction] : 1;
}

void torus_sites_free(struct torus_sites *sites)
{
	free(sites->place);
	free(sites->node);
	free(sites->share);
	sites->place = sites->node = NULL;
	sites->share = NULL;
}
