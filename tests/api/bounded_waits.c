/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,4 ucx-tcp=2 mixed=4 tofu-few=2 */
/*
 * Waits with a time: they come back when it is over, say what is missing, change nothing, and take
 * part in no deadlock; and they come back before when nothing is missing any more.
 */
#include <shmemx.h>

#include "tests/lib/check.h"

#define SHORT 0.05

static long words[6];
static double total, part;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void wait_for_words(void)
{
	const int status[6] = {0, 1, 0, 0, 0, 0};
	size_t missing[6] = {9, 9, 9, 9, 9, 9};
	double begin = now();

	words[3] = 7;
	CHECK_EQUAL(shmemx_wait_until_within(words, 6, status, SHMEM_CMP_EQ, 7, SHORT, missing), 4);
	CHECK(now() - begin >= SHORT);
	CHECK(missing[0] == 0 && missing[1] == 2 && missing[2] == 4 && missing[3] == 5 && missing[4] == 9);
	CHECK_EQUAL(shmemx_long_wait_until_within(words, 6, NULL, SHMEM_CMP_EQ, 7, 0, NULL), 5);
	CHECK_EQUAL(shmemx_long_wait_until_within(&words[3], 1, NULL, SHMEM_CMP_EQ, 7, 0, missing), 0);
	CHECK_EQUAL(shmemx_long_wait_until_within(words, 0, NULL, SHMEM_CMP_EQ, 7, 9, missing), 0);
	shmem_barrier_all();
	for (int i = 0; i < 6; i++)
		shmem_long_p(&words[i], 7, (me + 1) % npes);
	CHECK_EQUAL(shmemx_long_wait_until_within(words, 6, status, SHMEM_CMP_EQ, 7, 30, missing), 0);
	CHECK_EQUAL(missing[0], 0);
	shmem_barrier_all();
}

/* Waits of 0 seconds make progress, so that a loop around them ends. */
static void wait_by_looks(void)
{
	double begin = now();

	words[0] = 0;
	shmem_barrier_all();
	if (me == 0) {
		usleep(20000); /* the others are at their waits */
		for (int pe = 0; pe < npes; pe++)
			shmem_long_p(words, 8, pe);
	}
	while (shmemx_long_wait_until_within(words, 1, NULL, SHMEM_CMP_EQ, 8, 0, NULL) > 0)
		CHECK(now() - begin < 20);
	shmem_barrier_all();
}

/* The message of edge 1 of the ring is sent only after both sides have missed it. */
static void wait_for_edges(void)
{
	int next = (me + 1) % npes, before = (me + npes - 1) % npes;
	const shmemx_edge_t edges[2] = {{next, 1, 64, 64, 0}, {before, 0, 64, 64, 0}};
	shmemx_exchange_t x;
	int missing[2] = {9, 9};
	size_t bytes;

	CHECK_EQUAL(shmemx_exchange_create(SHMEM_TEAM_WORLD, edges, 2, &x), 0);
	shmemx_exchange_start(x, 0, 8);
	CHECK_EQUAL(shmemx_exchange_wait_within(x, 1, 30, missing), 0);
	CHECK_EQUAL(shmemx_exchange_wait_within(x, SHMEMX_ALL_EDGES, SHORT, missing), 1);
	CHECK(missing[0] == 0 && missing[1] == 9);
	CHECK_EQUAL(shmemx_exchange_wait_within(x, 0, 0, NULL), 1);
	shmem_barrier_all();
	shmemx_exchange_start(x, 1, 16);
	CHECK_EQUAL(shmemx_exchange_wait_within(x, SHMEMX_ALL_EDGES, 30, missing), 0);
	shmemx_exchange_wait(x, 0, &bytes);
	CHECK_EQUAL(bytes, 16);
	shmemx_exchange_wait(x, 1, &bytes);
	CHECK_EQUAL(bytes, 8);
	shmemx_exchange_release(x, SHMEMX_ALL_EDGES);
	shmemx_exchange_destroy(x);
}

/* PE 0 starts its run after the others have missed it. */
static void wait_for_plan(void)
{
	shmemx_plan_t plan;

	part = 1;
	CHECK_EQUAL(shmemx_allreduce_init(SHMEM_TEAM_WORLD, &total, &part, 1, SHMEMX_DOUBLE, SHMEMX_SUM,
					  SHMEMX_PLAN_AUTO, &plan),
		    0);
	if (me > 0) {
		shmemx_plan_start(plan);
		CHECK_EQUAL(shmemx_plan_wait_within(plan, SHORT), 1);
	}
	shmem_barrier_all();
	if (me == 0)
		shmemx_plan_start(plan);
	CHECK_EQUAL(shmemx_plan_wait_within(plan, 30), 0);
	CHECK_EQUAL(total, (double)npes);
	CHECK_EQUAL(shmemx_plan_wait_within(plan, 0), 0);
	shmemx_plan_free(plan);
}

/* Longer than a wait that nothing can end would last. */
static void wait_together(void)
{
	words[0] = 0;
	shmem_barrier_all();
	CHECK_EQUAL(shmemx_long_wait_until_within(words, 1, NULL, SHMEM_CMP_EQ, 1, 1.6, NULL), 1);
	shmem_barrier_all();
}

int main(void)
{
	setenv("SHMEM_PROGRESS_THREAD", "no", 1); /* it hides waits that make no progress */
	shmem_init();
	me = shmem_my_pe();
	npes = shmem_n_pes();
	wait_for_words();
	wait_by_looks();
	wait_for_edges();
	wait_for_plan();
	if (npes == 2 && getenv("TEST_PATH") && !strcmp(getenv("TEST_PATH"), "local"))
		wait_together();
	shmem_finalize();
	return 0;
}
