/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=2,4 ucx-tcp=4 ucx-shm=2 mixed=4 paths=local,ucx-tcp,ucx-shm,mixed,hosts */
/*
 * One word, incremented by the processor's own atomics wherever shmem_ptr allows it and by the
 * library's wherever not, at the same time: a million increments in all, and not one may be lost.
 * Not on Tofu, whose own atomics and the processor's are two kinds.
 */
#include "tests/lib/check.h"

static long word;
static uint32_t half_word;

/*
 * Others need a network for each increment; the owner keeps pace with them, so that all the time
 * both happen.
 */
static void owner(long share, long of_others)
{
	long done = 0;

	while (done < share) {
		long seen = __atomic_load_n(&word, __ATOMIC_RELAXED) - done;

		if (of_others > 0 && done * of_others > (seen + 100) * share) {
			sleep_for(20e-6);
			continue;
		}
		for (int i = 0; i < 100 && done < share; i++, done++) {
			__atomic_fetch_add(&word, 1, __ATOMIC_RELAXED);
			__atomic_fetch_add(&half_word, 1, __ATOMIC_RELAXED);
		}
	}
}

static void neighbour(long share)
{
	long *direct = shmem_ptr(&word, 0);
	uint32_t *half_direct = shmem_ptr(&half_word, 0);

	for (long i = 0; i < share; i++) {
		if (direct && half_direct && i % 2) {
			__atomic_fetch_add(direct, 1, __ATOMIC_RELAXED);
			__atomic_fetch_add(half_direct, 1, __ATOMIC_RELAXED);
		} else if (i % 8 == 0) {
			shmem_long_atomic_fetch_add(&word, 1, 0);
			shmem_uint32_atomic_fetch_inc(&half_word, 0);
		} else {
			shmem_long_atomic_add(&word, 1, 0);
			shmem_uint32_atomic_inc(&half_word, 0);
		}
	}
}

int main(void)
{
	bool all_local = true;
	long total = eased(1000000), share;

	begin();
	for (int pe = 0; pe < npes; pe++)
		all_local = all_local && shmem_ptr(&word, pe);
	/* A PE behind a network takes a tenth of what falls to it, the owner the rest. */
	share = all_local ? total / npes : total / npes / 10;
	shmem_barrier_all();
	if (me == 0)
		owner(total - share * (npes - 1), share * (npes - 1));
	else
		neighbour(share);
	shmem_barrier_all();
	CHECK_EQUAL(shmem_long_g(&word, 0), total);
	CHECK_EQUAL((long)shmem_uint32_g(&half_word, 0), total);
	return end();
}
