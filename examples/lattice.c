/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches even-odd sweeps in four dimensions: half of the points change in place, and faces go
 * before each half.
 *
 * A field on a lattice of four dimensions, as in lattice gauge theory: even points have only odd
 * neighbours, and odd ones only even. So a sweep over one half may change it in place, whatever the
 * order, and the other half takes the result. Faces are exchanged before each half.
 */
#include "halo_job.h"

static int parity; /* of the points that are changed */

static void relax(const struct halo *h, double *field, const double *same, const size_t *first, const size_t *counts)
{
	size_t stride[DIMS] = {h->size[1] * h->size[2] * h->size[3], h->size[2] * h->size[3], h->size[3], 1};
	size_t at[DIMS], lowest = 0;

	(void)same; /* field, for it is changed in place */
	for (int d = 0; d < DIMS; d++)
		lowest += halo_where(h, d, 0);
	for (at[0] = first[0]; at[0] < first[0] + counts[0]; at[0]++)
		for (at[1] = first[1]; at[1] < first[1] + counts[1]; at[1]++)
			for (at[2] = first[2]; at[2] < first[2] + counts[2]; at[2]++)
				for (at[3] = first[3]; at[3] < first[3] + counts[3]; at[3]++) {
					double *point = field, sum = 0;

					if ((lowest + at[0] + at[1] + at[2] + at[3]) % 2 != (size_t)parity)
						continue;
					for (int d = 0; d < DIMS; d++)
						point += at[d] * stride[d];
					for (int d = 0; d < DIMS; d++)
						sum += point[stride[d]] + point[-(long)stride[d]];
					*point = 0.25 * *point + 0.09 * sum;
				}
}

/* Any number that follows from where the point is. */
static double first_value(const struct halo *h, const size_t *at)
{
	size_t n = 1;

	for (int d = 0; d < DIMS; d++)
		n = n * 31 + halo_where(h, d, at[d]);
	return (double)(n * 2654435761u % 1000) / 1000;
}

static double *solve(struct halo *h)
{
	double *field = halo_array(h);
	size_t at[DIMS];

	for (at[0] = 1; at[0] <= h->side[0]; at[0]++)
		for (at[1] = 1; at[1] <= h->side[1]; at[1]++)
			for (at[2] = 1; at[2] <= h->side[2]; at[2]++)
				for (at[3] = 1; at[3] <= h->side[3]; at[3]++)
					field[((at[0] * h->size[1] + at[1]) * h->size[2] + at[2]) * h->size[3] +
					      at[3]] = first_value(h, at);
	for (long n = 0; n < 2 * h->iterations; n++) {
		parity = n % 2;
		halo_sweep(h, relax, field, field);
	}
	return field;
}

int main(int argc, char **argv)
{
	struct halo h = {.dims = 4, .side = {8, 8, 8, 8}, .wraps = {1, 1, 1, 1}, .iterations = 100};

	halo_begin(&h, "lattice", argc, argv);
	for (int d = 0; d < DIMS; d++)
		if (h.wraps[d] && h.side[d] * (size_t)h.grid[d] % 2) {
			if (shmem_my_pe() == 0)
				fprintf(stderr,
					"lattice: where it wraps, %zu points make two even ones neighbours; "
					"give an even --side\n",
					h.side[d] * (size_t)h.grid[d]);
			shmem_finalize();
			return 2;
		}
	return halo_run(&h, solve);
}
