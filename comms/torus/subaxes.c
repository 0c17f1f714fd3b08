/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job mostly gets a box of the machine that is a mesh along its long axes, because only a box as
 * long as the machine closes to a ring. Two axes together can still give a ring: out along one row
 * of the second axis, across, and back along the other. In general two groups of axes form a grid
 * of columns and rows, and these are the rings through all its places:
 *
 * comb       an even number of rows: back and forth through all columns but the first, back through
 *            the first
 * cylinder   the same if each row is a ring: after the last row, an odd one, the ring leads on to
 *            the first column
 * knot       neither: one step is two hops long, because a chessboard with an odd number of fields
 *            has no tour
 * fold       a single row: every second place outwards, the others backwards
 */
#include "subaxes.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SUBAXES 32

/* Two parts of a line, each as the offsets of its places in order. */
struct grid {
	const int *column, *row;
	int columns, rows;
	bool ring; /* the last column is beside the first */
};

/* Back and forth over one sub-axis after the other. */
static void snake(const struct torus_subaxis *subaxes, int count, int *offset)
{
	int length = 1;

	offset[0] = 0;
	for (int s = 0; s < count; s++) {
		for (int row = 1; row < subaxes[s].size; row++)
			for (int i = 0; i < length; i++)
				offset[row * length + i] =
					offset[row % 2 ? length - 1 - i : i] + row * subaxes[s].stride;
		length *= subaxes[s].size;
	}
}

static void fold(const struct torus_subaxis *subaxis, int *offset)
{
	int at = 0;

	for (int i = 0; i < subaxis->size; i += 2)
		offset[at++] = i * subaxis->stride;
	for (int i = subaxis->size - 1 - subaxis->size % 2; i > 0; i -= 2)
		offset[at++] = i * subaxis->stride;
}

/* Back and forth through the first rows, without the first column; returns the number of places. */
static int serpentine(const struct grid *grid, int rows, int *offset)
{
	int at = 0;

	for (int r = 0; r < rows; r++)
		for (int c = 1; c < grid->columns; c++)
			offset[at++] = grid->row[r] + grid->column[r % 2 ? grid->columns - c : c];
	return at;
}

static void comb(const struct grid *grid, int *offset)
{
	int at = serpentine(grid, grid->rows, offset);

	for (int r = grid->rows - 1; r >= 0; r--)
		offset[at++] = grid->row[r] + grid->column[0];
}

/* Takes the last two rows together, up and down; then one diagonal step to the first column. */
static void knot(const struct grid *grid, int *offset)
{
	int at = serpentine(grid, grid->rows - 2, offset);
	int upper = grid->row[grid->rows - 2], lower = grid->row[grid->rows - 1];

	for (int c = grid->columns - 1; c > 0; c--) {
		offset[at++] = grid->column[c] + (c % 2 ? lower : upper);
		offset[at++] = grid->column[c] + (c % 2 ? upper : lower);
	}
	for (int r = grid->rows - 1; r >= 0; r--)
		offset[at++] = grid->row[r] + grid->column[0];
}

static void measure_line(struct torus_line *line, const struct torus_shape *axes, bool closed)
{
	int pairs = closed && line->size > 1 ? line->size : line->size - 1;

	line->hops = 0;
	line->longest = 0;
	for (int i = 0; i < pairs; i++) {
		int next = i + 1 < line->size ? i + 1 : 0;
		int hops = torus_hops(axes, line->offset[i], line->offset[next]);

		line->hops += hops;
		line->longest = hops > line->longest ? hops : line->longest;
	}
}

static void take_better(struct torus_line *line, struct torus_line *trial, const struct torus_shape *axes)
{
	measure_line(trial, axes, true);
	if (line->hops >= 0 && trial->hops >= line->hops)
		return;
	memcpy(line->offset, trial->offset, (size_t)line->size * sizeof *line->offset);
	line->hops = trial->hops;
	line->longest = trial->longest;
}

/* One sub-axis against the rest, by every method that closes the line; takes the best. */
static void try_subaxis(struct torus_line *line, struct torus_line *trial, const struct torus_shape *axes,
			const struct torus_subaxis *subaxis, const int *private, const int *rest)
{
	int n_private = subaxis->size, n_rest = line->size / subaxis->size;
	struct grid outside = {private, rest, n_private, n_rest, subaxis->ring};
	struct grid inside = {rest, private, n_rest, n_private, false};

	if (n_rest % 2 == 0 || subaxis->ring) {
		comb(&outside, trial->offset);
		take_better(line, trial, axes);
	}
	if (n_private % 2 == 0) {
		comb(&inside, trial->offset);
		take_better(line, trial, axes);
	}
	if (n_rest % 2 && n_private % 2 && !subaxis->ring) {
		knot(&outside, trial->offset);
		take_better(line, trial, axes);
	}
}

static bool close_line(struct torus_line *line, const struct torus_shape *axes, const struct torus_subaxis *subaxes,
		       int count)
{
	struct torus_line trial = *line;
	size_t bytes = (size_t)line->size * sizeof(int);
	int *private = malloc(bytes), *rest = malloc(bytes);
	bool good;

	trial.offset = malloc(bytes);
	good = private && rest && trial.offset;
	line->hops = -1;
	for (int s = 0; good && s < count && line->longest != 1; s++) {
		struct torus_subaxis others[MOST_SUBAXES];
		int n_others = 0;

		for (int o = 0; o < count; o++)
			if (o != s)
				others[n_others++] = subaxes[o];
		snake(&subaxes[s], 1, private);
		snake(others, n_others, rest);
		try_subaxis(line, &trial, axes, &subaxes[s], private, rest);
	}
	free(private);
	free(rest);
	free(trial.offset);
	return good;
}

/* The sub-axis with the shortest steps comes first, because it is walked most often. */
static int sort_subaxes(struct torus_subaxis *sorted, const struct torus_subaxis *subaxes, int count)
{
	int found = 0;

	for (int s = 0; s < count; s++) {
		int at = found;

		if (subaxes[s].size == 1)
			continue;
		for (; at > 0 && sorted[at - 1].hops > subaxes[s].hops; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = subaxes[s];
		found++;
	}
	return found;
}

bool torus_line_make(struct torus_line *line, const struct torus_shape *axes, const struct torus_subaxis *subaxes,
		     int count, bool closed)
{
	struct torus_subaxis sorted[MOST_SUBAXES];

	count = sort_subaxes(sorted, subaxes, count);
	line->size = 1;
	line->longest = 0;
	for (int s = 0; s < count; s++)
		line->size *= sorted[s].size;
	if (closed && count > 1)
		return close_line(line, axes, sorted, count);
	if (closed && count == 1 && !sorted[0].ring)
		fold(&sorted[0], line->offset);
	else
		snake(sorted, count, line->offset);
	measure_line(line, axes, closed);
	return true;
}

/* Can these axes together form a closed line with one hop per step? The same cases as above. */
static bool closes(const struct torus_shape *shape, const int owner[TORUS_AXES], int axis)
{
	int count = 0, last = 0;
	bool even = false, ring = false;

	for (int a = 0; a < shape->axes; a++) {
		if (owner[a] != axis || shape->axis[a].size == 1)
			continue;
		count++;
		last = a;
		even = even || shape->axis[a].size % 2 == 0;
		ring = ring || shape->axis[a].ring;
	}
	if (count == 0)
		return false;
	if (count == 1)
		return ring || shape->axis[last].size == 2;
	return even || ring;
}

bool torus_virtual(const struct torus_shape *shape, int axes, int *sizes, int owner[TORUS_AXES])
{
	long best = -1;
	int directions = 1;

	for (int a = 0; a < shape->axes; a++)
		directions *= axes;
	for (int direction = 0; direction < directions; direction++) {
		int trial[TORUS_AXES], length[TORUS_AXES], rest = direction;
		long sum = 0;
		bool good = true;

		for (int i = 0; i < axes; i++)
			length[i] = 1;
		for (int a = 0; a < shape->axes; a++, rest /= axes) {
			trial[a] = rest % axes;
			length[trial[a]] *= shape->axis[a].size;
		}
		for (int i = 0; i < axes && good; i++) {
			good = closes(shape, trial, i);
			sum += length[i];
		}
		if (!good || (best >= 0 && sum >= best))
			continue;
		best = sum;
		memcpy(sizes, length, (size_t)axes * sizeof *sizes);
		memcpy(owner, trial, sizeof trial);
	}
	return best >= 0;
}
