/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_until and test on single words: every type, every comparison, in the type's own signedness;
 * woken by whatever may change the word, also when the waiter has long been asleep.
 */
#include <pthread.h>

#include "tests/lib/check.h"
#include "tests/lib/types.h"

#define WAIT_TYPES(X) AMO_TYPES(X) OLD_WAIT_TYPES(X)

static const int comparisons[] = {SHMEM_CMP_EQ, SHMEM_CMP_NE, SHMEM_CMP_GT, SHMEM_CMP_GE, SHMEM_CMP_LT, SHMEM_CMP_LE};

/* a is less than (-1), equal to (0), greater than (1) b. */
static bool holds(int cmp, int order)
{
	switch (cmp) {
	case SHMEM_CMP_EQ: return order == 0;
	case SHMEM_CMP_NE: return order != 0;
	case SHMEM_CMP_GT: return order > 0;
	case SHMEM_CMP_GE: return order >= 0;
	case SHMEM_CMP_LT: return order < 0;
	default: return order <= 0;
	}
}

#define TYPED(NAME, TYPE, LEAST, GREATEST)                                                                 \
	/* All pairs of the values at which a mistake in signedness would show. */                         \
	static void compare_##NAME(void)                                                                   \
	{                                                                                                  \
		static TYPE word;                                                                          \
		const TYPE values[] = {(TYPE)LEAST, (TYPE)GREATEST, 0, 1, (TYPE)(GREATEST / 2 + 1)};       \
                                                                                                           \
		for (int i = 0; i < 25; i++) {                                                             \
			TYPE a = values[i / 5], b = values[i % 5];                                         \
                                                                                                           \
			word = a;                                                                          \
			for (int c = 0; c < 6; c++) {                                                      \
				bool expected = holds(comparisons[c], a < b ? -1 : a > b);                 \
                                                                                                           \
				CHECK_EQUAL(shmem_##NAME##_test(&word, comparisons[c], b), (int)expected); \
				if (expected)                                                              \
					shmem_##NAME##_wait_until(&word, comparisons[c], b);               \
			}                                                                                  \
			CHECK_EQUAL(word, a);                                                              \
		}                                                                                          \
	}                                                                                                  \
	/* The left neighbour changes the word by a put, while the waiter may be anywhere. */              \
	static void woken_##NAME(void)                                                                     \
	{                                                                                                  \
		static TYPE word;                                                                          \
		int right = (me + 1) % npes;                                                               \
                                                                                                           \
		word = 0;                                                                                  \
		shmem_barrier_all();                                                                       \
		for (int round = 1; round <= 5; round++) {                                                 \
			TYPE value = (TYPE)round;                                                          \
                                                                                                           \
			shmem_fence(); /* else this put may overtake the last one */                       \
			if (round % 2)                                                                     \
				shmem_##NAME##_p(&word, value, right);                                     \
			else                                                                               \
				shmem_##NAME##_put(&word, &value, 1, right);                               \
			shmem_##NAME##_wait_until(&word, SHMEM_CMP_GE, value);                             \
			while (!shmem_##NAME##_test(&word, SHMEM_CMP_GE, value))                           \
				;                                                                          \
		}                                                                                          \
		shmem_barrier_all();                                                                       \
		CHECK_EQUAL(word, 5);                                                                      \
	}
WAIT_TYPES(TYPED)

/* test by itself must make progress: nobody else calls the library here. */
static void check_polling(void)
{
	static long word;

	word = 0;
	shmem_barrier_all();
	if (me == 0)
		for (int pe = 0; pe < npes; pe++)
			shmem_long_p(&word, 1, pe);
	while (!shmem_long_test(&word, SHMEM_CMP_EQ, 1))
		;
	shmem_barrier_all();
}

/* Each kind of update, at a time when the waiter sleeps deeply. */
static void check_woken_late(void)
{
	static long words[6];
	static uint64_t signal_word;
	long value = 6;

	memset(words, 0, sizeof words);
	shmem_barrier_all();
	if (me == 0) {
		for (int step = 0; step < 7; step++) {
			sleep_for(0.03);
			for (int pe = 1; pe < npes; pe++) {
				switch (step) {
				case 0: shmem_long_p(&words[0], 1, pe); break;
				case 1: shmem_long_put_nbi(&words[1], &value, 1, pe); break;
				case 2: shmem_long_atomic_inc(&words[2], pe); break;
				case 3: shmem_long_atomic_compare_swap(&words[3], 0, 4, pe); break;
				case 4: shmem_long_atomic_set(&words[4], 5, pe); break;
				case 5: shmem_signal_add(&signal_word, 9, pe); break;
				case 6:
					shmem_long_put_signal(&words[5], &value, 1, &signal_word, 1, SHMEM_SIGNAL_ADD,
							      pe);
					break;
				}
			}
			shmem_quiet();
		}
	} else {
		shmem_long_wait_until(&words[0], SHMEM_CMP_EQ, 1);
		shmem_long_wait_until(&words[1], SHMEM_CMP_GT, 5);
		shmem_long_wait_until(&words[2], SHMEM_CMP_NE, 0);
		shmem_long_wait_until(&words[3], SHMEM_CMP_GE, 4);
		shmem_long_wait_until(&words[4], SHMEM_CMP_EQ, 5);
		shmem_signal_wait_until(&signal_word, SHMEM_CMP_GE, 9);
		CHECK_EQUAL(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 10), 10);
		CHECK_EQUAL(words[5], 6);
	}
	shmem_barrier_all();
}

static long by_thread;

static void *store_later(void *how)
{
	sleep_for(0.03);
	if (how)
		__atomic_store_n(&by_thread, 2, __ATOMIC_RELEASE);
	/* The instruction of a plain store. */
	else
		__atomic_store_n(&by_thread, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* A plain or atomic store of another thread of this PE, without a call of the library. */
static void check_woken_by_thread(void)
{
	for (long how = 0; how < 2; how++) {
		pthread_t thread;

		CHECK(pthread_create(&thread, NULL, store_later, how ? &by_thread : NULL) == 0);
		shmem_long_wait_until(&by_thread, SHMEM_CMP_EQ, how + 1);
		pthread_join(thread, NULL);
	}
	shmem_barrier_all();
}

/* A store through shmem_ptr by another PE, without a call of the library either. */
static void check_woken_by_pointer(void)
{
	static long word;
	int right = (me + 1) % npes;
	long *direct = shmem_ptr(&word, right);

	word = 0;
	shmem_barrier_all();
	sleep_for(me % 2 ? 0.03 : 0);
	if (direct)
		__atomic_store_n(direct, 3, __ATOMIC_RELEASE);
	else
		shmem_long_p(&word, 3, right);
	shmem_long_wait_until(&word, SHMEM_CMP_EQ, 3);
	shmem_barrier_all();
}

static void check_old_names(void)
{
	static short a;
	static int b;
	static long c, d, e;
	static long long f;
	int right = (me + 1) % npes;

	shmem_short_p(&a, 1, right);
	shmem_int_p(&b, 1, right);
	shmem_long_p(&c, 1, right);
	shmem_long_p(&d, 1, right);
	shmem_long_p(&e, 1, right);
	shmem_longlong_p(&f, 1, right);
	shmem_short_wait(&a, 0); /* until it differs */
	shmem_int_wait(&b, 0);
	shmem_long_wait(&c, 0);
	shmem_wait(&d, 0);
	shmem_wait_until(&e, SHMEM_CMP_EQ, 1);
	shmem_longlong_wait(&f, 0);
	CHECK(a == 1 && b == 1 && c == 1 && d == 1 && e == 1 && f == 1);
}

int main(void)
{
	int level;

	CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_MULTIPLE, &level), 0);
	me = shmem_my_pe();
	npes = shmem_n_pes();
#define CALL(NAME, TYPE, LEAST, GREATEST) \
	NOTE("%s", #NAME);                \
	compare_##NAME();                 \
	woken_##NAME();
	WAIT_TYPES(CALL)
	check_note[0] = '\0';
	check_polling();
	check_woken_late();
	check_woken_by_thread();
	check_woken_by_pointer();
	check_old_names();
	return end();
}
