/* SPDX-License-Identifier: BSD-3-Clause */
/* run: tofu-few=2 */
/*
 * Every atomic on every type against a model. Each PE works on places of its own in everybody's
 * arrays, side by side with the places of the others: an operation that touches its neighbour is
 * found out.
 */
#include "tests/lib/check.h"
#include "tests/lib/types.h"

#define ROOM 64

/* The value expected next, by the same arithmetic without any library. Sums wrap. */
#define PLUS(TYPE, a, b) ((TYPE)((uint64_t)(a) + (uint64_t)(b)))

/* A fetching routine in its three forms, one after the other: plain, on a context, nonblocking. */
#define FETCHING(FORM, RESULT, NAME, ...)                                                \
	do {                                                                             \
		if ((FORM) % 4 == 0)                                                     \
			RESULT = shmem_##NAME(__VA_ARGS__);                              \
		else if ((FORM) % 4 == 1)                                                \
			RESULT = shmem_ctx_##NAME(SHMEM_CTX_DEFAULT, __VA_ARGS__);       \
		else if ((FORM) % 4 == 2)                                                \
			shmem_##NAME##_nbi(&RESULT, __VA_ARGS__);                        \
		else                                                                     \
			shmem_ctx_##NAME##_nbi(SHMEM_CTX_DEFAULT, &RESULT, __VA_ARGS__); \
		if ((FORM) % 4 > 1)                                                      \
			shmem_quiet();                                                   \
	} while (0)
#define POSTING(FORM, NAME, ...)                                          \
	do {                                                              \
		if ((FORM) % 2 == 0)                                      \
			shmem_##NAME(__VA_ARGS__);                        \
		else                                                      \
			shmem_ctx_##NAME(SHMEM_CTX_DEFAULT, __VA_ARGS__); \
	} while (0)

/* fetch, set, swap */
#define EXTENDED(NAME, TYPE, LEAST, GREATEST)                                                 \
	static void extended_##NAME(TYPE *words, int pe)                                      \
	{                                                                                     \
		const TYPE values[] = {(TYPE)LEAST, (TYPE)GREATEST, (TYPE)0, (TYPE)(me + 1)}; \
		TYPE now = (TYPE)0, old = (TYPE)99;                                           \
                                                                                              \
		shmem_##NAME##_atomic_set(&words[me], now, pe);                               \
		for (size_t i = 0; i < 16; i++) {                                             \
			FETCHING(i, old, NAME##_atomic_swap, &words[me], values[i / 4], pe);  \
			CHECK_EQUAL(old, now);                                                \
			now = values[i / 4];                                                  \
			FETCHING(i + 1, old, NAME##_atomic_fetch, &words[me], pe);            \
			CHECK_EQUAL(old, now);                                                \
			now = values[(i + 1) % 4];                                            \
			POSTING(i, NAME##_atomic_set, &words[me], now, pe);                   \
			shmem_quiet();                                                        \
			FETCHING(i + 2, old, NAME##_atomic_fetch, &words[me], pe);            \
			CHECK_EQUAL(old, now);                                                \
		}                                                                             \
	}
EXTENDED_TYPES(EXTENDED)

/* compare_swap, inc, add */
#define STANDARD(NAME, TYPE, LEAST, GREATEST)                                                                    \
	static void standard_##NAME(TYPE *words, int pe)                                                         \
	{                                                                                                        \
		TYPE now = (TYPE)GREATEST, old = 0;                                                              \
                                                                                                                 \
		shmem_##NAME##_atomic_set(&words[me], now, pe);                                                  \
		for (uint64_t i = 0; i < 24; i++) {                                                              \
			TYPE value = (TYPE)noise(i + (uint64_t)me);                                              \
                                                                                                                 \
			FETCHING(i, old, NAME##_atomic_fetch_inc, &words[me], pe);                               \
			CHECK_EQUAL(old, now);                                                                   \
			now = PLUS(TYPE, now, 1);                                                                \
			FETCHING(i + 1, old, NAME##_atomic_fetch_add, &words[me], value, pe);                    \
			CHECK_EQUAL(old, now);                                                                   \
			now = PLUS(TYPE, now, value);                                                            \
			POSTING(i, NAME##_atomic_inc, &words[me], pe);                                           \
			POSTING(i + 1, NAME##_atomic_add, &words[me], value, pe);                                \
			POSTING(i / 2, NAME##_atomic_add, &words[me], value, pe);                                \
			shmem_quiet();                                                                           \
			now = PLUS(TYPE, PLUS(TYPE, now, value), PLUS(TYPE, value, 1));                          \
			/* A comparison that fails must change nothing, and return what is there. */             \
			FETCHING(i, old, NAME##_atomic_compare_swap, &words[me], PLUS(TYPE, now, 1), value, pe); \
			CHECK_EQUAL(old, now);                                                                   \
			FETCHING(i + 1, old, NAME##_atomic_compare_swap, &words[me], now, value, pe);            \
			CHECK_EQUAL(old, now);                                                                   \
			now = value;                                                                             \
		}                                                                                                \
		FETCHING(0, old, NAME##_atomic_fetch, &words[me], pe);                                           \
		CHECK_EQUAL(old, now);                                                                           \
	}
AMO_TYPES(STANDARD)

/* and, or, xor */
#define BITWISE(NAME, TYPE, LEAST, GREATEST)                                              \
	static void bitwise_##NAME(TYPE *words, int pe)                                   \
	{                                                                                 \
		TYPE now = (TYPE)0x5555555555555555, old = 0;                             \
                                                                                          \
		shmem_##NAME##_atomic_set(&words[me], now, pe);                           \
		for (uint64_t i = 0; i < 24; i++) {                                       \
			TYPE value = (TYPE)noise(i + 7 * (uint64_t)me);                   \
                                                                                          \
			FETCHING(i, old, NAME##_atomic_fetch_and, &words[me], value, pe); \
			CHECK_EQUAL(old, now);                                            \
			now = (TYPE)(now & value);                                        \
			value = (TYPE)noise(1000 + i);                                    \
			FETCHING(i, old, NAME##_atomic_fetch_or, &words[me], value, pe);  \
			CHECK_EQUAL(old, now);                                            \
			now = (TYPE)(now | value);                                        \
			value = (TYPE)noise(2000 + i);                                    \
			FETCHING(i, old, NAME##_atomic_fetch_xor, &words[me], value, pe); \
			CHECK_EQUAL(old, now);                                            \
			now = (TYPE)(now ^ value);                                        \
			value = (TYPE)noise(3000 + i);                                    \
			/* An order is needed: these three do not commute. */             \
			POSTING(i, NAME##_atomic_and, &words[me], value, pe);             \
			shmem_fence();                                                    \
			now = (TYPE)(now & value);                                        \
			value = (TYPE)noise(4000 + i);                                    \
			POSTING(i + 1, NAME##_atomic_or, &words[me], value, pe);          \
			shmem_fence();                                                    \
			now = (TYPE)(now | value);                                        \
			value = (TYPE)noise(5000 + i);                                    \
			POSTING(i, NAME##_atomic_xor, &words[me], value, pe);             \
			shmem_quiet();                                                    \
			now = (TYPE)(now ^ value);                                        \
			FETCHING(i, old, NAME##_atomic_fetch, &words[me], pe);            \
			CHECK_EQUAL(old, now);                                            \
		}                                                                         \
	}
BITS_TYPES(BITWISE)

/* The names of before 1.4 */
#define OLD_EXTENDED(NAME, TYPE, LEAST, GREATEST)                                              \
	static void old_extended_##NAME(TYPE *words, int pe)                                   \
	{                                                                                      \
		shmem_##NAME##_set(&words[me], (TYPE)LEAST, pe);                               \
		shmem_quiet();                                                                 \
		CHECK_EQUAL(shmem_##NAME##_fetch(&words[me], pe), (TYPE)LEAST);                \
		CHECK_EQUAL(shmem_##NAME##_swap(&words[me], (TYPE)GREATEST, pe), (TYPE)LEAST); \
		CHECK_EQUAL(shmem_##NAME##_fetch(&words[me], pe), (TYPE)GREATEST);             \
	}
OLD_EXTENDED_TYPES(OLD_EXTENDED)

#define OLD_STANDARD(NAME, TYPE, LEAST, GREATEST)                            \
	static void old_standard_##NAME(TYPE *words, int pe)                 \
	{                                                                    \
		shmem_##NAME##_set(&words[me], 5, pe);                       \
		shmem_quiet();                                               \
		CHECK_EQUAL(shmem_##NAME##_cswap(&words[me], 4, 9, pe), 5);  \
		CHECK_EQUAL(shmem_##NAME##_cswap(&words[me], 5, 10, pe), 5); \
		CHECK_EQUAL(shmem_##NAME##_finc(&words[me], pe), 10);        \
		CHECK_EQUAL(shmem_##NAME##_fadd(&words[me], 100, pe), 11);   \
		shmem_##NAME##_inc(&words[me], pe);                          \
		shmem_##NAME##_add(&words[me], -12, pe);                     \
		shmem_quiet();                                               \
		CHECK_EQUAL(shmem_##NAME##_fetch(&words[me], pe), 100);      \
	}
OLD_AMO_TYPES(OLD_STANDARD)

/* Every pattern of bits must come through, those of no number included. */
#define PATTERNS(NAME, TYPE, WORD)                                                                  \
	static void patterns_##NAME(TYPE *words, int pe)                                            \
	{                                                                                           \
		const WORD patterns[] = {(WORD)1 << (8 * sizeof(WORD) - 1), /* minus zero */        \
					 (WORD)0x7ff4000000000001 | (WORD)0x7fa00001, 1, ~(WORD)0}; \
                                                                                                    \
		for (size_t i = 0; i < 4; i++) {                                                    \
			TYPE value, old;                                                            \
                                                                                                    \
			memcpy(&value, &patterns[i], sizeof value);                                 \
			shmem_##NAME##_atomic_set(&words[me], value, pe);                           \
			shmem_quiet();                                                              \
			old = shmem_##NAME##_atomic_fetch(&words[me], pe);                          \
			CHECK_BYTES(&old, &patterns[i], sizeof old);                                \
			old = shmem_##NAME##_atomic_swap(&words[me], (TYPE)1, pe);                  \
			CHECK_BYTES(&old, &patterns[i], sizeof old);                                \
			shmem_##NAME##_atomic_swap_nbi(&old, &words[me], value, pe);                \
			shmem_quiet();                                                              \
			CHECK_EQUAL(old, (TYPE)1);                                                  \
		}                                                                                   \
	}
PATTERNS(float, float, uint32_t)
PATTERNS(double, double, uint64_t)

static _Alignas(8) unsigned char in_globals[ROOM * 8];

int main(void)
{
	unsigned char *in_heap;

	begin();
	CHECK(npes <= ROOM);
	in_heap = symmetric(ROOM * 8);
	for (int step = 0; step < npes; step++) {
		int pe = (me + step) % npes;
		void *words = step % 2 ? in_globals : in_heap;

#define CALL(KIND, NAME)                            \
	NOTE("%s, %s, on PE %d", #KIND, #NAME, pe); \
	KIND##_##NAME(words, pe);                   \
	shmem_barrier_all();
#define EXTENDED_CALL(NAME, TYPE, LEAST, GREATEST) CALL(extended, NAME)
#define STANDARD_CALL(NAME, TYPE, LEAST, GREATEST) CALL(standard, NAME)
#define BITWISE_CALL(NAME, TYPE, LEAST, GREATEST) CALL(bitwise, NAME)
#define OLD_EXTENDED_CALL(NAME, TYPE, LEAST, GREATEST) CALL(old_extended, NAME)
#define OLD_STANDARD_CALL(NAME, TYPE, LEAST, GREATEST) CALL(old_standard, NAME)
		EXTENDED_TYPES(EXTENDED_CALL)
		AMO_TYPES(STANDARD_CALL)
		BITS_TYPES(BITWISE_CALL)
		OLD_EXTENDED_TYPES(OLD_EXTENDED_CALL)
		OLD_AMO_TYPES(OLD_STANDARD_CALL)
		CALL(patterns, float)
		CALL(patterns, double)
	}
	return end();
}
