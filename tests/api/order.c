/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,4 ucx-tcp=2,3 ucx-shm=2,3 mixed=4 split=3 tofu-few=2 ofi=3 */
/*
 * What fence and quiet promise, as small dialogues many times over: whoever sees the later of two
 * updates must see the earlier one too.
 */
#include "tests/lib/check.h"

#define WORDS 40

static long in_globals[WORDS], flag_in_globals, answer, third_flag;
static uint64_t signal_in_globals;
static long *in_heap, *flag;
static uint64_t *signal_word;

/* The methods to send data, and those to announce it. */
enum { PUT, PUT_NBI, PS, IPUT, SENDERS };
enum { FLAG_P, FLAG_PUT_NBI, FLAG_ADD, FLAG_SET, FLAG_SWAP, FLAG_SIGNAL, ANNOUNCERS };

static void send(int how, long *dest, const long *data, int pe)
{
	switch (how) {
	case PUT: shmem_long_put(dest, data, WORDS, pe); break;
	case PUT_NBI: shmem_long_put_nbi(dest, data, WORDS, pe); break;
	case PS:
		for (int i = 0; i < WORDS; i++)
			shmem_long_p(&dest[i], data[i], pe);
		break;
	case IPUT:
		shmem_long_iput(dest, data, 2, 2, WORDS / 2, pe);
		shmem_long_iput(dest + 1, data + 1, 2, 2, WORDS / 2, pe);
		break;
	}
}

static void announce(int how, const long *round, int pe)
{
	switch (how) {
	case FLAG_P: shmem_long_p(flag, *round, pe); break;
	case FLAG_PUT_NBI: shmem_long_put_nbi(flag, round, 1, pe); break;
	case FLAG_ADD: shmem_long_atomic_add(flag, 1, pe); break;
	case FLAG_SET: shmem_long_atomic_set(flag, *round, pe); break;
	case FLAG_SWAP: shmem_long_atomic_swap(flag, *round, pe); break;
	case FLAG_SIGNAL: shmem_signal_set(signal_word, (uint64_t)*round, pe); break;
	}
}

static void await(int how, long round)
{
	if (how == FLAG_SIGNAL)
		shmem_signal_wait_until(signal_word, SHMEM_CMP_EQ, (uint64_t)round);
	else
		shmem_long_wait_until(flag, SHMEM_CMP_EQ, round);
}

/* Data; fence; flag. The PE that sees the flag sees the data. PEs work in pairs of neighbours. */
static void check_fence(int sender, int announcer, long rounds)
{
	int partner = me ^ 1;
	long data[WORDS], one;

	*flag = answer = 0;
	*signal_word = 0;
	shmem_barrier_all();
	for (long round = 1; partner < npes && round <= rounds; round++) {
		long *area = round % 2 ? in_heap : in_globals;

		if (me % 2 == 0) {
			for (int i = 0; i < WORDS; i++)
				data[i] = round * 100 + i;
			one = round;
			send(sender, area, data, partner);
			if (round % 4 < 2)
				shmem_fence();
			else
				shmem_ctx_fence(SHMEM_CTX_DEFAULT);
			announce(announcer, &one, partner);
			shmem_quiet();
			shmem_long_wait_until(&answer, SHMEM_CMP_EQ, round);
		} else {
			await(announcer, round);
			for (int i = 0; i < WORDS; i++)
				CHECK_EQUAL(area[i], round * 100 + i);
			shmem_long_p(&answer, round, partner);
		}
	}
	shmem_barrier_all();
}

/*
 * A stores to B; quiet; A notifies C; C asks B. PEs work in threes, or in twos with A and C the
 * same.
 */
static void check_quiet(int sender, long rounds)
{
	int first = me / 3 * 3, b = first + 1, c = first + 2 < npes ? first + 2 : first;
	long data[WORDS];

	third_flag = answer = 0;
	shmem_barrier_all();
	for (long round = 1; b < npes && round <= rounds; round++) {
		if (me == first) {
			for (int i = 0; i < WORDS; i++)
				data[i] = round * 1000 + i;
			send(sender, in_heap, data, b);
			shmem_long_atomic_add(&in_globals[0], 1, b);
			if (round % 2)
				shmem_quiet();
			else
				shmem_pe_quiet(&b, 1);
			shmem_long_p(&third_flag, round, c);
		}
		if (me == c) {
			shmem_long_wait_until(&third_flag, SHMEM_CMP_EQ, round);
			shmem_long_get(data, in_heap, WORDS, b);
			for (int i = 0; i < WORDS; i++)
				CHECK_EQUAL(data[i], round * 1000 + i);
			CHECK_EQUAL(shmem_long_atomic_fetch(&in_globals[0], b), round);
			shmem_long_p(&answer, round, first);
		}
		if (me == first)
			shmem_long_wait_until(&answer, SHMEM_CMP_EQ, round);
	}
	shmem_barrier_all();
	in_globals[0] = 0;
	shmem_barrier_all();
}

/* Puts of different length to one place, a fence between them: the last one is what remains. */
static void check_overwriting(long rounds)
{
	int right = (me + 1) % npes;
	long data[WORDS], last[WORDS];

	for (long round = 0; round < rounds; round++) {
		for (int i = 0; i < WORDS; i++) {
			data[i] = -round;
			last[i] = round * 10 + i;
		}
		shmem_long_put_nbi(in_heap, data, WORDS, right);
		shmem_fence();
		shmem_long_put(in_heap, last, WORDS, right);
		shmem_fence();
		shmem_long_p(&in_heap[WORDS - 1], -5, right);
		shmem_barrier_all();
		CHECK_BYTES(in_heap, last, (WORDS - 1) * sizeof(long));
		CHECK_EQUAL(in_heap[WORDS - 1], -5);
		shmem_barrier_all();
	}
}

/* Both store, both load: after a quiet at least one of the two sees the other's store. */
static void check_store_load(long rounds)
{
	static long raised, seen;
	int partner = me ^ 1;

	for (long round = 0; round < rounds; round++) {
		raised = 0;
		shmem_barrier_all();
		if (partner < npes) {
			shmem_long_p(&raised, 1, partner); /* my flag lies with my partner */
			shmem_quiet();
			seen = shmem_long_atomic_fetch(&raised, me); /* is his here? */
		}
		shmem_barrier_all();
		if (partner < npes)
			CHECK(seen || shmem_long_g(&seen, partner));
		shmem_barrier_all();
	}
}

int main(void)
{
	long *heap_flag;
	uint64_t *heap_signal;

	begin();
	in_heap = symmetric(WORDS * sizeof *in_heap);
	memset(in_heap, 0, WORDS * sizeof *in_heap);
	heap_flag = symmetric(sizeof *heap_flag);
	heap_signal = symmetric(sizeof *heap_signal);
	for (int sender = 0; sender < SENDERS; sender++) {
		for (int announcer = 0; announcer < ANNOUNCERS; announcer++) {
			NOTE("sender %d, announcer %d, flag in global data", sender, announcer);
			flag = &flag_in_globals;
			signal_word = &signal_in_globals;
			check_fence(sender, announcer, eased(150));
			NOTE("sender %d, announcer %d, flag in the heap", sender, announcer);
			flag = heap_flag;
			signal_word = heap_signal;
			check_fence(sender, announcer, eased(150));
		}
		NOTE("quiet, sender %d", sender);
		memset(in_globals, 0, sizeof in_globals);
		check_quiet(sender, eased(300));
	}
	NOTE("overwriting");
	check_overwriting(eased(500));
	NOTE("store and load");
	check_store_load(eased(1000));
	return end();
}
