/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches atomics on other PEs' memory.
 *
 * A histogram that is spread over the PEs: each owns some of the bins, and anybody may count into
 * any bin with an atomic increment. No PE has to be asked, no lock is taken.
 */
#include <shmem.h>
#include <stdio.h>

#define BINS_PER_PE 4
#define THROWS 20000 /* by each PE */

static long bins[BINS_PER_PE];
static long here, all;

/* Two dice: a number from 0 to 10, the middle ones often. */
static int throw_dice(unsigned *state)
{
	int sum = 0;

	for (int die = 0; die < 2; die++) {
		*state = *state * 1664525 + 1013904223;
		sum += (int)((*state >> 16) % 6);
	}
	return sum;
}

int main(void)
{
	int me, n_pes, n_bins;
	unsigned state;

	shmem_init();
	me = shmem_my_pe();
	n_pes = shmem_n_pes();
	n_bins = n_pes * BINS_PER_PE;
	state = (unsigned)me + 1;

	for (int i = 0; i < THROWS; i++) {
		int bin = throw_dice(&state) * n_bins / 11;

		shmem_long_atomic_inc(&bins[bin % BINS_PER_PE], bin / BINS_PER_PE);
	}
	shmem_barrier_all();

	/* PE 0 reads the bins of everybody. */
	for (int bin = 0; me == 0 && bin < n_bins; bin++) {
		long count = shmem_long_g(&bins[bin % BINS_PER_PE], bin / BINS_PER_PE);

		printf("%3d %7ld ", bin, count);
		for (long star = 0; star < 80 * count / (THROWS * n_pes); star++)
			putchar('*');
		putchar('\n');
	}

	for (int i = 0; i < BINS_PER_PE; i++)
		here += bins[i];
	shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &all, &here, 1);
	if (me == 0)
		printf("%ld throws, %s\n", all, all == (long)THROWS * n_pes ? "none lost" : "some LOST");
	shmem_finalize();
	return all == (long)THROWS * n_pes ? 0 : 1;
}
