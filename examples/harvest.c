/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches RDMA with events (man shmemx_rdma), for memory that is not symmetric.
 *
 * PE 0 gathers what the others have found: each has as much as it has, in memory of its own that is
 * not symmetric.
 *
 * A buffer is plain bytes, here left with PE 0 by a put. PE 0 gets them all at once, and reads each
 * when its event reports it. The others compute on, or wait for the notification that their buffer
 * may go.
 */
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PES = 1024 };

static shmemx_rdma_buffer_t buffers[MOST_PES];
static size_t counts[MOST_PES];
static uint64_t here; /* how many have left their buffers */

/* The squares that end in the digit of this PE. */
static size_t find(long *found, long below, int digit)
{
	size_t count = 0;

	for (long n = 0; n < below; n++)
		if (n * n % 10 == digit % 10)
			found[count++] = n * n;
	return count;
}

static void harvest(int n_pes)
{
	long *all[MOST_PES];
	shmemx_rdma_event_t event;

	shmem_uint64_wait_until(&here, SHMEM_CMP_EQ, (uint64_t)n_pes);
	for (int pe = 0; pe < n_pes; pe++) {
		size_t bytes = counts[pe] * sizeof *all[pe];

		all[pe] = malloc(bytes + 1);
		if (!all[pe])
			shmem_global_exit(1);
		shmemx_rdma_get(all[pe], &buffers[pe], 0, bytes, (uint64_t)pe);
	}
	for (int left = n_pes; left > 0; left--) {
		long sum = 0;
		int pe;

		shmemx_rdma_wait(&event);
		pe = (int)event.word;
		for (size_t i = 0; i < counts[pe]; i++)
			sum += all[pe][i];
		printf("PE %d has %zu numbers; their sum is %ld\n", pe, counts[pe], sum);
		free(all[pe]);
	}
}

int main(void)
{
	const long below = 1000;
	long *found = malloc((size_t)below * sizeof *found);
	shmemx_rdma_buffer_t mine;
	size_t count;
	int me;

	shmem_init();
	me = shmem_my_pe();
	if (!found || shmem_n_pes() > MOST_PES)
		shmem_global_exit(1);
	count = find(found, below, me);
	if (shmemx_rdma_register(found, (size_t)below * sizeof *found, &mine))
		shmem_global_exit(1);
	shmem_size_p(&counts[me], count, 0);
	shmem_putmem(&buffers[me], &mine, sizeof mine, 0);
	shmem_fence();
	shmem_uint64_atomic_inc(&here, 0);
	if (me == 0)
		harvest(shmem_n_pes());
	shmem_barrier_all();
	shmemx_rdma_unregister(&mine);
	free(found);
	shmem_finalize();
	return 0;
}
