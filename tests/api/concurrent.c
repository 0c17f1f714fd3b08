/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4 ucx-tcp=2 ucx-shm=2 mixed=3 */
/*
 * Threads of each PE at once at SHMEM_THREAD_MULTIPLE: on one context, on contexts of their own, in
 * collectives and splits of different teams, waiting for one another.
 */
#include <pthread.h>

#include "tests/lib/check.h"

#define THREADS 4
#define BYTES 700

static shmem_team_t teams[THREADS];
static shmem_ctx_t common;
static unsigned char *slots; /* BYTES for each PE and thread */
static long counter, pong[THREADS], ping[THREADS];
static long rounds;
static pthread_barrier_t all_threads;

static unsigned char *slot(int pe, int t)
{
	return slots + ((size_t)pe * THREADS + (size_t)t) * BYTES;
}

/* All sorts of operations; what a thread reads back is what it wrote. */
static void talk(shmem_ctx_t ctx, int t)
{
	unsigned char sent[BYTES], back[BYTES];

	for (long round = 0; round < rounds; round++) {
		int pe = (me + (int)round + t) % npes;
		size_t bytes = 1 + noise((uint64_t)(round * THREADS + t)) % BYTES;

		fill_noise(sent, bytes, (uint64_t)((round * npes + me) * THREADS + t));
		if (round % 2)
			shmem_ctx_putmem(ctx, slot(me, t), sent, bytes, pe);
		else
			shmem_ctx_putmem_nbi(ctx, slot(me, t), sent, bytes, pe);
		shmem_ctx_quiet(ctx);
		shmem_ctx_getmem_nbi(ctx, back, slot(me, t), bytes, pe);
		shmem_ctx_long_atomic_inc(ctx, &counter, pe);
		shmem_ctx_quiet(ctx);
		CHECK_BYTES(back, sent, bytes);
	}
}

static void on_contexts(int t)
{
	shmem_ctx_t own;

	talk(common, t);
	CHECK_EQUAL(shmem_ctx_create(t % 2 ? SHMEM_CTX_PRIVATE : SHMEM_CTX_SERIALIZED, &own), 0);
	talk(own, t);
	shmem_ctx_destroy(own);
	/* Made and destroyed by all threads at once. */
	for (long i = 0; i < rounds; i++) {
		CHECK_EQUAL(shmem_team_create_ctx(teams[t], 0, &own), 0);
		shmem_ctx_long_atomic_inc(own, &counter, shmem_team_my_pe(teams[t]));
		shmem_ctx_destroy(own);
	}
	shmem_quiet();
}

/* Each thread has a team of its own, of all PEs; the teams' collectives run at once. */
static void on_teams(int t)
{
	static long mine[THREADS], result[THREADS], received[THREADS], all[THREADS][64];
	shmem_team_t team = teams[t];
	int place = shmem_team_my_pe(team);

	for (long round = 0; round < rounds; round++) {
		mine[t] = place + round * (t + 1);
		CHECK_EQUAL(shmem_long_sum_reduce(team, &result[t], &mine[t], 1), 0);
		CHECK_EQUAL(result[t], (long)npes * (npes - 1) / 2 + npes * round * (t + 1));
		CHECK_EQUAL(shmem_long_broadcast(team, &received[t], &mine[t], 1, (int)round % npes), 0);
		CHECK_EQUAL(received[t], round % npes + round * (t + 1));
		CHECK_EQUAL(shmem_long_fcollect(team, all[t], &mine[t], 1), 0);
		for (int i = 0; i < npes; i++)
			CHECK_EQUAL(all[t][i], i + round * (t + 1));
		CHECK_EQUAL(shmem_team_sync(team), 0);
	}
}

/* Children of different teams are made and destroyed at once. */
static void splitting(int t)
{
	static long mine[THREADS], result[THREADS];

	for (long round = 0; round < rounds / 2 + 1; round++) {
		shmem_team_t child = SHMEM_TEAM_INVALID;
		int size = 1 + (int)(round % npes);

		CHECK_EQUAL(shmem_team_split_strided(teams[t], size - 1, -1, size, NULL, 0, &child), 0);
		CHECK_EQUAL(child != SHMEM_TEAM_INVALID, shmem_team_my_pe(teams[t]) < size);
		if (child == SHMEM_TEAM_INVALID)
			continue;
		mine[t] = t + round;
		CHECK_EQUAL(shmem_long_sum_reduce(child, &result[t], &mine[t], 1), 0);
		CHECK_EQUAL(result[t], size * (t + round));
		shmem_team_destroy(child);
	}
}

/*
 * So many teams that what is left of the library's room for them is wanted by all threads at once;
 * returns how many.
 */
static int make_teams(shmem_team_t *made_teams, int most)
{
	int made = 0;

	while (made < most && shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, npes, NULL, 0, &made_teams[made]) == 0)
		made++;
	for (int i = 0; i < 12 && made < most; i++)
		shmem_team_destroy(made_teams[--made]);
	return made;
}

/*
 * Pairs of threads of one PE wake each other, by atomics or by plain stores; the waits must not
 * keep anyone from working.
 */
static void wake(int t)
{
	int pair = t / 2;

	for (long round = 1; round <= rounds; round++) {
		long *mine = t % 2 ? &ping[pair] : &pong[pair], *other = t % 2 ? &pong[pair] : &ping[pair];

		if (t % 2)
			shmem_long_wait_until(mine, SHMEM_CMP_EQ, round);
		/* No call of the library at all. */
		if (round % 2)
			__atomic_store_n(other, round, __ATOMIC_RELEASE);
		else
			shmem_long_atomic_set(other, round, me);
		if (t % 2 == 0)
			shmem_long_wait_until(mine, SHMEM_CMP_EQ, round);
	}
}

static void *work(void *argument)
{
	int t = (int)(uintptr_t)argument;

	pthread_barrier_wait(&all_threads);
	on_contexts(t);
	on_teams(t);
	pthread_barrier_wait(&all_threads);
	splitting(t);
	/* Some in collectives while others talk. */
	if (t % 2)
		on_teams(t);
	else
		talk(common, t);
	wake(t);
	return NULL;
}

int main(void)
{
	static shmem_team_t made_teams[1000];
	pthread_t threads[THREADS];
	int count;
	long sum = 0;
	int level = -1;

	CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level), 0);
	CHECK_EQUAL(level, SHMEM_THREAD_MULTIPLE);
	me = shmem_my_pe();
	npes = shmem_n_pes();
	rounds = ease() > 1 ? 20 : 200;
	slots = symmetric((size_t)npes * THREADS * BYTES);
	for (int t = 0; t < THREADS; t++)
		CHECK_EQUAL(shmem_team_split_strided(SHMEM_TEAM_WORLD, t % 2 ? npes - 1 : 0, t % 2 ? -1 : 1, npes, NULL,
						     0, &teams[t]),
			    0);
	count = make_teams(made_teams, 1000);
	CHECK_EQUAL(shmem_ctx_create(0, &common), 0);
	CHECK(pthread_barrier_init(&all_threads, NULL, THREADS) == 0);

	for (int t = 0; t < THREADS; t++)
		CHECK(pthread_create(&threads[t], NULL, work, (void *)(uintptr_t)t) == 0);
	for (int t = 0; t < THREADS; t++)
		CHECK(pthread_join(threads[t], NULL) == 0);

	shmem_barrier_all();
	for (int pe = 0; pe < npes; pe++)
		sum += shmem_long_g(&counter, pe);
	CHECK_EQUAL(sum, (3 * THREADS + THREADS / 2) * rounds * npes);
	pthread_barrier_destroy(&all_threads);
	shmem_ctx_destroy(common);
	while (count > 0)
		shmem_team_destroy(made_teams[--count]);
	for (int t = 0; t < THREADS; t++)
		shmem_team_destroy(teams[t]);
	return end();
}
