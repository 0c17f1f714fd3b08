/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics on words of GPUs: every routine on every type, words beside the one that is meant stay as
 * they were, results of nonblocking ones arrive in every kind of memory, and updates of many PEs at
 * once all count.
 */
#include "gpu.h"

#define SLOTS 3 /* words; the middle one is meant */

static uint64_t step;

/* The word in the middle of three at the right; the others must not change. */
#define PREPARE(TYPE, WAS)                                            \
	do {                                                          \
		TYPE prepared_[SLOTS] = {(TYPE)5, (WAS), (TYPE)7};    \
                                                                      \
		shmem_barrier_all();                                  \
		write_to(dests[ON_GPU], prepared_, sizeof prepared_); \
		shmem_barrier_all();                                  \
	} while (0)
#define EXPECT(TYPE, IS)                                                                \
	do {                                                                            \
		TYPE found_[SLOTS];                                                     \
                                                                                        \
		shmem_barrier_all();                                                    \
		memcpy(found_, read_from(dests[ON_GPU], sizeof found_), sizeof found_); \
		CHECK_EQUAL(found_[0], (TYPE)5);                                        \
		CHECK_EQUAL(found_[1], (TYPE)(IS));                                     \
		CHECK_EQUAL(found_[2], (TYPE)7);                                        \
	} while (0)
/* CALL on `word` of the right PE, whose value WAS becomes IS. */
#define TRY(TYPE, WAS, CALL, IS)                                \
	do {                                                    \
		TYPE *word = (TYPE *)(void *)dests[ON_GPU] + 1; \
                                                                \
		NOTE("%s of %s", #CALL, #TYPE);                 \
		PREPARE(TYPE, WAS);                             \
		CALL;                                           \
		EXPECT(TYPE, IS);                               \
	} while (0)

/* The result of a nonblocking atomic, in memory of any kind. */
#define TRY_NBI(TYPE, WAS, CALL, IS)                                                    \
	do {                                                                            \
		TYPE fetched;                                                           \
		TYPE *fetch = (TYPE *)(void *)sources[step++ % WHERES];                 \
                                                                                        \
		clear(fetch, 2 * sizeof fetched);                                       \
		TRY(TYPE, WAS, CALL; shmem_quiet(), IS);                                \
		memcpy(&fetched, read_from(fetch, 2 * sizeof fetched), sizeof fetched); \
		CHECK_EQUAL(fetched, (TYPE)(WAS));                                      \
		CHECK_FILL(scratch + sizeof fetched, UNTOUCHED, sizeof fetched);        \
	} while (0)

#define ARITHMETIC(NAME, TYPE, LEAST, GREATEST)                                                              \
	static void arithmetic_##NAME(void)                                                                  \
	{                                                                                                    \
		TYPE was = (TYPE)(GREATEST)-9, got = 0;                                                      \
                                                                                                             \
		TRY(TYPE, was, shmem_##NAME##_atomic_add(word, 4, right()), was + 4);                        \
		TRY(TYPE, was, shmem_##NAME##_atomic_inc(word, right()), was + 1);                           \
		TRY(TYPE, was, got = shmem_##NAME##_atomic_fetch_add(word, 3, right()), was + 3);            \
		CHECK_EQUAL(got, was);                                                                       \
		TRY(TYPE, was, got = shmem_##NAME##_atomic_fetch_inc(word, right()), was + 1);               \
		CHECK_EQUAL(got, was);                                                                       \
		TRY(TYPE, was, got = shmem_##NAME##_atomic_compare_swap(word, was, 12, right()), 12);        \
		CHECK_EQUAL(got, was);                                                                       \
		TRY(TYPE, was, got = shmem_##NAME##_atomic_compare_swap(word, was - 1, 12, right()), was);   \
		CHECK_EQUAL(got, was);                                                                       \
		TRY_NBI(TYPE, was, shmem_##NAME##_atomic_fetch_add_nbi(fetch, word, 3, right()), was + 3);   \
		TRY_NBI(TYPE, was, shmem_##NAME##_atomic_fetch_inc_nbi(fetch, word, right()), was + 1);      \
		TRY_NBI(TYPE, was, shmem_##NAME##_atomic_compare_swap_nbi(fetch, word, was, 9, right()), 9); \
	}
AMO_TYPES(ARITHMETIC)

#define EXTENDED(NAME, TYPE, LEAST, GREATEST)                                                   \
	static void extended_##NAME(void)                                                       \
	{                                                                                       \
		TYPE was = (TYPE)3 / 2 + 40, got = 0;                                           \
                                                                                                \
		TRY(TYPE, was, got = shmem_##NAME##_atomic_fetch(word, right()), was);          \
		CHECK_EQUAL(got, was);                                                          \
		TRY(TYPE, was, shmem_##NAME##_atomic_set(word, 6, right()), 6);                 \
		TRY(TYPE, was, got = shmem_##NAME##_atomic_swap(word, 8, right()), 8);          \
		CHECK_EQUAL(got, was);                                                          \
		TRY_NBI(TYPE, was, shmem_##NAME##_atomic_fetch_nbi(fetch, word, right()), was); \
		TRY_NBI(TYPE, was, shmem_##NAME##_atomic_swap_nbi(fetch, word, 8, right()), 8); \
	}
EXTENDED_TYPES(EXTENDED)

#define BITWISE(NAME, TYPE, LEAST, GREATEST)                                                                     \
	static void bitwise_##NAME(void)                                                                         \
	{                                                                                                        \
		TYPE was = (TYPE)noise(1), bits = (TYPE)noise(2), got = 0;                                       \
                                                                                                                 \
		TRY(TYPE, was, shmem_##NAME##_atomic_and(word, bits, right()), was &bits);                       \
		TRY(TYPE, was, shmem_##NAME##_atomic_or(word, bits, right()), was | bits);                       \
		TRY(TYPE, was, shmem_##NAME##_atomic_xor(word, bits, right()), was ^ bits);                      \
		TRY(TYPE, was, got = shmem_##NAME##_atomic_fetch_and(word, bits, right()), was & bits);          \
		CHECK_EQUAL(got, was);                                                                           \
		TRY(TYPE, was, got = shmem_##NAME##_atomic_fetch_or(word, bits, right()), was | bits);           \
		CHECK_EQUAL(got, was);                                                                           \
		TRY(TYPE, was, got = shmem_##NAME##_atomic_fetch_xor(word, bits, right()), was ^ bits);          \
		CHECK_EQUAL(got, was);                                                                           \
		TRY_NBI(TYPE, was, shmem_##NAME##_atomic_fetch_and_nbi(fetch, word, bits, right()), was &bits);  \
		TRY_NBI(TYPE, was, shmem_##NAME##_atomic_fetch_or_nbi(fetch, word, bits, right()), was | bits);  \
		TRY_NBI(TYPE, was, shmem_##NAME##_atomic_fetch_xor_nbi(fetch, word, bits, right()), was ^ bits); \
	}
BITS_TYPES(BITWISE)

/* All PEs update PE 0's words at once. */
static void update_together(long count)
{
	uint64_t *words = (uint64_t *)(void *)dests[ON_GPU], found[4];
	uint32_t *halves = (uint32_t *)(void *)(words + 2);

	NOTE("updates of %d PEs at once", npes);
	memset(found, 0, sizeof found);
	write_to(words, found, sizeof found);
	shmem_barrier_all();
	for (long i = 0; i < count; i++) {
		uint64_t was;

		shmem_uint64_atomic_add(&words[0], 3, 0);
		shmem_uint32_atomic_inc(&halves[0], 0);
		shmem_uint32_atomic_fetch_add(&halves[1], 2, 0);
		do /* an increment made of fetch and compare_swap */
			was = shmem_uint64_atomic_fetch(&words[1], 0);
		while (shmem_uint64_atomic_compare_swap(&words[1], was, was + 1, 0) != was);
		shmem_uint64_atomic_xor(&words[3], (uint64_t)1 << me, 0);
	}
	shmem_barrier_all();
	if (me == 0) {
		memcpy(found, read_from(words, sizeof found), sizeof found);
		CHECK_EQUAL(found[0], 3 * (uint64_t)count * (uint64_t)npes);
		CHECK_EQUAL(found[1], (uint64_t)count * (uint64_t)npes);
		CHECK_EQUAL((uint32_t)found[2], (uint32_t)count * (uint32_t)npes);
		CHECK_EQUAL((uint32_t)(found[2] >> 32), 2 * (uint32_t)count * (uint32_t)npes);
		CHECK_EQUAL(found[3], count % 2 ? ((uint64_t)1 << npes) - 1 : 0);
	}
	shmem_barrier_all();
}

/* Atomics on memory of the host, whose results go to a GPU. */
static void fetch_from_host(void)
{
	long *word = (long *)(void *)dests[ON_HOST], got;

	NOTE("a word on the host, fetched into memory of a GPU");
	*word = 1000 + me;
	shmem_barrier_all();
	shmem_long_atomic_fetch_add_nbi((long *)(void *)sources[OWN_GPU], word, 5, right());
	shmem_quiet();
	memcpy(&got, read_from(sources[OWN_GPU], sizeof got), sizeof got);
	CHECK_EQUAL(got, 1000L + right());
	shmem_barrier_all();
	CHECK_EQUAL(*word, 1005L + me);
}

int main(void)
{
	begin_gpu(SHMEM_THREAD_SINGLE);
	open_rooms(4096);
#define RUN(NAME, TYPE, LEAST, GREATEST) arithmetic_##NAME();
	AMO_TYPES(RUN)
#undef RUN
#define RUN(NAME, TYPE, LEAST, GREATEST) extended_##NAME();
	EXTENDED_TYPES(RUN)
#undef RUN
#define RUN(NAME, TYPE, LEAST, GREATEST) bitwise_##NAME();
	BITS_TYPES(RUN)
#undef RUN
	update_together(eased(101) | 1);
	fetch_from_host();
	close_rooms();
	return end();
}
