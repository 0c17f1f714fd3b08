/* SPDX-License-Identifier: BSD-3-Clause */
#include "barrier_rounds.h"

int torus_barrier_rounds(const struct torus_shape *shape, int place, int notified[TORUS_ROUNDS])
{
	int rounds = 0;

	for (int a = 0; a < shape->axes; a++) {
		int size = shape->axis[a].size, at = torus_coordinate(shape, place, a);

		for (int step = 1; step < size && rounds < TORUS_ROUNDS; step *= 2)
			notified[rounds++] = place + ((at + step) % size - at) * shape->stride[a];
	}
	return rounds;
}

/* The longest distance in each round decides its time. */
static double hops_by_axes(const struct torus_shape *shape, double hops_of_a_round)
{
	double sum = 0;

	for (int a = 0; a < shape->axes; a++) {
		const struct torus_axis *axis = &shape->axis[a];

		for (int step = 1; step < axis->size; step *= 2)
			sum += hops_of_a_round + (axis->ring ? (2 * step < axis->size ? step : axis->size - step)
							     : (2 * step < axis->size ? axis->size - step : step));
	}
	return sum;
}

static double hops_by_number(const struct torus_sites *sites, double hops_of_a_round)
{
	double sum = 0;

	for (int step = 1; step < sites->nodes; step *= 2) {
		int farthest = 0;

		for (int n = 0; n < sites->nodes; n++) {
			int hops = torus_hops(&sites->shape, sites->place[n], sites->place[(n + step) % sites->nodes]);

			farthest = hops > farthest ? hops : farthest;
		}
		sum += hops_of_a_round + farthest;
	}
	return sum;
}

bool torus_barrier_pays(const struct torus_sites *sites, double hops_of_a_round)
{
	return hops_by_axes(&sites->shape, hops_of_a_round) < hops_by_number(sites, hops_of_a_round);
}
