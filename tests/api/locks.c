/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,8 ucx-tcp=2,3 ucx-shm=2 mixed=4 split=3 ofi=3 */
/*
 * Locks: one holder at a time, who sees what the one before did; first come, first served; many at
 * once; tried for; held while waiting for another.
 */
#include "tests/lib/check.h"
#include "tests/lib/stops.h"

#define MANY 100
#define MOST_PES 64

static long lock, first_lock, second_lock, many_locks[MANY];
static long shared, total[MANY], holder = -1;

/*
 * What is read and written by put and get under the lock is seen by the next holder, without any
 * quiet of the user's.
 */
static void check_exclusion(long rounds)
{
	NOTE("exclusion");
	for (long i = 0; i < rounds; i++) {
		long value, nobody = -1;
		int home = (int)(i % 2) % npes;

		shmem_set_lock(&lock);
		CHECK_EQUAL(shmem_long_g(&holder, home), -1);
		shmem_long_p(&holder, me, home);
		value = shmem_long_g(&shared, 0) + 1;
		shmem_quiet();
		CHECK_EQUAL(shmem_long_g(&holder, home), me);
		shmem_long_put(&holder, &nobody, 1, home);
		if (i % 3)
			shmem_long_p(&shared, value, 0);
		else
			shmem_long_put_nbi(&shared, &value, 1, 0);
		shmem_clear_lock(&lock);
	}
	shmem_barrier_all();
	CHECK_EQUAL(shmem_long_g(&shared, 0), rounds * npes);
	shmem_barrier_all();
}

/* The same with some who only try, and come back later. */
static void check_tries(long rounds)
{
	NOTE("tries");
	if (me == 0)
		shared = 0;
	shmem_barrier_all();
	for (long i = 0; i < rounds; i++) {
		if ((me + i) % 2) {
			shmem_set_lock(&lock);
		} else {
			int answer;

			while ((answer = shmem_test_lock(&lock)) != 0)
				CHECK_EQUAL(answer, 1);
		}
		shmem_long_p(&shared, shmem_long_g(&shared, 0) + 1, 0);
		shmem_clear_lock(&lock);
	}
	shmem_barrier_all();
	CHECK_EQUAL(shmem_long_g(&shared, 0), rounds * npes);
	/* Testing a held lock fails at once. */
	if (me == npes - 1) {
		CHECK_EQUAL(shmem_test_lock(&lock), 0);
		shmem_barrier_all();
		shmem_barrier_all();
		shmem_clear_lock(&lock);
		shmem_barrier_all();
		return;
	}
	shmem_barrier_all();
	CHECK_EQUAL(shmem_test_lock(&lock), 1);
	shmem_barrier_all();
	shmem_barrier_all();
	if (me == 0) {
		CHECK_EQUAL(shmem_test_lock(&lock), 0);
		shmem_clear_lock(&lock);
	}
}

/* PEs that queue one after the other get the lock one after the other. */
static void check_order(void)
{
	static long arrived, order[MOST_PES], next;

	NOTE("order");
	shmem_barrier_all();
	if (me == 0)
		shmem_set_lock(&lock);
	shmem_barrier_all();
	if (me == 0) {
		for (int pe = 1; pe < npes; pe++) {
			shmem_long_atomic_set(&arrived, 1, pe);
			shmem_long_wait_until(&arrived, SHMEM_CMP_EQ, pe + 1);
			sleep_for(0.02); /* the PE has said that it goes, and goes now */
		}
		CHECK_EQUAL(next, 0);
		shmem_clear_lock(&lock);
	} else {
		shmem_long_wait_until(&arrived, SHMEM_CMP_EQ, 1);
		shmem_long_atomic_set(&arrived, me + 1, 0);
		shmem_set_lock(&lock);
		shmem_long_p(&order[me], shmem_long_atomic_fetch_inc(&next, 0), 0);
		shmem_clear_lock(&lock);
	}
	shmem_barrier_all();
	for (int pe = 1; me == 0 && pe < npes; pe++)
		CHECK_EQUAL(order[pe], pe - 1);
}

/* Elements of an array, in the heap and global, each on its own. */
static void check_many(long *locks, long rounds)
{
	NOTE("many");
	for (int i = 0; i < MANY; i++)
		total[i] = 0;
	shmem_barrier_all();
	for (long i = 0; i < rounds; i++) {
		int which = (int)(noise((uint64_t)(i * 64 + me)) % MANY), home = which % npes;

		shmem_set_lock(&locks[which]);
		shmem_long_p(&total[which], shmem_long_g(&total[which], home) + 1, home);
		shmem_clear_lock(&locks[which]);
	}
	shmem_barrier_all();
	if (me == 0) {
		long sum = 0;

		for (int i = 0; i < MANY; i++)
			sum += shmem_long_g(&total[i], i % npes);
		CHECK_EQUAL(sum, rounds * npes);
	}
	/* All held by one at once, let go in another order. */
	for (int i = 0; me == npes - 1 && i < MANY; i++)
		shmem_set_lock(&locks[i]);
	for (int i = 0; me == npes - 1 && i < MANY; i++)
		shmem_clear_lock(&locks[i * 7 % MANY]);
	shmem_barrier_all();
}

/* All take the one while they hold the other, always in this order. */
static void check_nested(long rounds)
{
	NOTE("nested");
	if (me == 0)
		shared = 0;
	shmem_barrier_all();
	for (long i = 0; i < rounds; i++) {
		if (me % 2 || npes == 1) {
			shmem_set_lock(&first_lock);
			shmem_set_lock(&second_lock);
		} else {
			shmem_set_lock(&second_lock);
		}
		shmem_long_p(&shared, shmem_long_g(&shared, 0) + 1, 0);
		if (me % 2 || npes == 1)
			shmem_clear_lock(&first_lock);
		shmem_clear_lock(&second_lock);
	}
	shmem_barrier_all();
	CHECK_EQUAL(shmem_long_g(&shared, 0), rounds * npes);
	shmem_barrier_all();
}

/*
 * One PE tries, others set, and each is stopped now and then between any two steps of taking the
 * lock and letting it go.
 */
static void check_stopped(double duration)
{
	static long over;
	double until = seconds() + duration;

	NOTE("stopped");
	over = 0;
	if (me == 0)
		shared = total[0] = 0;
	shmem_barrier_all();
	stops_begin(1);
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		if (me == 0 && seconds() > until)
			for (int pe = 0; pe < npes; pe++)
				shmem_long_p(&over, 1, pe);
		if (me > 0)
			shmem_set_lock(&lock);
		else if (shmem_test_lock(&lock) != 0)
			continue;
		shmem_long_p(&shared, shmem_long_g(&shared, 0) + 1, 0);
		shmem_clear_lock(&lock);
		shmem_long_atomic_inc(&total[0], 0); /* how often it was taken */
		/* Else there would be no chance for who tries. */
		if (me > 0)
			for (double now = seconds(); seconds() < now + 2e-5 * npes;)
				;
	}
	stops_end();
	shmem_barrier_all();
	CHECK_EQUAL(shmem_long_g(&shared, 0), shmem_long_g(&total[0], 0));
	shmem_barrier_all();
}

/* Nobody wants it but us, again and again. */
static void check_alone(long cycles)
{
	NOTE("alone");
	for (long i = 0; me == 0 && i < cycles; i++) {
		if (i % 2) {
			shmem_set_lock(&lock);
		} else {
			CHECK_EQUAL(shmem_test_lock(&lock), 0);
		}
		shmem_clear_lock(&lock);
	}
	shmem_barrier_all();
	for (int i = 0; i < MANY; i++)
		CHECK_EQUAL(many_locks[i], 0);
}

int main(void)
{
	long *heap_locks;
	bool slow;

	begin();
	slow = ease() > 1 || on_path("ucx-shm");
	heap_locks = shmem_calloc(MANY, sizeof *heap_locks);
	check_exclusion(slow ? 100 : 2000);
	check_tries(slow ? 40 : 500);
	check_order();
	check_many(many_locks, slow ? 50 : 2000);
	check_many(heap_locks, slow ? 50 : 2000);
	check_nested(slow ? 50 : 500);
	check_stopped(0.3);
	check_alone(slow ? 1000 : 100000);
	shmem_free(heap_locks);
	return end();
}
