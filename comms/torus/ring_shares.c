/* SPDX-License-Identifier: BSD-3-Clause */
#include "ring_schedule.h"

#include <string.h>

#define LINE 64
#define WHOLE 65536 /* the whole, in integer units, so that all nodes compute the same shares */

/*
 * Linear equations for the parts of each axis order, so that every axis carries as much as it can.
 */
struct equations {
	int count;
	double left[TORUS_AXES][TORUS_AXES + 1]; /* the last column is the right side */
};

static double links_of(const struct torus_axis *axis, enum torus_ring_ways ways)
{
	if (axis->size == 1)
		return 0;
	if (axis->ring)
		return 2;
	return ways == TORUS_ONE_WAY ? 1 : 2.0 * (axis->size - 1) / axis->size;
}

double torus_ring_links(const struct torus_shape *shape, enum torus_ring_ways ways)
{
	double links = 0;

	for (int a = 0; a < shape->axes; a++)
		links += links_of(&shape->axis[a], ways);
	return links;
}

/*
 * One equation for each axis: each of a node's links is to bring the same share of the data of all
 * other nodes. Unknown are the sizes of the parts, one for each axis that a part begins with. A
 * part that has gone along some axes consists of the data of all nodes there (gathered), and all of
 * it goes along the next axis.
 */
static void write_down(struct equations *e, const struct torus_shape *shape, enum torus_ring_ways ways, const int *axes,
		       int count)
{
	e->count = count;
	for (int order = 0; order < count; order++) {
		double gathered = 1;

		for (int i = 0; i < count; i++) {
			const struct torus_axis *axis = &shape->axis[axes[(order + i) % count]];

			e->left[(order + i) % count][order] = gathered * (axis->size - 1) / links_of(axis, ways);
			gathered *= axis->size;
		}
	}
	for (int i = 0; i < count; i++)
		e->left[i][count] = (shape->places - 1) / torus_ring_links(shape, ways);
}

static void swap_rows(struct equations *e, int a, int b)
{
	double row[TORUS_AXES + 1];

	memcpy(row, e->left[a], sizeof row);
	memcpy(e->left[a], e->left[b], sizeof row);
	memcpy(e->left[b], row, sizeof row);
}

static double magnitude(double number)
{
	return number < 0 ? -number : number;
}

/* Gaussian elimination. Returns false if there is no unique solution. */
static bool solve(struct equations *e, double *solution)
{
	for (int i = 0; i < e->count; i++) {
		int pivot = i;

		for (int row = i + 1; row < e->count; row++)
			if (magnitude(e->left[row][i]) > magnitude(e->left[pivot][i]))
				pivot = row;
		swap_rows(e, i, pivot);
		if (magnitude(e->left[i][i]) < 1e-9)
			return false;
		for (int row = 0; row < e->count; row++) {
			double factor = e->left[row][i] / e->left[i][i];

			for (int column = 0; row != i && column <= e->count; column++)
				e->left[row][column] -= factor * e->left[i][column];
		}
	}
	for (int i = 0; i < e->count; i++)
		solution[i] = e->left[i][e->count] / e->left[i][i];
	return true;
}

void torus_ring_shares(const struct torus_shape *shape, enum torus_ring_ways ways, struct torus_ring_shares *shares)
{
	int axes[TORUS_AXES], count = 0;
	double share[TORUS_AXES], sum = 0, before = 0;
	struct equations equations;

	for (int a = 0; a < shape->axes; a++)
		if (shape->axis[a].size > 1)
			axes[count++] = a;
	write_down(&equations, shape, ways, axes, count);
	if (!solve(&equations, share))
		for (int i = 0; i < count; i++)
			share[i] = 1;
	for (int i = 0; i < count; i++) {
		share[i] = share[i] > 0 ? share[i] : 0;
		sum += share[i];
	}
	*shares = (struct torus_ring_shares){.parts = 2 * count};
	for (int part = 0; part < 2 * count; part++) {
		before += share[part / 2] / (2 * sum);
		shares->before[part + 1] = (unsigned)(before * WHOLE + 0.5);
	}
}

double torus_ring_share(const struct torus_ring_shares *shares, int part)
{
	return (shares->before[part + 1] - shares->before[part]) / (double)WHOLE;
}

size_t torus_ring_part_begin(const struct torus_ring_shares *shares, size_t bytes, int part)
{
	size_t lines = (bytes + LINE - 1) / LINE;
	size_t at = (size_t)(((uint64_t)lines * shares->before[part] + WHOLE / 2) / WHOLE) * LINE;

	return at < bytes ? at : bytes;
}
