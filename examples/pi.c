/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches a sum over all PEs.
 *
 * Pi as the area under 4 / (1 + x^2) from 0 to 1. Each PE adds up every n-th strip; a sum reduction
 * adds what the PEs have.
 */
#include <shmem.h>
#include <stdio.h>

static double part, pi; /* reductions work on symmetric variables */

int main(void)
{
	const long strips = 10000000;
	const double width = 1.0 / (double)strips;

	shmem_init();
	for (long i = shmem_my_pe(); i < strips; i += shmem_n_pes()) {
		double x = ((double)i + 0.5) * width;

		part += 4.0 / (1.0 + x * x) * width;
	}
	shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &pi, &part, 1);
	if (shmem_my_pe() == 0)
		printf("pi is about %.12f\n", pi);
	shmem_finalize();
	return 0;
}
