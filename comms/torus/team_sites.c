/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sites of a team: the coordinates without a node of the team are left out of each axis. A link
 * of the team then leads to the next remaining coordinate, over one or more cables of one line of
 * the machine. Links of one line and direction follow one another, so no cable belongs to two of
 * them.
 *
 * That requires routes that do not go the other way round a ring, so no link of a ring may be half
 * of it or longer. A link of a mesh is at most half: the mesh leaves out the longest gap of the
 * ring. If that is half of the ring, there are two coordinates, and routes lead upwards both ways,
 * over different cables.
 */
#include <stdlib.h>
#include <string.h>

#include "sites.h"

/* The coordinates of a team along an axis, in the order of the team's own coordinates. */
struct team_axis {
	int count;
	bool ring;
	int *at;    /* the machine's coordinate of each team coordinate */
	int *index; /* the team's coordinate of each machine coordinate, or -1 */
};

/* Distance upwards to the next coordinate, round the ring behind the last one. */
static int gap_behind(const struct team_axis *axis, int i, int size)
{
	return i + 1 < axis->count ? axis->at[i + 1] - axis->at[i] : axis->at[0] + size - axis->at[i];
}

/*
 * A ring without gaps, or with equal gaps: the cables between the last coordinate and the first are
 * then the team's, too.
 */
static bool axis_is_ring(const struct team_axis *axis, const struct torus_axis *whole)
{
	if (!whole->ring || axis->count < 2 || (axis->count == 2 && whole->size > 2))
		return false;
	for (int i = 0; i < axis->count; i++)
		if (gap_behind(axis, i, whole->size) * axis->count != whole->size)
			return false;
	return true;
}

/* For a ring that became a mesh, the first coordinate is the one behind the longest gap. */
static void begin_behind_gap(struct team_axis *axis, int size)
{
	int first = 0, longest = gap_behind(axis, axis->count - 1, size);

	for (int i = 0; i + 1 < axis->count; i++)
		if (gap_behind(axis, i, size) > longest) {
			longest = gap_behind(axis, i, size);
			first = i + 1;
		}
	for (int i = 0, c = axis->at[first]; i < axis->count; i++) {
		while (axis->index[c] < 0)
			c = (c + 1) % size;
		axis->index[c] = i;
		axis->at[i] = c;
		c = (c + 1) % size;
	}
}

static bool find_team_axis(struct team_axis *axis, const struct torus_shape *shape, int a, const int *places, int count)
{
	int size = shape->axis[a].size;

	axis->count = 0;
	axis->at = malloc((size_t)size * sizeof *axis->at);
	axis->index = malloc((size_t)size * sizeof *axis->index);
	if (!axis->at || !axis->index)
		return false;
	for (int c = 0; c < size; c++)
		axis->index[c] = -1;
	for (int i = 0; i < count; i++)
		axis->index[torus_coordinate(shape, places[i], a)] = 0;
	for (int c = 0; c < size; c++)
		if (axis->index[c] == 0) {
			axis->index[c] = axis->count;
			axis->at[axis->count++] = c;
		}
	axis->ring = axis_is_ring(axis, &shape->axis[a]);
	if (shape->axis[a].ring && !axis->ring)
		begin_behind_gap(axis, size);
	return true;
}

/*
 * The share of the usual rate that a link's cables carry: the worst of them, along the route. A
 * single cable is used in the link's direction.
 */
static float share_of_route(const struct torus_sites *all, int from, int to, int direction)
{
	float least = 1;

	if (torus_neighbour(&all->shape, from, direction) != to)
		direction = torus_next(&all->shape, from, to);
	while (from != to) {
		float share = all->share[(size_t)from * (size_t)(2 * all->shape.axes) + (size_t)direction];

		least = share < least ? share : least;
		from = torus_neighbour(&all->shape, from, direction);
	}
	return least;
}

static int place_outside(const struct torus_shape *shape, const struct torus_shape *whole, const struct team_axis *axis,
			 int place)
{
	int coordinates[TORUS_AXES];

	for (int a = 0; a < shape->axes; a++)
		coordinates[a] = axis[a].at[torus_coordinate(shape, place, a)];
	return torus_place_at(whole, coordinates);
}

/* Only if a cable of the team is dead or slow; other cables do not matter. */
static bool find_shares(struct torus_sites *sites, const struct torus_sites *all, const struct team_axis *axis)
{
	int directions = 2 * all->shape.axes;
	size_t links = (size_t)sites->shape.places * (size_t)directions;

	if (!all->share)
		return true;
	sites->share = malloc(links * sizeof *sites->share);
	if (!sites->share)
		return false;
	for (size_t l = 0; l < links; l++) {
		int place = (int)(l / (size_t)directions), direction = (int)(l % (size_t)directions), next = -1;

		if (sites->shape.axis[direction / 2].size > 1)
			next = torus_neighbour(&sites->shape, place, direction);
		sites->share[l] =
			next < 0 ? 1
				 : share_of_route(all, place_outside(&sites->shape, &all->shape, axis, place),
						  place_outside(&sites->shape, &all->shape, axis, next), direction);
	}
	return true;
}

static bool fill_team_sites(struct torus_sites *sites, const struct torus_sites *all, const struct team_axis *axis,
			    const int *places, int count)
{
	sites->shape = all->shape;
	for (int a = 0; a < all->shape.axes; a++)
		sites->shape.axis[a] = (struct torus_axis){axis[a].count, axis[a].ring};
	torus_shape_complete(&sites->shape);
	sites->nodes = count;
	sites->place = malloc((size_t)count * sizeof *sites->place);
	sites->node = malloc((size_t)sites->shape.places * sizeof *sites->node);
	if (!sites->place || !sites->node)
		return false;
	for (int p = 0; p < sites->shape.places; p++)
		sites->node[p] = -1;
	for (int i = 0; i < count; i++) {
		sites->place[i] = 0;
		for (int a = 0; a < all->shape.axes; a++)
			sites->place[i] +=
				axis[a].index[torus_coordinate(&all->shape, places[i], a)] * sites->shape.stride[a];
		sites->node[sites->place[i]] = i;
	}
	return find_shares(sites, all, axis);
}

bool torus_sites_of_team(struct torus_sites *sites, const struct torus_sites *all, const int *places, int count)
{
	struct team_axis axis[TORUS_AXES] = {{0}};
	bool good = true;

	memset(sites, 0, sizeof *sites);
	for (int a = 0; a < all->shape.axes; a++)
		good = good && find_team_axis(&axis[a], &all->shape, a, places, count);
	good = good && fill_team_sites(sites, all, axis, places, count);
	for (int a = 0; a < all->shape.axes; a++) {
		free(axis[a].at);
		free(axis[a].index);
	}
	if (!good)
		torus_sites_free(sites);
	return good;
}
