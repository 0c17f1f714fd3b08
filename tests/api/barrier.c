/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,8 ucx-tcp=2,3 ucx-shm=2 mixed=4,5 tofu-few=3 cables-ring=5 ofi=3 */
/*
 * Nobody leaves before all have come, thousands of times and with one PE after the other late; and
 * what each kind completes.
 */
#include "tests/lib/check.h"

static long arrived[64];

enum { BARRIER_ALL, SYNC_ALL, TEAM_SYNC, KINDS };

static void synchronise(int kind)
{
	switch (kind) {
	case BARRIER_ALL: shmem_barrier_all(); break;
	case SYNC_ALL: shmem_sync_all(); break;
	case TEAM_SYNC: CHECK_EQUAL(shmem_team_sync(SHMEM_TEAM_WORLD), 0); break;
	}
}

/* Each PE writes the number of the round to its right neighbour before the barrier. */
static void check_rounds(int kind, long rounds, bool skewed)
{
	int right = (me + 1) % npes, left = (me + npes - 1) % npes;

	arrived[left] = 0;
	shmem_barrier_all();
	for (long round = 1; round <= rounds; round++) {
		if (skewed && round % npes == me)
			sleep_for(0.002);
		shmem_long_p(&arrived[me], round, right);
		if (kind != BARRIER_ALL)
			shmem_quiet(); /* a sync alone does not complete puts */
		synchronise(kind);
		/* He may be one further already. */
		CHECK(arrived[left] == round || arrived[left] == round + 1);
	}
	shmem_barrier_all();
}

/* A barrier completes what was put without blocking, at third PEs too. */
static void check_completion(long rounds)
{
	static long words[64], value;

	for (long round = 1; round <= rounds; round++) {
		value = round * 100 + me;
		for (int pe = 0; pe < npes; pe++)
			shmem_long_put_nbi(&words[me], &value, 1, pe);
		shmem_barrier_all();
		for (int pe = 0; pe < npes; pe++) {
			CHECK_EQUAL(words[pe], round * 100 + pe);
			CHECK_EQUAL(shmem_long_g(&words[pe], (me + 1) % npes), round * 100 + pe);
		}
		shmem_barrier_all();
	}
}

/* A sync makes plain stores through shmem_ptr visible. */
static void check_stores(long rounds)
{
	static volatile long word;
	volatile long *direct = shmem_ptr((void *)&word, (me + 1) % npes);

	for (long round = 1; round <= rounds; round++) {
		if (direct)
			*direct = round;
		shmem_sync_all();
		if (shmem_ptr((void *)&word, (me + npes - 1) % npes))
			CHECK_EQUAL((long)word, round);
		shmem_sync_all();
	}
}

int main(void)
{
	begin();
	CHECK(npes <= 64);
	for (int kind = 0; kind < KINDS; kind++) {
		NOTE("kind %d", kind);
		check_rounds(kind, eased(2000), false);
		check_rounds(kind, eased(30), true);
	}
	check_note[0] = '\0';
	check_completion(eased(300));
	check_stores(eased(1000));
	return end();
}
