/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=2 ucx-tcp=2 mixed=4 tofu-few=2 time=60 */
/*
 * Threads of each PE put and get at once, and whichever is free takes the events: all come, each
 * once.
 */
#include <pthread.h>
#include <shmemx.h>
#include <stdatomic.h>

#include "tests/lib/check.h"

#define THREADS 3
#define MOST 300

static shmemx_rdma_buffer_t everybodys[64];
static uint64_t memory[THREADS * MOST], got[THREADS * MOST], values[THREADS * MOST];
static shmemx_rdma_buffer_t mine;
static int events[5][THREADS * MOST];
static long count;
static atomic_long left;

static void take(const shmemx_rdma_event_t *event)
{
	__atomic_fetch_add(&events[event->kind][event->word], 1, __ATOMIC_RELAXED);
	atomic_fetch_sub_explicit(&left, 1, memory_order_relaxed);
}

static void *work(void *argument)
{
	long first = *(int *)argument * MOST;
	int to = (me + 1) % npes;
	shmemx_rdma_event_t event;

	for (long i = first; i < first + count; i++) {
		values[i] = (uint64_t)(me * 10000 + i);
		shmemx_rdma_put(&everybodys[to], (size_t)i * 8, &values[i], 8, 1, (uint64_t)i);
		shmemx_rdma_get(&got[i], &everybodys[me], 0, 8, (uint64_t)i);
		while (shmemx_rdma_test(&event))
			take(&event);
	}
	while (atomic_load(&left) > 0)
		if (shmemx_rdma_test(&event))
			take(&event);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS], provided;

	shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
	me = shmem_my_pe();
	npes = shmem_n_pes();
	count = eased(MOST);
	atomic_store(&left, 3 * THREADS * count);
	CHECK_EQUAL(shmemx_rdma_register(memory, sizeof memory, &mine), 0);
	for (int pe = 0; pe < npes; pe++)
		shmem_putmem(&everybodys[me], &mine, sizeof mine, pe);
	shmem_barrier_all();
	for (int t = 0; t < THREADS; t++) {
		numbers[t] = t;
		CHECK_EQUAL(pthread_create(&threads[t], NULL, work, &numbers[t]), 0);
	}
	for (int t = 0; t < THREADS; t++)
		pthread_join(threads[t], NULL);
	for (int t = 0; t < THREADS; t++)
		for (long i = t * MOST; i < t * MOST + count; i++) {
			NOTE("of number %ld", i);
			CHECK_EQUAL(memory[i], (uint64_t)((me + npes - 1) % npes * 10000 + i));
			CHECK_EQUAL(events[SHMEMX_RDMA_SENT][i], 1);
			CHECK_EQUAL(events[SHMEMX_RDMA_ARRIVED][i], 1);
			CHECK_EQUAL(events[SHMEMX_RDMA_GOT][i], 1);
		}
	return end();
}
