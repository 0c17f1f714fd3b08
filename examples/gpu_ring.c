/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches symmetric memory on GPUs, without a line of CUDA: a block of numbers travels round the
 * ring of PEs from GPU to GPU, by puts with signal. The words that PEs wait for are in the memory
 * of the host, where a look at them costs least.
 */
#include <shmemg.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBERS = 1000 };

static uint64_t arrived; /* symmetric, on the host */

int main(void)
{
	int provided, me, n, good = 1;
	double *numbers, here[NUMBERS];

	shmem_init_thread(SHMEM_THREAD_SINGLE | SHMEM_DEVICE_HOST_INIT, &provided);
	me = shmem_my_pe();
	n = shmem_n_pes();
	if (!(provided & SHMEM_DEVICE_HOST_INIT)) { /* the library has said why */
		shmem_finalize();
		return 77;
	}
	numbers = shmemg_malloc(sizeof here); /* on the GPU: no loads and stores by the host */
	if (!numbers)
		shmem_global_exit(1);
	if (me == 0) {
		for (int i = 0; i < NUMBERS; i++)
			here[i] = i;
		shmem_double_put(numbers, here, NUMBERS, 0); /* from the host to this PE's GPU */
	} else {
		shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
	}
	/* From GPU to GPU; the signal is visible after the numbers. PE 0 gets them back last. */
	shmem_double_put_signal(numbers, numbers, NUMBERS, &arrived, 1, SHMEM_SIGNAL_SET, (me + 1) % n);
	if (me == 0) {
		shmem_signal_wait_until(&arrived, SHMEM_CMP_EQ, 1);
		shmem_double_get(here, numbers, NUMBERS, 0);
		for (int i = 0; i < NUMBERS; i++)
			good &= here[i] == i;
		printf("%d numbers went round %d PEs by their GPUs: %s\n", NUMBERS, n, good ? "PASS" : "FAIL");
	}
	shmemg_free(numbers);
	shmem_finalize();
	return !good;
}
