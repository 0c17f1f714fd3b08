/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Layouts of a full box. Every axis is assigned to a dimension of the grid, whole or in parts, so
 * that each dimension gets as many places as it has cells; a line over them gives the order. The
 * lines of two dimensions never share an axis, so their messages share no cable, and the cost of a
 * line does not depend on the others.
 *
 * An axis is divided from the inside out: an axis of 24 can become 3 places one hop apart, and 8
 * groups of these three hops apart. The search tries the largest parts first, and so whole axes
 * before all others.
 */
#include <stdlib.h>
#include <string.h>

#include "place.h"
#include "subaxes.h"

#define MOST_SUBAXES 32

struct search {
	struct torus_choice *choice;
	const struct torus_shape *shape;
	const struct torus_tiling *tiling;
	int number;
	long work;
	bool done, failed;
	int left[TORUS_AXES]; /* cells of each dimension without places so far */
	int count[TORUS_AXES];
	struct torus_subaxis subaxis[TORUS_AXES][MOST_SUBAXES];
	struct torus_line line[TORUS_AXES];
};

static void write_places(const struct search *search, int *place)
{
	const struct torus_grid *cells = &search->tiling->cells;
	int index[TORUS_AXES] = {0};

	for (int cell = 0; cell < cells->cells; cell++) {
		int i = cells->dims - 1;

		place[cell] = 0;
		for (int d = 0; d < cells->dims; d++)
			place[cell] += search->line[d].offset[index[d]];
		while (i >= 0 && ++index[i] == cells->size[i])
			index[i--] = 0;
	}
}

/* All axes are assigned: makes the lines, and keeps the layout if it is good. */
static void offer_layout(struct search *search)
{
	const struct torus_tiling *tiling = search->tiling;
	struct torus_layout layout = {.tiling = search->number, .how = "axis by axis"};
	int *place;

	for (int i = 0; i < tiling->cells.dims; i++) {
		struct torus_line *line = &search->line[i];

		if (!torus_line_make(line, search->shape, search->subaxis[i], search->count[i],
				     tiling->cells.wraps[i])) {
			search->failed = search->done = true;
			return;
		}
		search->work -= line->size;
		layout.hops += 2 * line->hops * (tiling->cells.cells / line->size) * tiling->weight[i];
		if (line->longest > layout.longest)
			layout.longest = line->longest;
	}
	place = torus_choice_offer(search->choice, layout, tiling->cells.cells);
	if (place)
		write_places(search, place);
	search->done = layout.longest <= 1 || search->work <= 0;
}

/* Assigns the rest of an axis: parts of this many places, with this many hops between them. */
static void give_axis(struct search *search, int axis, int rest, int hops, int before)
{
	const struct torus_axis *whole = &search->shape->axis[axis];

	if (rest == 1) {
		if (axis + 1 < search->shape->axes)
			give_axis(search, axis + 1, search->shape->axis[axis + 1].size, 1, -1);
		else
			offer_layout(search);
		return;
	}
	for (int part = rest; part > 1 && !search->done; part--) {
		if (rest % part)
			continue;
		for (int i = 0; i < search->tiling->cells.dims && !search->done; i++) {
			/* Two consecutive parts for one dimension are one part. */
			if (i == before || search->left[i] % part || search->count[i] == MOST_SUBAXES)
				continue;
			search->subaxis[i][search->count[i]++] = (struct torus_subaxis){
				.size = part,
				.stride = hops * search->shape->stride[axis],
				.hops = hops,
				.ring = whole->ring && part == rest,
			};
			search->left[i] /= part;
			search->work--;
			give_axis(search, axis, rest / part, hops * part, i);
			search->left[i] *= part;
			search->count[i]--;
		}
	}
}

bool torus_layouts_by_axes(struct torus_choice *choice, const struct torus_shape *shape,
			   const struct torus_tiling *tiling, int number, long work)
{
	struct search *search = calloc(1, sizeof *search);
	bool good = search != NULL;

	if (!good)
		return false;
	*search = (struct search){choice, shape, tiling, number, work, false, false, {0}, {0}, {{{0}}}, {{0}}};
	for (int i = 0; i < tiling->cells.dims; i++) {
		search->left[i] = tiling->cells.size[i];
		search->line[i].offset = malloc((size_t)tiling->cells.size[i] * sizeof(int));
		good = good && search->line[i].offset;
	}
	if (good)
		give_axis(search, 0, shape->axis[0].size, 1, -1);
	good = good && !search->failed;
	for (int i = 0; i < tiling->cells.dims; i++)
		free(search->line[i].offset);
	free(search);
	return good;
}
