/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches an exchange in one direction only, in which a PE runs ahead of its neighbour.
 *
 * A cloud in a wind that blows along both diagonals of a square: what a point becomes depends on
 * the points upwind only. So faces go upwards only and nothing ever comes back; a PE may be two
 * messages ahead of its neighbour, and waits if it would be more.
 */
#include "halo_job.h"

static void blow(const struct halo *h, double *next, const double *now, const size_t *first, const size_t *counts)
{
	size_t row = h->size[1];

	for (size_t i = first[0]; i < first[0] + counts[0]; i++)
		for (size_t j = first[1]; j < first[1] + counts[1]; j++) {
			size_t at = i * row + j;

			next[at] = now[at] - 0.3 * (now[at] - now[at - 1]) - 0.4 * (now[at] - now[at - row]);
		}
}

static double *solve(struct halo *h)
{
	double *now = halo_array(h), *next = halo_array(h);

	for (size_t i = 1; i <= h->side[0]; i++)
		for (size_t j = 1; j <= h->side[1]; j++)
			now[i * h->size[1] + j] = (double)((halo_where(h, 0, i) * 7 + halo_where(h, 1, j) * 3) % 11);
	for (long n = 0; n < h->iterations; n++) {
		double *swap = now;

		halo_sweep(h, blow, next, now);
		now = next;
		next = swap;
	}
	return now;
}

int main(int argc, char **argv)
{
	struct halo h = {.dims = 2, .side = {64, 64}, .wraps = {1, 1}, .upwards = 1, .iterations = 500};

	halo_begin(&h, "upwind", argc, argv);
	return halo_run(&h, solve);
}
