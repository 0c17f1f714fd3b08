/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In the style of 1.4: a context for each OpenMP thread, type-generic calls, a histogram over all
 * PEs by fetching atomics; afterwards each PE reads it back through nonblocking gets.
 */
#include <omp.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define BINS 64 /* on each PE */
#define DRAWS 2000

static uint64_t bins[BINS];
static int wrong;

static unsigned draw(unsigned *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

int main(void)
{
	uint64_t *all, total = 0;
	int provided, me, npes;

	shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
	if (provided != SHMEM_THREAD_MULTIPLE)
		shmem_global_exit(2);
	me = shmem_my_pe();
	npes = shmem_n_pes();
	shmem_barrier_all();
#pragma omp parallel num_threads(3)
	{
		unsigned state = (unsigned)(me * 3 + omp_get_thread_num());
		shmem_ctx_t ctx;

		if (shmem_ctx_create(SHMEM_CTX_PRIVATE, &ctx) != 0)
			shmem_global_exit(3);
#pragma omp for
		for (int i = 0; i < DRAWS; i++) {
			unsigned number = draw(&state) % (unsigned)(BINS * npes);
			uint64_t before = shmem_atomic_fetch_inc(ctx, &bins[number % BINS], (int)(number / BINS));

			if (before > (uint64_t)DRAWS * (uint64_t)npes)
				wrong = 1;
		}
		shmem_ctx_quiet(ctx);
		shmem_ctx_destroy(ctx);
	}
	shmem_barrier_all();
	all = malloc(sizeof *all * BINS * (size_t)npes);
	for (int pe = 0; pe < npes; pe++)
		shmem_get_nbi(all + pe * BINS, bins, BINS, pe);
	shmem_quiet();
	for (int i = 0; i < BINS * npes; i++)
		total += all[i];
	free(all);
	if (total != (uint64_t)DRAWS * (uint64_t)npes || wrong)
		printf("PE %d counts %llu\n", me, (unsigned long long)total);
	else if (me == 0)
		printf("histogram: complete on %d PEs\n", npes);
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
