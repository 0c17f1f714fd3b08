/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A layout of any set of nodes: one line through all places, without the holes, and the cells along
 * it back and forth. It is the best for long thin grids.
 */
#include <stdlib.h>

#include "place.h"
#include "subaxes.h"

/* The line runs from the first cell to the last; it is closed if the grid's first dimension is. */
static bool make_line(struct torus_line *line, const struct torus_shape *shape, const struct torus_grid *cells)
{
	struct torus_subaxis subaxes[TORUS_AXES];
	int first = 0;

	while (first < cells->dims - 1 && cells->size[first] == 1)
		first++;
	for (int a = 0; a < shape->axes; a++)
		subaxes[a] = (struct torus_subaxis){shape->axis[a].size, shape->stride[a], 1, shape->axis[a].ring};
	line->offset = malloc((size_t)shape->places * sizeof *line->offset);
	return line->offset && torus_line_make(line, shape, subaxes, shape->axes, cells->wraps[first]);
}

/*
 * The next cell, back and forth: the last dimension that can advance does, and those behind it
 * reverse.
 */
static void next_cell(const struct torus_grid *cells, int *index, int *direction)
{
	int i = cells->dims - 1;

	while (i > 0 && (index[i] + direction[i] < 0 || index[i] + direction[i] == cells->size[i])) {
		direction[i] = -direction[i];
		i--;
	}
	index[i] += direction[i];
}

bool torus_layout_by_line(int *place, const struct torus_sites *sites, const struct torus_grid *cells)
{
	int index[TORUS_AXES] = {0}, direction[TORUS_AXES] = {1, 1, 1, 1, 1, 1};
	struct torus_line line;
	bool good = make_line(&line, &sites->shape, cells);

	for (int i = 0; good && i < line.size; i++) {
		int cell = 0;

		if (sites->node[line.offset[i]] < 0)
			continue;
		for (int d = 0; d < cells->dims; d++)
			cell = cell * cells->size[d] + index[d];
		place[cell] = line.offset[i];
		next_cell(cells, index, direction);
	}
	free(line.offset);
	return good;
}
