/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches a stencil of three dimensions with a neighbour exchange that is hidden behind the bulk
 * (halo.h has the sweep).
 *
 * Heat in a cube: a hot ball cools down. The temperature of a point moves towards the mean of its
 * six neighbours. The cube wraps, or with --open its outside stays at 0.
 */
#include "halo_job.h"

static void diffuse(const struct halo *h, double *next, const double *now, const size_t *first, const size_t *counts)
{
	size_t y = h->size[2], x = y * h->size[1];

	for (size_t i = first[0]; i < first[0] + counts[0]; i++)
		for (size_t j = first[1]; j < first[1] + counts[1]; j++)
			for (size_t k = first[2]; k < first[2] + counts[2]; k++) {
				const double *t = &now[i * x + j * y + k];

				next[i * x + j * y + k] = t[0] + 0.1 * (t[-1] + t[1] + t[-(long)y] + t[y] +
									t[-(long)x] + t[x] - 6 * t[0]);
			}
}

/* A ball in the middle of the lattice. */
static double first_temperature(const struct halo *h, size_t i, size_t j, size_t k)
{
	double radius = 0,
	       point[3] = {(double)halo_where(h, 0, i), (double)halo_where(h, 1, j), (double)halo_where(h, 2, k)};

	for (int d = 0; d < 3; d++) {
		double side = h->alone ? (double)h->side[d] : (double)h->side[d] * h->grid[d];

		radius += (point[d] / side - 0.5) * (point[d] / side - 0.5);
	}
	return radius < 0.1 ? 100 : 0;
}

static double *solve(struct halo *h)
{
	double *now = halo_array(h), *next = halo_array(h);

	for (size_t i = 1; i <= h->side[0]; i++)
		for (size_t j = 1; j <= h->side[1]; j++)
			for (size_t k = 1; k <= h->side[2]; k++)
				now[(i * h->size[1] + j) * h->size[2] + k] = first_temperature(h, i, j, k);
	for (long n = 0; n < h->iterations; n++) {
		double *swap = now;

		halo_sweep(h, diffuse, next, now);
		now = next;
		next = swap;
	}
	return now;
}

int main(int argc, char **argv)
{
	struct halo h = {.dims = 3, .side = {24, 24, 24}, .wraps = {1, 1, 1}, .iterations = 200};

	halo_begin(&h, "heat", argc, argv);
	return halo_run(&h, solve);
}
