/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Four threads of each PE at SHMEM_THREAD_MULTIPLE: they connect to peers at the same time, put,
 * get and count at once, and a thread that waits stops no other.
 */
#include <pthread.h>

#include "tests/lib/check.h"

#define THREADS 4
#define BYTES 5000

static long counter, small_counter[THREADS], waited_for[THREADS], go_ahead;
static unsigned char *incoming;
static long rounds;
static pthread_barrier_t all_threads;

static unsigned char *slot(int pe, long thread)
{
	return incoming + ((size_t)pe * THREADS + (size_t)thread) * BYTES;
}

/* Thread t of each PE fills slot (PE, t) of all PEs, and reads it back. */
static void put_and_get(long t)
{
	unsigned char sent[BYTES], back[BYTES];

	for (long round = 0; round < rounds; round++) {
		for (int i = 0; i < npes; i++) {
			int pe = (me + i + (int)t) % npes;
			size_t bytes = noise((uint64_t)(round * 7 + t)) % BYTES;

			fill_noise(sent, bytes, (uint64_t)((round * npes + me) * THREADS + t));
			if (round % 2)
				shmem_putmem(slot(me, t), sent, bytes, pe);
			else
				shmem_putmem_nbi(slot(me, t), sent, bytes, pe);
			shmem_quiet();
			memset(back, 0, bytes);
			if (round % 3)
				shmem_getmem(back, slot(me, t), bytes, pe);
			else
				shmem_getmem_nbi(back, slot(me, t), bytes, pe);
			shmem_quiet();
			CHECK_BYTES(back, sent, bytes);
		}
	}
}

/* One counter for everybody, and one for the threads of one number. */
static void count(long t)
{
	long last = -1;

	for (long i = 0; i < 10 * rounds; i++) {
		long ticket = shmem_long_atomic_fetch_inc(&counter, 0);

		CHECK(ticket > last);
		last = ticket;
		shmem_long_atomic_add(&small_counter[t], 2, (me + (int)i) % npes);
		shmem_long_p(&waited_for[t], 0, me); /* traffic to oneself */
	}
	shmem_quiet();
}

/* Threads 1.. sleep in waits that only thread 0, which works on, can end; then all talk at once. */
static void wait_and_wake(long t)
{
	if (t > 0) {
		shmem_long_wait_until(&waited_for[t], SHMEM_CMP_EQ, 40 + t);
		return;
	}
	sleep_for(0.02);
	for (int i = 0; i < 20; i++) /* would hang if a waiting thread locked the library */
		shmem_long_atomic_fetch_inc(&go_ahead, (me + i) % npes);
	for (long other = 1; other < THREADS; other++) {
		if (other % 2)
			shmem_long_p(&waited_for[other], 40 + other, me);
		else
			shmem_long_atomic_add(&waited_for[other], 40 + other, me);
	}
}

static void *work(void *argument)
{
	long t = (long)(uintptr_t)argument;

	pthread_barrier_wait(&all_threads);
	put_and_get(t);
	count(t);
	pthread_barrier_wait(&all_threads);
	wait_and_wake(t);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int level = -1;

	CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level), 0);
	CHECK_EQUAL(level, SHMEM_THREAD_MULTIPLE);
	me = shmem_my_pe();
	npes = shmem_n_pes();
	rounds = eased(200);
	incoming = symmetric((size_t)npes * THREADS * BYTES);
	CHECK(pthread_barrier_init(&all_threads, NULL, THREADS) == 0);

	for (long t = 0; t < THREADS; t++)
		CHECK(pthread_create(&threads[t], NULL, work, (void *)(uintptr_t)t) == 0);
	for (long t = 0; t < THREADS; t++)
		CHECK(pthread_join(threads[t], NULL) == 0);

	shmem_barrier_all();
	CHECK_EQUAL(shmem_long_g(&counter, 0), 10 * rounds * THREADS * npes);
	for (long t = 0; t < THREADS; t++) {
		long sum = 0;

		for (int pe = 0; pe < npes; pe++)
			sum += shmem_long_g(&small_counter[t], pe);
		CHECK_EQUAL(sum, 20 * rounds * npes);
	}
	pthread_barrier_destroy(&all_threads);
	return end();
}
