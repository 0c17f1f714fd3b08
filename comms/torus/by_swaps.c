/* SPDX-License-Identifier: BSD-3-Clause */
/* Improves a layout by swapping cells, and measures layouts. */
#include <string.h>

#include "place.h"

#define BEYOND 64

/*
 * Hops of the messages between a cell and its neighbours if it were at this place. Each hop beyond
 * the limit counts as many, so that swaps bring a layout back within it.
 */
static long hops_around(const int *place, const struct torus_shape *shape, const struct torus_tiling *tiling, int most,
			int cell)
{
	long sum = 0;

	for (int i = 0; i < tiling->cells.dims; i++)
		for (int step = -1; step <= 1; step += 2) {
			int next = torus_grid_neighbour(&tiling->cells, cell, i, step);
			int hops = next < 0 ? 0 : torus_hops(shape, place[cell], place[next]);

			sum += tiling->weight[i] * (hops > most ? hops + BEYOND * (hops - most) : hops);
		}
	return sum;
}

static void swap_places(int *place, int a, int b)
{
	int saved = place[a];

	place[a] = place[b];
	place[b] = saved;
}

bool torus_layout_improve(int *place, const struct torus_shape *shape, const struct torus_tiling *tiling, int most,
			  long work)
{
	bool better = false, again = true;
	int count = tiling->cells.cells;

	while (again && work >= (long)count * count / 2) {
		again = false;
		work -= (long)count * count / 2;
		for (int a = 0; a < count; a++)
			for (int b = a + 1; b < count; b++) {
				long before = hops_around(place, shape, tiling, most, a) +
					      hops_around(place, shape, tiling, most, b),
				     after;

				swap_places(place, a, b);
				after = hops_around(place, shape, tiling, most, a) +
					hops_around(place, shape, tiling, most, b);
				if (after >= before)
					swap_places(place, a, b);
				else
					again = better = true;
			}
	}
	return better;
}

/* Given equal costs except for hops, is this layout the better one? */
static bool bears_fewer(struct torus_cost *cost, long *hops, const int *place, const struct torus_shape *shape,
			const struct torus_tiling *tiling, const struct torus_cost *limit)
{
	bool good = torus_cost_find(cost, shape, &tiling->cells, place, tiling->weight) &&
		    torus_cost_bears(cost, limit) && cost->hops < *hops;

	if (good)
		*hops = cost->hops;
	torus_cost_free(cost);
	return good;
}

bool torus_layout_improve_within(int *place, const struct torus_shape *shape, const struct torus_tiling *tiling,
				 const struct torus_cost *limit, long work)
{
	bool better = false, again = true;
	long hops = limit->hops, price = (long)tiling->cells.cells * tiling->cells.dims + shape->places;
	struct torus_cost cost;

	while (again) {
		again = false;
		for (int a = 0; a < tiling->cells.cells && work > 0; a++)
			for (int b = a + 1; b < tiling->cells.cells && work > 0; b++) {
				long before = hops_around(place, shape, tiling, limit->longest, a) +
					      hops_around(place, shape, tiling, limit->longest, b);

				swap_places(place, a, b);
				work--;
				if (hops_around(place, shape, tiling, limit->longest, a) +
					    hops_around(place, shape, tiling, limit->longest, b) <
				    before) {
					work -= price;
					if (bears_fewer(&cost, &hops, place, shape, tiling, limit)) {
						again = better = true;
						continue;
					}
				}
				swap_places(place, a, b);
			}
	}
	return better;
}

void torus_layout_measure(struct torus_layout *layout, const struct torus_shape *shape,
			  const struct torus_tiling *tiling)
{
	layout->hops = 0;
	layout->longest = 0;
	for (int cell = 0; cell < tiling->cells.cells; cell++)
		for (int i = 0; i < tiling->cells.dims; i++) {
			int next = torus_grid_neighbour(&tiling->cells, cell, i, 1);
			int hops = next < 0 ? 0 : torus_hops(shape, layout->place[cell], layout->place[next]);

			layout->hops += 2 * tiling->weight[i] * hops;
			layout->longest = hops > layout->longest ? hops : layout->longest;
		}
}
