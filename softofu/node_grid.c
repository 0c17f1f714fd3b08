/* SPDX-License-Identifier: BSD-3-Clause */
#include "node_grid.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static long line_length(const struct node_grid *grid, int line)
{
	return (long)grid->size[line] * grid->size[line + 3];
}

/*
 * Position of a node along its line, and the reverse. The line changes direction at each step of
 * the short axis.
 */
static long place_on_line(const struct node_grid *grid, int line, const uint8_t physical[GRID_AXES])
{
	long size = grid->size[line], at = physical[line];

	return physical[line + 3] * size + (physical[line + 3] % 2 ? size - 1 - at : at);
}

static void coords_on_line(const struct node_grid *grid, int line, long place, uint8_t physical[GRID_AXES])
{
	long size = grid->size[line], row = place / size, at = place % size;

	physical[line + 3] = (uint8_t)row;
	physical[line] = (uint8_t)(row % 2 ? size - 1 - at : at);
}

static long logical_number(const struct node_grid *grid, const uint8_t physical[GRID_AXES])
{
	return place_on_line(grid, 0, physical) +
	       line_length(grid, 0) *
		       (place_on_line(grid, 1, physical) + line_length(grid, 1) * place_on_line(grid, 2, physical));
}

static const char *read_axis(struct node_grid *grid, int axis, const char **text)
{
	char *end;
	long size = strtol(*text, &end, 10);

	if (end == *text || !isdigit((unsigned char)**text))
		return "sizes are numbers with x between them, as in 2x2x2x2x3x2";
	if (size < 1 || size > (axis < 3 ? GRID_XYZ_MOST : GRID_ABC_MOST))
		return axis < 3 ? "x, y and z are 1 to 255" : "a, b and c are 1 to 15";
	grid->size[axis] = (int)size;
	grid->ring[axis] = *end != 'm';
	*text = end + (*end == 'm');
	return NULL;
}

static int compare_holes(const void *left, const void *right)
{
	long a = *(const long *)left, b = *(const long *)right;

	return (a > b) - (a < b);
}

static const char *read_hole(struct node_grid *grid, const char **text)
{
	uint8_t coords[GRID_AXES];

	for (int axis = 0; axis < GRID_AXES; axis++) {
		char *end;
		long at = strtol(*text, &end, 10);

		if (end == *text || (axis < GRID_AXES - 1 && *end != ','))
			return "a hole is six coordinates with commas, as in 0,1,0,0,0,0";
		if (at < 0 || at >= grid->size[axis])
			return "a hole is outside the shape";
		coords[axis] = (uint8_t)at;
		*text = end + (axis < GRID_AXES - 1);
	}
	if (grid->hole_count == GRID_HOLES)
		return "too many holes; 256 is the most";
	grid->holes[grid->hole_count++] = logical_number(grid, coords);
	return NULL;
}

static const char *read_holes(struct node_grid *grid, const char *text)
{
	int count = 0;

	for (text += strspn(text, " ;"); *text; text += strspn(text, " ;")) {
		const char *wrong = read_hole(grid, &text);

		if (wrong)
			return wrong;
	}
	qsort(grid->holes, (size_t)grid->hole_count, sizeof grid->holes[0], compare_holes);
	for (int i = 0; i < grid->hole_count; i++)
		if (!count || grid->holes[i] != grid->holes[count - 1])
			grid->holes[count++] = grid->holes[i];
	grid->hole_count = count;
	return count == node_grid_nodes(grid) ? "every node is a hole" : NULL;
}

const char *node_grid_read(struct node_grid *grid, const char *shape, const char *holes, int per_node)
{
	memset(grid, 0, sizeof *grid);
	grid->per_node = per_node;
	for (int axis = 0; axis < GRID_AXES; axis++)
		grid->size[axis] = 1;
	if (per_node < 1 || per_node > GRID_PER_NODE_MOST)
		return "a node has 1 to 48 ranks";
	for (int axis = 0; axis < GRID_AXES; axis++) {
		const char *wrong = read_axis(grid, axis, &shape);

		if (wrong)
			return wrong;
		if (!*shape)
			break;
		if (*shape++ != 'x' || axis == GRID_AXES - 1)
			return "at most six sizes with x between them, as in 2x2x2x2x3x2";
	}
	return holes ? read_holes(grid, holes) : NULL;
}

void node_grid_around(struct node_grid *grid, long ranks, int per_node)
{
	long units = (ranks + 12L * per_node - 1) / (12L * per_node);

	memset(grid, 0, sizeof *grid);
	grid->per_node = per_node;
	for (int axis = 0; axis < GRID_AXES; axis++)
		grid->size[axis] = 1;
	for (int axis = 0; axis < 3; axis++) {
		long side = units < 24 ? units : 24;

		grid->size[axis] = (int)(side > 0 ? side : 1);
		grid->ring[axis] = false;
		units = (units + 23) / 24;
	}
	grid->size[3] = grid->size[5] = 2;
	grid->size[4] = 3;
	grid->ring[4] = true;
}

long node_grid_nodes(const struct node_grid *grid)
{
	long nodes = 1;

	for (int axis = 0; axis < GRID_AXES; axis++)
		nodes *= grid->size[axis];
	return nodes;
}

long node_grid_capacity(const struct node_grid *grid)
{
	return (node_grid_nodes(grid) - grid->hole_count) * grid->per_node;
}

bool node_grid_place(const struct node_grid *grid, long rank, uint8_t physical[GRID_AXES], uint32_t logical[3])
{
	long node = rank / grid->per_node;

	if (rank < 0 || rank >= node_grid_capacity(grid))
		return false;
	for (int i = 0; i < grid->hole_count && grid->holes[i] <= node; i++)
		node++;
	for (int line = 0; line < 3; line++) {
		long place = node % line_length(grid, line);

		node /= line_length(grid, line);
		if (physical)
			coords_on_line(grid, line, place, physical);
		if (logical)
			logical[line] = (uint32_t)place;
	}
	return true;
}

long node_grid_node(const struct node_grid *grid, const uint8_t physical[GRID_AXES])
{
	long number;

	for (int axis = 0; axis < GRID_AXES; axis++)
		if (physical[axis] >= grid->size[axis])
			return -1;
	number = logical_number(grid, physical);
	for (int i = 0; i < grid->hole_count; i++)
		if (grid->holes[i] == number)
			return -1;
	return number;
}

static int axis_distance(const struct node_grid *grid, int axis, int from, int to)
{
	int straight = abs(from - to), round = grid->size[axis] - straight;

	return grid->ring[axis] && round < straight ? round : straight;
}

int node_grid_hops(const struct node_grid *grid, const uint8_t from[GRID_AXES], const uint8_t to[GRID_AXES],
		   const uint8_t via[3])
{
	int hops = 0;

	for (int axis = 0; axis < 3; axis++)
		hops += axis_distance(grid, axis, from[axis], to[axis]);
	for (int axis = 3; axis < GRID_AXES; axis++)
		hops += axis_distance(grid, axis, from[axis], via[axis - 3]) +
			axis_distance(grid, axis, via[axis - 3], to[axis]);
	return hops;
}
