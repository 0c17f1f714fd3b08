/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2 ucx-tcp=2 mixed=3 */
/*
 * The type-generic names: all of them with all their types, with and without a context. Of C11
 * here, of C++ in tests/tools/cxx.bats.
 */
#include "tests/lib/check.h"
#include "tests/lib/types.h"

#define CTX SHMEM_CTX_DEFAULT
#define TEAM SHMEM_TEAM_WORLD

static uint64_t signal_word;

/*
 * Each call with and without a context works on its own element; qualifiers and arrays do not
 * matter.
 */
#define RMA(NAME, TYPE, LEAST, GREATEST)                                                                     \
	static void rma_##NAME(void)                                                                         \
	{                                                                                                    \
		static TYPE dest[48], source[8], back[8];                                                    \
		const TYPE *constant = source;                                                               \
		struct {                                                                                     \
			TYPE member[2];                                                                      \
		} local = {{0, 0}};                                                                          \
                                                                                                             \
		memset(dest, 0, sizeof dest);                                                                \
		for (int i = 0; i < 8; i++)                                                                  \
			source[i] = (TYPE)(i + 1);                                                           \
		shmem_put(dest, source, 2, me);                                                              \
		shmem_put(CTX, dest + 2, constant, 2, me);                                                   \
		shmem_p(&dest[4], source[2], me);                                                            \
		shmem_p(CTX, &dest[5], 9, me);                                                               \
		shmem_put_nbi(dest + 6, constant, 2, me);                                                    \
		shmem_put_nbi(CTX, dest + 8, source, 2, me);                                                 \
		shmem_iput(dest + 10, constant, 2, 1, 2, me);                                                \
		shmem_iput(CTX, dest + 14, source, 2, 1, 2, me);                                             \
		shmem_ibput(dest + 18, source, 3, 2, 2, 2, me);                                              \
		shmem_ibput(CTX, dest + 24, constant, 3, 2, 2, 2, me);                                       \
		signal_word = 0;                                                                             \
		shmem_put_signal(dest + 30, source, 1, &signal_word, 3, SHMEM_SIGNAL_ADD, me);               \
		shmem_put_signal(CTX, dest + 31, constant, 1, &signal_word, 4, SHMEM_SIGNAL_ADD, me);        \
		shmem_put_signal_nbi(dest + 32, source, 1, &signal_word, 5, SHMEM_SIGNAL_ADD, me);           \
		shmem_put_signal_nbi(CTX, dest + 33, source, 1, &signal_word, 6, SHMEM_SIGNAL_ADD, me);      \
		shmem_quiet();                                                                               \
		CHECK_EQUAL(shmem_signal_fetch(&signal_word), 18);                                           \
		{                                                                                            \
			static const int expected[34] = {1, 2, 1, 2, 3, 9, 1, 2, 1, 2, 1, 0, 2, 0, 1, 0, 2,  \
							 0, 1, 2, 0, 3, 4, 0, 1, 2, 0, 3, 4, 0, 1, 1, 1, 1}; \
                                                                                                             \
			for (int i = 0; i < 34; i++)                                                         \
				CHECK_EQUAL(dest[i], (TYPE)expected[i]);                                     \
		}                                                                                            \
		shmem_get(back, dest, 2, me);                                                                \
		shmem_get(CTX, local.member, (const TYPE *)dest + 2, 2, me);                                 \
		CHECK(back[1] == 2 && local.member[1] == 2);                                                 \
		CHECK(shmem_g(&dest[5], me) == 9 && shmem_g(CTX, (const TYPE *)&dest[4], me) == 3);          \
		shmem_get_nbi(back + 2, dest, 2, me);                                                        \
		shmem_get_nbi(CTX, back + 4, dest, 2, me);                                                   \
		shmem_quiet();                                                                               \
		CHECK(back[3] == 2 && back[5] == 2);                                                         \
		shmem_iget(back, dest + 10, 1, 2, 2, me);                                                    \
		shmem_iget(CTX, back + 2, dest + 14, 1, 2, 2, me);                                           \
		CHECK(back[0] == 1 && back[1] == 2 && back[3] == 2);                                         \
		shmem_ibget(back, dest + 18, 2, 3, 2, 2, me);                                                \
		shmem_ibget(CTX, back + 4, dest + 24, 2, 3, 2, 2, me);                                       \
		CHECK(back[3] == 4 && back[7] == 4);                                                         \
	}                                                                                                    \
	static void collectives_##NAME(void)                                                                 \
	{                                                                                                    \
		static TYPE dest[64], source[64];                                                            \
		const TYPE *constant = source;                                                               \
                                                                                                             \
		for (int i = 0; i < 64; i++)                                                                 \
			source[i] = (TYPE)(me + 1);                                                          \
		shmem_sync_all();                                                                            \
		CHECK_EQUAL(shmem_broadcast(TEAM, dest, constant, 1, npes - 1), 0);                          \
		CHECK_EQUAL(dest[0], (TYPE)npes);                                                            \
		shmem_sync_all();                                                                            \
		CHECK_EQUAL(shmem_collect(TEAM, dest, constant, 1), 0);                                      \
		CHECK_EQUAL(dest[npes - 1], (TYPE)npes);                                                     \
		shmem_sync_all();                                                                            \
		CHECK_EQUAL(shmem_fcollect(TEAM, dest + 16, source, 1), 0);                                  \
		CHECK_EQUAL(dest[16 + npes - 1], (TYPE)npes);                                                \
		CHECK_EQUAL(shmem_alltoall(TEAM, dest + 32, constant, 1), 0);                                \
		CHECK_EQUAL(dest[32 + npes - 1], (TYPE)npes);                                                \
		CHECK_EQUAL(shmem_alltoalls(TEAM, dest + 48, source, 1, 1, 1), 0);                           \
		CHECK_EQUAL(dest[48 + npes - 1], (TYPE)npes);                                                \
		CHECK_EQUAL(shmem_max_reduce(TEAM, dest, constant, 1), 0);                                   \
		CHECK_EQUAL(dest[0], (TYPE)npes);                                                            \
		CHECK_EQUAL(shmem_min_reduce(TEAM, dest + 1, source, 1), 0);                                 \
		CHECK_EQUAL(dest[1], (TYPE)1);                                                               \
		shmem_sync_all();                                                                            \
	}                                                                                                    \
	SUM(NAME, TYPE, LEAST, GREATEST)
/*
 * every type but the shortest holds their product, and the compiler cuts it for that as the library
 * does
 */
#define MOST_FACTORS 8
#define SUM(NAME, TYPE, LEAST, GREATEST)                                                                   \
	static void sum_##NAME(void)                                                                       \
	{                                                                                                  \
		static TYPE dest[4], source[1], factor[1];                                                 \
		const TYPE *constant = source;                                                             \
		int sum = npes * (npes + 1) / 2, product = 1;                                              \
                                                                                                           \
		for (int i = 2; i <= npes && i <= MOST_FACTORS; i++)                                       \
			product *= i;                                                                      \
		source[0] = (TYPE)(me + 1);                                                                \
		factor[0] = (TYPE)(me < MOST_FACTORS ? me + 1 : 1);                                        \
		CHECK_EQUAL(shmem_sum_reduce(TEAM, dest, constant, 1), 0);                                 \
		CHECK_EQUAL(shmem_prod_reduce(TEAM, dest + 1, factor, 1), 0);                              \
		CHECK_EQUAL(shmem_sum_inscan(TEAM, dest + 2, constant, 1), 0);                             \
		CHECK_EQUAL(shmem_sum_exscan(TEAM, dest + 3, source, 1), 0);                               \
		CHECK(dest[0] == (TYPE)sum && dest[1] == (TYPE)product);                                   \
		CHECK(dest[2] == (TYPE)((me + 1) * (me + 2) / 2) && dest[3] == (TYPE)(me * (me + 1) / 2)); \
	}
RMA_TYPES(RMA)
COMPLEX_TYPES(SUM)

/* Each step is known from the one before. */
#define EXTENDED(NAME, TYPE, LEAST, GREATEST)                               \
	static void extended_##NAME(void)                                   \
	{                                                                   \
		static TYPE word, back;                                     \
		const TYPE *constant = &word;                               \
                                                                            \
		shmem_atomic_set(&word, 5, me);                             \
		CHECK_EQUAL(shmem_atomic_fetch(constant, me), (TYPE)5);     \
		shmem_atomic_set(CTX, &word, 6, me);                        \
		CHECK_EQUAL(shmem_atomic_fetch(CTX, &word, me), (TYPE)6);   \
		CHECK_EQUAL(shmem_atomic_swap(&word, 7, me), (TYPE)6);      \
		CHECK_EQUAL(shmem_atomic_swap(CTX, &word, 8, me), (TYPE)7); \
		shmem_atomic_fetch_nbi(&back, constant, me);                \
		shmem_quiet();                                              \
		CHECK_EQUAL(back, (TYPE)8);                                 \
		shmem_atomic_swap_nbi(CTX, &back, &word, 9, me);            \
		shmem_quiet();                                              \
		shmem_atomic_fetch_nbi(CTX, &back, &word, me);              \
		shmem_quiet();                                              \
		CHECK_EQUAL(back, (TYPE)9);                                 \
		shmem_atomic_swap_nbi(&back, &word, 10, me);                \
		shmem_quiet();                                              \
		CHECK(back == 9 && word == 10);                             \
	}
EXTENDED_TYPES(EXTENDED)

#define AMO(NAME, TYPE, LEAST, GREATEST)                                                               \
	static void amo_##NAME(void)                                                                   \
	{                                                                                              \
		static TYPE word[3], back;                                                             \
		TYPE wanted[3] = {7, 7, 7};                                                            \
		const TYPE *values = wanted;                                                           \
		size_t indices[3];                                                                     \
		int status[3] = {0, 0, 0};                                                             \
                                                                                                       \
		word[0] = 0;                                                                           \
		shmem_atomic_inc(word, me);                                                            \
		shmem_atomic_inc(CTX, word, me);                                                       \
		shmem_atomic_add(word, 2, me);                                                         \
		shmem_atomic_add(CTX, word, 2, me);                                                    \
		CHECK_EQUAL(shmem_atomic_fetch_inc(word, me), (TYPE)6);                                \
		CHECK_EQUAL(shmem_atomic_fetch_inc(CTX, word, me), (TYPE)7);                           \
		CHECK_EQUAL(shmem_atomic_fetch_add(word, 2, me), (TYPE)8);                             \
		CHECK_EQUAL(shmem_atomic_fetch_add(CTX, word, 2, me), (TYPE)10);                       \
		CHECK_EQUAL(shmem_atomic_compare_swap(word, 12, 20, me), (TYPE)12);                    \
		CHECK_EQUAL(shmem_atomic_compare_swap(CTX, word, 12, 30, me), (TYPE)20);               \
		shmem_atomic_fetch_inc_nbi(&back, word, me);                                           \
		shmem_quiet();                                                                         \
		shmem_atomic_fetch_inc_nbi(CTX, &back, word, me);                                      \
		shmem_quiet();                                                                         \
		CHECK_EQUAL(back, (TYPE)21);                                                           \
		shmem_atomic_fetch_add_nbi(&back, word, 3, me);                                        \
		shmem_quiet();                                                                         \
		shmem_atomic_fetch_add_nbi(CTX, &back, word, 3, me);                                   \
		shmem_quiet();                                                                         \
		CHECK_EQUAL(back, (TYPE)25);                                                           \
		shmem_atomic_compare_swap_nbi(&back, word, 28, 6, me);                                 \
		shmem_quiet();                                                                         \
		shmem_atomic_compare_swap_nbi(CTX, &back, word, 6, 7, me);                             \
		shmem_quiet();                                                                         \
		CHECK(back == 6 && word[0] == 7);                                                      \
		word[1] = word[2] = 7;                                                                 \
		shmem_wait_until(word, SHMEM_CMP_EQ, 7);                                               \
		CHECK_EQUAL(shmem_test(&word[1], SHMEM_CMP_NE, 7), 0);                                 \
		shmem_wait_until_all(word, 3, status, SHMEM_CMP_EQ, 7);                                \
		CHECK(shmem_wait_until_any(word, 3, NULL, SHMEM_CMP_GE, 7) < 3);                       \
		CHECK(shmem_wait_until_some(word, 3, indices, NULL, SHMEM_CMP_LE, 7) > 0);             \
		shmem_wait_until_all_vector(word, 3, status, SHMEM_CMP_EQ, wanted);                    \
		CHECK(shmem_wait_until_any_vector(word, 3, NULL, SHMEM_CMP_EQ, values) < 3);           \
		CHECK(shmem_wait_until_some_vector(word, 3, indices, NULL, SHMEM_CMP_EQ, values) > 0); \
		CHECK_EQUAL(shmem_test_all(word, 3, NULL, SHMEM_CMP_EQ, 7), 1);                        \
		CHECK(shmem_test_any(word, 3, NULL, SHMEM_CMP_EQ, 7) < 3);                             \
		CHECK_EQUAL(shmem_test_some(word, 3, indices, NULL, SHMEM_CMP_GT, 7), 0);              \
		CHECK_EQUAL(shmem_test_all_vector(word, 3, NULL, SHMEM_CMP_EQ, values), 1);            \
		CHECK_EQUAL(shmem_test_any_vector(word, 3, NULL, SHMEM_CMP_LT, wanted), SIZE_MAX);     \
		CHECK(shmem_test_some_vector(word, 3, indices, NULL, SHMEM_CMP_EQ, values) > 0);       \
	}
AMO_TYPES(AMO)

#define OLD_WAIT(NAME, TYPE, LEAST, GREATEST)                                                                   \
	static void old_wait_##NAME(void)                                                                       \
	{                                                                                                       \
		static TYPE word = 3, words[3] = {3, 3, 4};                                                     \
		TYPE wanted[3] = {3, 3, 5};                                                                     \
		size_t indices[3];                                                                              \
                                                                                                                \
		shmem_wait_until(&word, SHMEM_CMP_GT, 2);                                                       \
		CHECK_EQUAL(shmem_test(&word, SHMEM_CMP_LT, 3), 0);                                             \
		shmem_wait_until_all(words, 3, NULL, SHMEM_CMP_GE, 3);                                          \
		CHECK_EQUAL(shmem_wait_until_any(words, 3, NULL, SHMEM_CMP_EQ, 4), 2);                          \
		CHECK_EQUAL(shmem_wait_until_some(words, 3, indices, NULL, SHMEM_CMP_EQ, 3), 2);                \
		shmem_wait_until_all_vector(words, 2, NULL, SHMEM_CMP_EQ, wanted);                              \
		CHECK(shmem_wait_until_any_vector(words, 3, NULL, SHMEM_CMP_EQ, wanted) < 2);                   \
		CHECK_EQUAL(shmem_wait_until_some_vector(words, 3, indices, NULL, SHMEM_CMP_EQ, wanted), 2);    \
		CHECK_EQUAL(shmem_test_all(words, 3, NULL, SHMEM_CMP_EQ, 3), 0);                                \
		CHECK_EQUAL(shmem_test_any(words, 3, NULL, SHMEM_CMP_GT, 4), SIZE_MAX);                         \
		CHECK_EQUAL(shmem_test_some(words, 3, indices, NULL, SHMEM_CMP_LE, 3), 2);                      \
		CHECK_EQUAL(shmem_##NAME##_test_all_vector(words, 3, NULL, SHMEM_CMP_EQ, wanted), 0);           \
		CHECK(shmem_##NAME##_test_any_vector(words, 3, NULL, SHMEM_CMP_EQ, wanted) < 2);                \
		CHECK_EQUAL(shmem_##NAME##_test_some_vector(words, 3, indices, NULL, SHMEM_CMP_NE, wanted), 1); \
	}
OLD_WAIT_TYPES(OLD_WAIT)

#define BITS(NAME, TYPE, LEAST, GREATEST)                                              \
	static void bits_##NAME(void)                                                  \
	{                                                                              \
		static TYPE word, back;                                                \
                                                                                       \
		word = 0;                                                              \
		shmem_atomic_or(&word, 0x3, me);                                       \
		shmem_atomic_or(CTX, &word, 0xc, me);                                  \
		shmem_atomic_and(&word, 0x7, me);                                      \
		shmem_atomic_and(CTX, &word, 0xe, me);                                 \
		shmem_atomic_xor(&word, 0x1, me);                                      \
		shmem_atomic_xor(CTX, &word, 0x2, me);                                 \
		CHECK_EQUAL(shmem_atomic_fetch_or(&word, 0x10, me), (TYPE)0x5);        \
		CHECK_EQUAL(shmem_atomic_fetch_or(CTX, &word, 0x20, me), (TYPE)0x15);  \
		CHECK_EQUAL(shmem_atomic_fetch_and(&word, 0x34, me), (TYPE)0x35);      \
		CHECK_EQUAL(shmem_atomic_fetch_and(CTX, &word, 0x30, me), (TYPE)0x34); \
		CHECK_EQUAL(shmem_atomic_fetch_xor(&word, 0x11, me), (TYPE)0x30);      \
		CHECK_EQUAL(shmem_atomic_fetch_xor(CTX, &word, 0x20, me), (TYPE)0x21); \
		shmem_atomic_fetch_or_nbi(&back, &word, 0x6, me);                      \
		shmem_quiet();                                                         \
		CHECK_EQUAL(back, (TYPE)0x1);                                          \
		shmem_atomic_fetch_or_nbi(CTX, &back, &word, 0x8, me);                 \
		shmem_quiet();                                                         \
		CHECK_EQUAL(back, (TYPE)0x7);                                          \
		shmem_atomic_fetch_and_nbi(&back, &word, 0xe, me);                     \
		shmem_quiet();                                                         \
		CHECK_EQUAL(back, (TYPE)0xf);                                          \
		shmem_atomic_fetch_and_nbi(CTX, &back, &word, 0x6, me);                \
		shmem_quiet();                                                         \
		CHECK_EQUAL(back, (TYPE)0xe);                                          \
		shmem_atomic_fetch_xor_nbi(&back, &word, 0x1, me);                     \
		shmem_quiet();                                                         \
		CHECK_EQUAL(back, (TYPE)0x6);                                          \
		shmem_atomic_fetch_xor_nbi(CTX, &back, &word, 0x2, me);                \
		shmem_quiet();                                                         \
		CHECK(back == 0x7 && word == 0x5);                                     \
	}
BITS_TYPES(BITS)

#define LOGIC(NAME, TYPE, LEAST, GREATEST)                                                              \
	static void logic_##NAME(void)                                                                  \
	{                                                                                               \
		static TYPE dest[3], source[1];                                                         \
		const TYPE *constant = source;                                                          \
                                                                                                        \
		source[0] = (TYPE)(4 | (me == 0));                                                      \
		CHECK_EQUAL(shmem_and_reduce(TEAM, dest, constant, 1), 0);                              \
		CHECK_EQUAL(shmem_or_reduce(TEAM, dest + 1, source, 1), 0);                             \
		CHECK_EQUAL(shmem_xor_reduce(TEAM, dest + 2, constant, 1), 0);                          \
		CHECK(dest[0] == (npes == 1 ? 5 : 4) && dest[1] == 5 && dest[2] == (npes % 2 ? 5 : 1)); \
	}
LOGIC_TYPES(LOGIC)

/* The names from before 1.4. */
#define OLD_EXTENDED(NAME, TYPE, LEAST, GREATEST)                           \
	static void old_extended_##NAME(void)                               \
	{                                                                   \
		static TYPE word;                                           \
                                                                            \
		shmem_set(&word, 3, me);                                    \
		CHECK_EQUAL(shmem_fetch((const TYPE *)&word, me), (TYPE)3); \
		CHECK_EQUAL(shmem_swap(&word, 4, me), (TYPE)3);             \
		CHECK_EQUAL(word, (TYPE)4);                                 \
	}
#define OLD_AMO(NAME, TYPE, LEAST, GREATEST)                             \
	static void old_amo_##NAME(void)                                 \
	{                                                                \
		static TYPE word;                                        \
                                                                         \
		shmem_inc(&word, me);                                    \
		shmem_add(&word, 3, me);                                 \
		CHECK_EQUAL(shmem_finc(&word, me), (TYPE)4);             \
		CHECK_EQUAL(shmem_fadd(&word, 2, me), (TYPE)5);          \
		CHECK_EQUAL(shmem_cswap(&word, 7, 1, me), (TYPE)7);      \
		CHECK_EQUAL(word, (TYPE)1);                              \
		shmem_##NAME##_add(&word, 4, me);                        \
		CHECK_EQUAL(shmem_##NAME##_fadd(&word, 4, me), (TYPE)5); \
	}
OLD_EXTENDED_TYPES(OLD_EXTENDED)
OLD_AMO_TYPES(OLD_AMO)

static void check_others(void)
{
	static long psync[SHMEM_SYNC_SIZE], word;
	void (*typed)(long *, const long *, size_t, int) = shmem_long_put;
	void (*sync)(int, int, int, long *) = shmem_sync;
	void (*wait)(long *, int, long) = shmem_wait_until;
	long one = 1;

	signal_word = 0;
	shmem_signal_set(&signal_word, 4, me);
	shmem_signal_add(SHMEM_CTX_DEFAULT, &signal_word, 3, me);
	shmem_signal_add(&signal_word, 2, me);
	CHECK_EQUAL(shmem_signal_wait_until(&signal_word, SHMEM_CMP_EQ, 9), 9);
	shmem_signal_set(SHMEM_CTX_DEFAULT, &signal_word, 1, me);
	CHECK_EQUAL(shmem_signal_wait_until(&signal_word, SHMEM_CMP_LT, 9), 1);
	CHECK_EQUAL(shmem_sync(SHMEM_TEAM_WORLD), 0);
	shmem_sync(0, 0, npes, psync);
	sync(0, 0, npes, psync);
	typed(&word, &one, 1, me);
	shmem_quiet();
	wait(&word, SHMEM_CMP_EQ, 1);
}

int main(void)
{
	begin();
#define CALL_RMA(NAME, TYPE, LEAST, GREATEST) \
	NOTE(#NAME);                          \
	rma_##NAME();                         \
	collectives_##NAME();                 \
	sum_##NAME();
#define CALL_SUM(NAME, TYPE, LEAST, GREATEST) \
	NOTE(#NAME);                          \
	sum_##NAME();
#define CALL_EXTENDED(NAME, TYPE, LEAST, GREATEST) \
	NOTE(#NAME);                               \
	extended_##NAME();
#define CALL_AMO(NAME, TYPE, LEAST, GREATEST) \
	NOTE(#NAME);                          \
	amo_##NAME();
#define CALL_BITS(NAME, TYPE, LEAST, GREATEST) \
	NOTE(#NAME);                           \
	bits_##NAME();
#define CALL_LOGIC(NAME, TYPE, LEAST, GREATEST) \
	NOTE(#NAME);                            \
	logic_##NAME();
#define CALL_OLD_WAIT(NAME, TYPE, LEAST, GREATEST) \
	NOTE(#NAME);                               \
	old_wait_##NAME();
#define CALL_OLD_EXTENDED(NAME, TYPE, LEAST, GREATEST) \
	NOTE(#NAME);                                   \
	old_extended_##NAME();
#define CALL_OLD_AMO(NAME, TYPE, LEAST, GREATEST) \
	NOTE(#NAME);                              \
	old_amo_##NAME();
	RMA_TYPES(CALL_RMA)
	COMPLEX_TYPES(CALL_SUM)
	EXTENDED_TYPES(CALL_EXTENDED)
	AMO_TYPES(CALL_AMO)
	BITS_TYPES(CALL_BITS)
	LOGIC_TYPES(CALL_LOGIC)
	OLD_WAIT_TYPES(CALL_OLD_WAIT)
	OLD_EXTENDED_TYPES(CALL_OLD_EXTENDED)
	OLD_AMO_TYPES(CALL_OLD_AMO)
	check_others();
	return end();
}
