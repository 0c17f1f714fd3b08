/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits and tests on words of GPUs: every routine on every type; they see what other PEs put, add
 * and store there, return when they should, and not before.
 */
#include "gpu.h"

#define WORDS 5

/* Neighbours take turns: the left one writes, this one waits. */
#define SINGLE(NAME, TYPE, LEAST, GREATEST)                          \
	static void single_##NAME(void)                              \
	{                                                            \
		TYPE *word = (TYPE *)(void *)dests[ON_GPU];          \
		TYPE values[WORDS] = {10, 10, 10, 10, 10};           \
                                                                     \
		NOTE("wait and test of %s", #TYPE);                  \
		shmem_barrier_all();                                 \
		write_to(word, values, sizeof values);               \
		shmem_barrier_all();                                 \
		CHECK(shmem_##NAME##_test(word, SHMEM_CMP_EQ, 10));  \
		CHECK(!shmem_##NAME##_test(word, SHMEM_CMP_NE, 10)); \
		CHECK(shmem_##NAME##_test(word, SHMEM_CMP_GE, 9));   \
		CHECK(!shmem_##NAME##_test(word, SHMEM_CMP_LT, 10)); \
		shmem_##NAME##_wait_until(word, SHMEM_CMP_LE, 10);   \
		shmem_barrier_all();                                 \
		shmem_##NAME##_p(word, 20, right());                 \
		shmem_##NAME##_wait_until(word, SHMEM_CMP_EQ, 20);   \
		shmem_barrier_all();                                 \
		shmem_##NAME##_p(word, 21, right());                 \
		shmem_##NAME##_wait_until(word, SHMEM_CMP_NE, 20);   \
		shmem_barrier_all();                                 \
		shmem_##NAME##_p(word, 30, right());                 \
		shmem_##NAME##_wait_until(word, SHMEM_CMP_GT, 21);   \
		shmem_barrier_all();                                 \
		shmem_##NAME##_p(word, 3, right());                  \
		shmem_##NAME##_wait_until(word, SHMEM_CMP_LT, 30);   \
		shmem_barrier_all();                                 \
	}
AMO_TYPES(SINGLE)

/* A set of words, one of them excluded by status; with one value, and with one for each. */
#define SETS(NAME, TYPE, LEAST, GREATEST)                                                                           \
	static void sets_##NAME(void)                                                                               \
	{                                                                                                           \
		TYPE *words = (TYPE *)(void *)dests[ON_GPU];                                                        \
		TYPE values[WORDS] = {0}, wanted[WORDS] = {1, 2, 3, 4, 5};                                          \
		int status[WORDS] = {0, 1, 0, 0, 0}; /* word 1 is left out */                                       \
		size_t indices[WORDS], count;                                                                       \
                                                                                                                    \
		NOTE("sets of %s", #TYPE);                                                                          \
		shmem_barrier_all();                                                                                \
		write_to(words, values, sizeof values);                                                             \
		shmem_barrier_all();                                                                                \
		CHECK(!shmem_##NAME##_test_all(words, WORDS, status, SHMEM_CMP_EQ, 1));                             \
		CHECK_EQUAL(shmem_##NAME##_test_any(words, WORDS, status, SHMEM_CMP_EQ, 1), SIZE_MAX);              \
		CHECK_EQUAL(shmem_##NAME##_test_some(words, WORDS, indices, status, SHMEM_CMP_EQ, 1), (size_t)0);   \
		shmem_barrier_all();                                                                                \
		shmem_##NAME##_p(&words[3], 4, right());                                                            \
		CHECK_EQUAL(shmem_##NAME##_wait_until_any(words, WORDS, status, SHMEM_CMP_NE, 0), (size_t)3);       \
		CHECK_EQUAL(shmem_##NAME##_wait_until_some(words, WORDS, indices, status, SHMEM_CMP_GT, 0),         \
			    (size_t)1);                                                                             \
		CHECK_EQUAL(indices[0], (size_t)3);                                                                 \
		CHECK_EQUAL(shmem_##NAME##_test_any(words, WORDS, status, SHMEM_CMP_EQ, 4), (size_t)3);             \
		CHECK_EQUAL(shmem_##NAME##_test_some_vector(words, WORDS, indices, status, SHMEM_CMP_EQ, wanted),   \
			    (size_t)1);                                                                             \
		CHECK_EQUAL(shmem_##NAME##_wait_until_any_vector(words, WORDS, status, SHMEM_CMP_EQ, wanted),       \
			    (size_t)3);                                                                             \
		CHECK(!shmem_##NAME##_test_all_vector(words, WORDS, status, SHMEM_CMP_EQ, wanted));                 \
		shmem_barrier_all();                                                                                \
		for (int i = 0; i < WORDS; i++)                                                                     \
			if (i != 1)                                                                                 \
				shmem_##NAME##_p(&words[i], wanted[i], right());                                    \
		shmem_##NAME##_wait_until_all_vector(words, WORDS, status, SHMEM_CMP_EQ, wanted);                   \
		shmem_##NAME##_wait_until_all(words, WORDS, status, SHMEM_CMP_GE, 1);                               \
		CHECK(shmem_##NAME##_test_all(words, WORDS, status, SHMEM_CMP_LE, 5));                              \
		CHECK(shmem_##NAME##_test_all_vector(words, WORDS, status, SHMEM_CMP_EQ, wanted));                  \
		CHECK_EQUAL(shmem_##NAME##_test_any_vector(words, WORDS, NULL, SHMEM_CMP_NE, wanted), (size_t)1);   \
		count = shmem_##NAME##_wait_until_some_vector(words, WORDS, indices, status, SHMEM_CMP_EQ, wanted); \
		CHECK_EQUAL(count, (size_t)4);                                                                      \
		shmem_barrier_all();                                                                                \
	}
AMO_TYPES(SETS)

/* What writes to the word: an atomic, a put of more, a copy of the program's own. */
static void try_writers(void)
{
	long *word = (long *)(void *)dests[ON_GPU], values[4] = {0};
	void *direct = shmem_ptr(word, right());

	NOTE("writers");
	write_to(word, values, sizeof values);
	shmem_barrier_all();
	shmem_long_atomic_add(&word[2], 5, right());
	shmem_long_wait_until(&word[2], SHMEM_CMP_EQ, 5);
	values[2] = 6;
	shmem_barrier_all();
	shmem_putmem(word, values, sizeof values, right());
	shmem_long_wait_until(&word[2], SHMEM_CMP_EQ, 6);
	shmem_barrier_all();
	/* This PE's own GPU: a kernel of the program would store the same. */
	values[2] = 7;
	write_to(word, values, sizeof values);
	shmem_long_wait_until(&word[2], SHMEM_CMP_EQ, 7);
	shmem_barrier_all();
	values[2] = 8;
	if (direct)
		write_to(direct, values, sizeof values);
	if (!shmem_ptr(word, left())) /* the left one cannot do the same */
		write_to(word, values, sizeof values);
	shmem_long_wait_until(&word[2], SHMEM_CMP_EQ, 8);
	shmem_barrier_all();
}

/* A wait is long enough to sleep in, and ends. */
static void wait_long(void)
{
	int *word = (int *)(void *)dests[ON_GPU], none = 0;

	NOTE("a long wait");
	write_to(word, &none, sizeof none);
	shmem_barrier_all();
	if (me == npes - 1) {
		sleep_for(0.2);
		for (int pe = 0; pe < npes - 1; pe++)
			shmem_int_p(word, 1, pe);
	} else {
		double start = seconds();

		shmem_int_wait_until(word, SHMEM_CMP_EQ, 1);
		CHECK(seconds() - start > 0.01);
	}
	shmem_barrier_all();
}

/* A token goes round, many times: no update is lost on the way. */
static void pass_token(long rounds)
{
	int *word = (int *)(void *)dests[ON_GPU], none = 0;

	NOTE("a token");
	write_to(word, &none, sizeof none);
	shmem_barrier_all();
	for (int i = 1; i <= rounds; i++) {
		if (me > 0)
			shmem_int_wait_until(word, SHMEM_CMP_EQ, i);
		shmem_int_p(word, i, right());
		if (me == 0)
			shmem_int_wait_until(word, SHMEM_CMP_EQ, i);
	}
	shmem_barrier_all();
}

int main(void)
{
	begin_gpu(SHMEM_THREAD_SINGLE);
	open_rooms(4096);
#define RUN(NAME, TYPE, LEAST, GREATEST) \
	single_##NAME();                 \
	sets_##NAME();
	AMO_TYPES(RUN)
#undef RUN
	try_writers();
	wait_long();
	pass_token(eased(200));
	close_rooms();
	return end();
}
