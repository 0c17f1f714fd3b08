/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layout of any set of nodes, also with holes: recursively halves the cells at their longest
 * side, and the nodes in the same proportion at theirs.
 */
#include <stdlib.h>
#include <string.h>

#include "place.h"

/* A node for sorting: its coordinates in one number, the axis of the cut first. */
struct spot {
	long key;
	int place;
};

struct halves {
	const struct torus_shape *shape;
	const struct torus_grid *cells;
	struct spot *spots;
	int *place;
};

struct part {
	int low[TORUS_AXES], size[TORUS_AXES];
	int first, count; /* of the spots */
};

static int compare_spots(const void *left, const void *right)
{
	const struct spot *a = left, *b = right;

	return a->key < b->key ? -1 : a->key > b->key;
}

static int longest_axis(const struct halves *halves, const struct part *part)
{
	int best = 0, most = -1;

	for (int a = 0; a < halves->shape->axes; a++) {
		int low = halves->shape->axis[a].size, high = 0;

		for (int i = part->first; i < part->first + part->count; i++) {
			int c = torus_coordinate(halves->shape, halves->spots[i].place, a);

			low = c < low ? c : low;
			high = c > high ? c : high;
		}
		if (high - low > most) {
			most = high - low;
			best = a;
		}
	}
	return best;
}

static void sort_along(const struct halves *halves, const struct part *part, int axis)
{
	for (int i = part->first; i < part->first + part->count; i++) {
		struct spot *spot = &halves->spots[i];

		spot->key = (long)torus_coordinate(halves->shape, spot->place, axis) * TORUS_PLACES + spot->place;
	}
	qsort(halves->spots + part->first, (size_t)part->count, sizeof *halves->spots, compare_spots);
}

static int cell_at(const struct torus_grid *cells, const int *index)
{
	int cell = 0;

	for (int i = 0; i < cells->dims; i++)
		cell = cell * cells->size[i] + index[i];
	return cell;
}

static void lay_out_part(const struct halves *halves, struct part part)
{
	struct part upper = part;
	int dim = 0;

	if (part.count == 1) {
		halves->place[cell_at(halves->cells, part.low)] = halves->spots[part.first].place;
		return;
	}
	for (int i = 1; i < halves->cells->dims; i++)
		if (part.size[i] > part.size[dim])
			dim = i;
	sort_along(halves, &part, longest_axis(halves, &part));
	upper.size[dim] = part.size[dim] / 2;
	upper.count = part.count / part.size[dim] * upper.size[dim];
	part.size[dim] -= upper.size[dim];
	part.count -= upper.count;
	upper.low[dim] += part.size[dim];
	upper.first += part.count;
	lay_out_part(halves, part);
	lay_out_part(halves, upper);
}

bool torus_layout_by_halves(int *place, const struct torus_sites *sites, const struct torus_grid *cells)
{
	struct halves halves = {&sites->shape, cells, malloc((size_t)sites->nodes * sizeof *halves.spots), place};
	struct part all = {.count = sites->nodes};

	if (!halves.spots)
		return false;
	memcpy(all.size, cells->size, sizeof all.size);
	for (int n = 0; n < sites->nodes; n++)
		halves.spots[n].place = sites->place[n];
	lay_out_part(&halves, all);
	free(halves.spots);
	return true;
}
