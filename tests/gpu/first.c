/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A little of each chapter with memory of GPUs, in a second: for compute-sanitizer, under which the
 * other programs take minutes.
 */
#include "gpu.h"

#define NUMBERS 100000

static long numbers[NUMBERS], got[NUMBERS];
static uint64_t host_signal;

static void check_numbers(const long *from, int factor, int of)
{
	shmem_long_get(got, from, NUMBERS, me);
	for (long i = 0; i < NUMBERS; i++)
		CHECK_EQUAL(got[i], i * factor + of);
}

static void move_data(long *there, int next, int before)
{
	shmem_long_put(there, numbers, NUMBERS, next);
	shmem_barrier_all();
	check_numbers(there, 3, before);
	shmem_long_get(got, there, NUMBERS, next);
	for (long i = 0; i < NUMBERS; i++)
		CHECK_EQUAL(got[i], i * 3 + me);
	shmem_barrier_all();
	shmem_long_iput(there, numbers, 2, 3, 50, next);
	shmem_barrier_all();
	shmem_long_get(got, there, 100, me);
	for (int i = 0; i < 50; i++)
		CHECK_EQUAL(got[2 * i], i * 9 + before);
	shmem_barrier_all();
}

static void change_words(long *words, uint64_t *signal, long *there, int next)
{
	for (int i = 0; i < 10; i++)
		shmem_long_atomic_add(words, 1, 0);
	shmem_barrier_all();
	CHECK_EQUAL(shmem_long_atomic_fetch(words, 0), 10L * npes);
	shmem_long_put_signal(there, numbers, NUMBERS, signal, 5, SHMEM_SIGNAL_SET, next);
	shmem_signal_wait_until(signal, SHMEM_CMP_EQ, 5);
	shmem_long_put_signal(there, there, NUMBERS, &host_signal, 6, SHMEM_SIGNAL_SET, next);
	shmem_signal_wait_until(&host_signal, SHMEM_CMP_EQ, 6);
	shmem_barrier_all();
}

static void combine(long *sum, long *source)
{
	shmem_long_put(source, numbers, NUMBERS, me);
	shmem_long_sum_reduce(SHMEM_TEAM_WORLD, sum, source, NUMBERS);
	check_numbers(sum, 3 * npes, npes * (npes - 1) / 2);
	shmem_barrier_all(); /* the root writes to it at once */
	shmem_long_broadcast(SHMEM_TEAM_WORLD, sum, source, NUMBERS, npes - 1);
	check_numbers(sum, 3, npes - 1);
}

int main(void)
{
	long *there, *sum, *words;
	uint64_t *signal;

	begin_gpu(SHMEM_THREAD_SINGLE);
	there = on_gpu(sizeof numbers);
	sum = on_gpu(sizeof numbers);
	words = shmemg_calloc(1, sizeof *words);
	signal = shmemg_calloc(1, sizeof *signal);
	for (long i = 0; i < NUMBERS; i++)
		numbers[i] = i * 3 + me;
	move_data(there, (me + 1) % npes, (me + npes - 1) % npes);
	change_words(words, signal, there, (me + 1) % npes);
	combine(sum, there);
	shmem_finalize();
	return 0;
}
