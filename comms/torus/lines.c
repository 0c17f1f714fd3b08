/* SPDX-License-Identifier: BSD-3-Clause */
#include "lines.h"

#include <stdlib.h>

struct torus_hop torus_bypass_hop(const struct torus_shape *shape, const struct torus_bypass *bypass, bool back,
				  int hop)
{
	int along = bypass->direction ^ (int)back;
	int directions[TORUS_BYPASS_HOPS] = {bypass->side, along, bypass->side ^ 1};
	int place = back ? torus_neighbour(shape, bypass->place, bypass->direction) : bypass->place;

	for (int i = 0; i < hop; i++)
		place = torus_neighbour(shape, place, directions[i]);
	return (struct torus_hop){place, directions[hop]};
}

int torus_lines_leave(const struct torus_shape *shape, const struct torus_lines *lines, int place, int direction)
{
	int low = direction % 2 ? torus_neighbour(shape, place, direction) : place;

	for (int b = 0; lines && b < lines->bypasses; b++)
		if (lines->bypass[b].place == low && lines->bypass[b].direction == (direction & ~1))
			return lines->bypass[b].side;
	return direction;
}

/* Makes the line through a place begin behind its link there. */
static bool cut_behind(const struct torus_shape *shape, int place, int axis, int *begins)
{
	int size = shape->axis[axis].size, stride = shape->stride[axis], at = torus_coordinate(shape, place, axis);
	int *own = &begins[place * shape->axes + axis];

	if (!shape->axis[axis].ring || *own >= 0)
		return false;
	for (int i = 0; i < size; i++)
		own[(i - at) * stride * shape->axes] = (at + 1) % size;
	return true;
}

/* A link at which its own line is cut has a flaw. */
static bool is_well(const struct torus_sites *sites, struct torus_hop hop)
{
	return sites->shape.axis[hop.direction / 2].size > 1 &&
	       torus_neighbour(&sites->shape, hop.place, hop.direction) >= 0 &&
	       torus_sites_share(sites, hop.place, hop.direction) == 1;
}

/*
 * How often bypasses chosen earlier use the links that this one would use: a measure of the load if
 * this one is chosen, too. -1: one of these links is missing, dead or slow.
 */
static int uses_of(const struct torus_sites *sites, const struct torus_lines *lines, const struct torus_bypass *bypass)
{
	int uses = 0;

	for (int i = 0; i < TORUS_BYPASS_HOPS; i++) {
		struct torus_hop hop = torus_bypass_hop(&sites->shape, bypass, false, i);

		if (!is_well(sites, hop))
			return -1;
		for (int b = 0; b < lines->bypasses; b++)
			for (int j = 0; j < 2 * TORUS_BYPASS_HOPS; j++) {
				struct torus_hop other =
					torus_bypass_hop(&sites->shape, &lines->bypass[b], j % 2, j / 2);

				uses += other.place == hop.place && other.direction == hop.direction;
			}
	}
	return uses;
}

/*
 * Chooses the side of the flaw on which the bypass shares its links with the fewest other bypasses.
 * best->side stays negative if the links of no side are intact.
 */
static void choose_side(struct torus_bypass *best, const struct torus_lines *lines, const struct torus_sites *sites)
{
	struct torus_bypass next = *best;
	int least = 0;

	for (next.side = 0; next.side < 2 * sites->shape.axes; next.side++) {
		int uses = next.side / 2 == next.direction / 2 ? -1 : uses_of(sites, lines, &next);

		if (uses >= 0 && (best->side < 0 || uses < least)) {
			*best = next;
			least = uses;
		}
	}
}

static bool add_bypass(struct torus_lines *lines, const struct torus_bypass *bypass)
{
	struct torus_bypass *more = realloc(lines->bypass, (size_t)(lines->bypasses + 1) * sizeof *more);

	if (!more)
		return false;
	more[lines->bypasses++] = *bypass;
	lines->bypass = more;
	return true;
}

/* Handles one flaw after another. Returns false if there is no memory. */
static bool avoid_flaws(struct torus_lines *lines, const struct torus_sites *sites, bool *possible)
{
	const struct torus_shape *shape = &sites->shape;

	*possible = true;
	for (int p = 0; *possible && p < shape->places; p++) {
		*possible = sites->node[p] >= 0;
		for (int a = 0; *possible && a < shape->axes; a++) {
			struct torus_bypass bypass = {p, 2 * a, -1};

			if (shape->axis[a].size == 1 || torus_neighbour(shape, p, 2 * a) < 0 ||
			    torus_sites_share(sites, p, 2 * a) == 1)
				continue;
			*possible = !(shape->axis[a].ring && shape->axis[a].size == 2);
			if (!*possible || cut_behind(shape, p, a, lines->begins))
				continue;
			choose_side(&bypass, lines, sites);
			*possible = bypass.side >= 0;
			if (*possible && !add_bypass(lines, &bypass))
				return false;
		}
	}
	return true;
}

bool torus_lines_find(struct torus_lines *lines, const struct torus_sites *sites, bool *possible)
{
	int count = sites->shape.places * sites->shape.axes;
	bool memory;

	*lines = (struct torus_lines){.begins = malloc((size_t)count * sizeof *lines->begins)};
	for (int l = 0; lines->begins && l < count; l++)
		lines->begins[l] = -1;
	*possible = false;
	memory = lines->begins && avoid_flaws(lines, sites, possible);
	if (!memory || !*possible)
		torus_lines_free(lines);
	return memory;
}

void torus_lines_free(struct torus_lines *lines)
{
	free(lines->begins);
	free(lines->bypass);
	*lines = (struct torus_lines){0};
}
