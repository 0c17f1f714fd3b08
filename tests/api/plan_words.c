/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,4 ucx-tcp=2,3 mixed=4 split=3 tofu-few=3 time=120 */
/*
 * Plans that a word starts: a thread that makes no call writes the start words of two plans and
 * polls their done words, while the PE computes, or waits in other routines; the same by a put of
 * another PE; plans that are freed, or get and lose their words, between runs; averages.
 */
#include "tests/lib/check.h"

#include <pthread.h>
#include <sched.h>
#include <shmemx.h>
#include <stdatomic.h>

#define ROUNDS 1000
#define MOST 3000 /* elements */

static uint64_t *words; /* start and done of the first plan, then of the second */
static long *values, *sums, *table;
static atomic_bool over;

static uint64_t value_of(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void write_word(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static void await_word(const uint64_t *word, uint64_t value)
{
	while (value_of(word) != value)
		sched_yield();
}

/* The other thread. Sums of one element, and all-gathers of more, which go on at the same time. */
static void *run_rounds(void *argument)
{
	long rounds = *(const long *)argument;
	bool *right = malloc(sizeof *right);

	*right = true;
	for (long round = 1; round <= rounds; round++) {
		values[0] = me + round;
		for (size_t i = 0; i < MOST; i++)
			values[8 + i] = me * 100000 + (long)i + round;
		write_word(&words[0], (uint64_t)round);
		write_word(&words[2], (uint64_t)round * 7);
		await_word(&words[1], (uint64_t)round);
		*right &= sums[0] == (long)npes * (npes - 1) / 2 + npes * round;
		await_word(&words[3], (uint64_t)round * 7);
		for (int pe = 0; pe < npes; pe++)
			for (size_t i = 0; i < MOST; i += 101)
				*right &= table[(size_t)pe * MOST + i] == pe * 100000 + (long)i + round;
	}
	atomic_store(&over, true);
	return right;
}

static double compute(void)
{
	volatile double sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += 1.0 / (i + 1);
	return sum;
}

static void make_plans(shmemx_plan_t *sum, shmemx_plan_t *gather, int executor)
{
	CHECK_EQUAL(shmemx_allreduce_init(SHMEM_TEAM_WORLD, sums, values, 1, SHMEMX_LONG, SHMEMX_SUM, executor, sum),
		    0);
	CHECK_EQUAL(shmemx_allgather_init(SHMEM_TEAM_WORLD, table, values + 8, MOST * sizeof(long), executor, gather),
		    0);
	memset(words, 0, 4 * sizeof *words);
	shmemx_plan_start_on(*sum, &words[0], &words[1]);
	shmemx_plan_start_on(*gather, &words[2], &words[3]);
	CHECK_EQUAL(shmemx_plan_test(*sum), 1);
	shmem_barrier_all();
}

static void check_thread(int executor, bool computes)
{
	long rounds = eased(executor == SHMEMX_PLAN_AUTO && computes ? ROUNDS : ROUNDS / 10);
	shmemx_plan_t sum, gather;
	pthread_t thread;
	void *right;

	NOTE("%ld rounds by a thread, executor %d%s", rounds, executor, computes ? "" : ", with other calls");
	make_plans(&sum, &gather, executor);
	atomic_store(&over, false);
	CHECK_EQUAL(pthread_create(&thread, NULL, run_rounds, &rounds), 0);
	while (!atomic_load(&over)) {
		CHECK(compute() > 0);
		if (!computes)
			shmem_uint64_atomic_inc(&words[4], (me + 1) % npes);
		sched_yield();
	}
	pthread_join(thread, &right);
	CHECK(*(bool *)right);
	free(right);
	CHECK_EQUAL(shmemx_plan_test(sum), 1);
	shmemx_plan_wait(gather);
	shmemx_plan_free(sum); /* with its words */
	shmemx_plan_start_on(gather, NULL, NULL);
	shmemx_plan_start(gather); /* by a call again */
	shmemx_plan_wait(gather);
	shmemx_plan_free(gather);
}

#ifndef __SANITIZE_THREAD__
/* PE 0 starts the plan on all PEs, which see its end by routines. */
static void check_puts(void)
{
	double *from = (double *)(void *)values, *to = (double *)(void *)sums;
	shmemx_plan_t average;

	CHECK_EQUAL(shmemx_allreduce_init(SHMEM_TEAM_WORLD, to, from, 2, SHMEMX_DOUBLE, SHMEMX_AVG, SHMEMX_PLAN_AUTO,
					  &average),
		    0);
	words[0] = 17;
	for (uint64_t round = 1; round <= (uint64_t)eased(50); round++) {
		NOTE("round %d by puts", (int)round);
		if (round % 10 == 1) /* words again, with the value that they have */
			shmemx_plan_start_on(average, &words[0], &words[1]);
		from[0] = (double)(me + 1) * 2;
		from[1] = (double)round;
		shmem_barrier_all();
		for (int pe = 0; pe < npes && me == 0; pe++)
			shmem_uint64_p(&words[0], 17 + round, pe);
		if (round % 2)
			shmem_uint64_wait_until(&words[1], SHMEM_CMP_EQ, 17 + round);
		shmem_uint64_wait_until(&words[0], SHMEM_CMP_EQ, 17 + round);
		if (round % 3)
			shmemx_plan_wait(average);
		else
			CHECK_EQUAL(shmemx_plan_wait_within(average, 60), 0);
		CHECK_EQUAL(value_of(&words[1]), 17 + round);
		CHECK(to[0] == npes + 1 && to[1] == (double)round);
		shmem_barrier_all();
	}
	shmemx_plan_free(average);
}
#endif

int main(void)
{
	shmemx_plan_t sum, gather;

	begin();
	words = shmem_calloc(8, sizeof *words);
	values = shmem_calloc(8 + MOST, sizeof *values);
	sums = shmem_calloc(8, sizeof *sums);
	table = symmetric((size_t)npes * MOST * sizeof *table);
	check_thread(SHMEMX_PLAN_AUTO, true);
	check_thread(SHMEMX_PLAN_LIST, true);
	check_thread(SHMEMX_PLAN_NIC, true);
	check_thread(SHMEMX_PLAN_THREAD, false);
	/* The word comes from another process, through which the thread sanitizer sees no order. */
#ifndef __SANITIZE_THREAD__
	check_puts();
#endif
	make_plans(&sum, &gather, SHMEMX_PLAN_AUTO); /* the end of the library frees them */
	return end();
}
