/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The usual first program of a solver in the style of 1.2: heat along a rod, one piece for each PE,
 * halo cells put to the neighbours, a max_to_all to see whether it still changes. Stationary, it is
 * a straight line.
 */
#include <shmem.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 4
#define STEPS_AT_MOST 200000

long pSync[SHMEM_REDUCE_SYNC_SIZE];
double pWrk[SHMEM_REDUCE_MIN_WRKDATA_SIZE];
double change, largest;

int main(int argc, char **argv)
{
	double *now, *next, *swap, error = 0;
	int me, npes, i, step;

	(void)argc, (void)argv;
	shmem_init();
	me = shmem_my_pe();
	npes = shmem_n_pes();
	for (i = 0; i < SHMEM_REDUCE_SYNC_SIZE; i += 1)
		pSync[i] = SHMEM_SYNC_VALUE;
	now = shmem_malloc((CELLS + 2) * sizeof *now);
	next = shmem_malloc((CELLS + 2) * sizeof *next);
	for (i = 0; i < CELLS + 2; i++)
		now[i] = next[i] = 0;
	if (me == npes - 1)
		now[CELLS + 1] = next[CELLS + 1] = 1; /* the hot end; the other is at 0 */
	shmem_barrier_all();

	for (step = 0; step < STEPS_AT_MOST; step++) {
		if (me > 0)
			shmem_double_put(&now[CELLS + 1], &now[1], 1, me - 1);
		if (me < npes - 1)
			shmem_double_put(&now[0], &now[CELLS], 1, me + 1);
		shmem_barrier_all();
		change = 0;
		for (i = 1; i <= CELLS; i++) {
			next[i] = (now[i - 1] + now[i + 1]) / 2;
			change = fmax(change, fabs(next[i] - now[i]));
		}
		if (step % 20 == 0) {
			shmem_double_max_to_all(&largest, &change, 1, 0, 0, npes, pWrk, pSync);
			shmem_barrier_all();
			if (largest < 1e-8)
				break;
		}
		swap = now;
		now = next;
		next = swap;
	}
	for (i = 1; i <= CELLS; i++)
		error = fmax(error, fabs(now[i] - (double)(me * CELLS + i) / (npes * CELLS + 1)));
	change = error;
	shmem_double_max_to_all(&largest, &change, 1, 0, 0, npes, pWrk, pSync);
	if (me == 0)
		printf("rod: %s on %d PEs\n", largest < 1e-5 ? "a straight line" : "no straight line", npes);
	shmem_free(next);
	shmem_free(now);
	shmem_finalize();
	return largest < 1e-5 ? 0 : 1;
}
