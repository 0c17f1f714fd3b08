/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches which messages can be hidden behind computing, and a global sum now and then.
 *
 * Poisson's equation on a square, by Jacobi's method: a charge and its opposite. The residual is
 * summed up over all PEs in every tenth iteration. --scale makes messages longer than they need be,
 * to see from which size on they cannot be hidden.
 */
#include "halo_job.h"

#include <math.h>

static double *charge; /* of the points of the block that is computed */

static void relax(const struct halo *h, double *next, const double *now, const size_t *first, const size_t *counts)
{
	size_t row = h->size[1];

	for (size_t i = first[0]; i < first[0] + counts[0]; i++)
		for (size_t j = first[1]; j < first[1] + counts[1]; j++) {
			size_t at = i * row + j;
			double mean = 0.25 * (now[at - 1] + now[at + 1] + now[at - row] + now[at + row] + charge[at]);

			next[at] = now[at] + 0.8 * (mean - now[at]);
		}
}

static void place_charges(const struct halo *h)
{
	size_t rows = h->alone ? h->side[0] : h->side[0] * (size_t)h->grid[0];
	size_t columns = h->alone ? h->side[1] : h->side[1] * (size_t)h->grid[1];

	for (size_t i = 1; i <= h->side[0]; i++)
		for (size_t j = 1; j <= h->side[1]; j++) {
			size_t row = halo_where(h, 0, i), column = halo_where(h, 1, j);

			if (row == rows / 4 && column == columns / 4)
				charge[i * h->size[1] + j] = 1;
			if (row == rows / 4 + rows / 2 && column == columns / 4 + columns / 2)
				charge[i * h->size[1] + j] = -1;
		}
}

static double squared_change(const struct halo *h, const double *next, const double *now)
{
	double sum = 0;

	for (size_t i = 1; i <= h->side[0]; i++)
		for (size_t j = 1; j <= h->side[1]; j++) {
			double change = next[i * h->size[1] + j] - now[i * h->size[1] + j];

			sum += change * change;
		}
	return sum;
}

static double *solve(struct halo *h)
{
	double *now = halo_array(h), *next = halo_array(h), first = 0, last = 0;

	charge = halo_array(h);
	place_charges(h);
	for (long n = 1; n <= h->iterations; n++) {
		double *swap = now;

		halo_sweep(h, relax, next, now);
		if (n == 1 || n % 10 == 0)
			last = halo_sum(h, squared_change(h, next, now));
		if (n == 1)
			first = last;
		now = next;
		next = swap;
	}
	if (shmem_my_pe() == 0)
		printf("%s: the residual fell to %.2e of the first\n", h->alone ? "PE 0 alone" : "all PEs",
		       sqrt(last / first));
	return now;
}

int main(int argc, char **argv)
{
	struct halo h = {.dims = 2, .side = {60, 60}, .wraps = {1, 1}, .iterations = 1000};

	halo_begin(&h, "poisson", argc, argv);
	return halo_run(&h, solve);
}
