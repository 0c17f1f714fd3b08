/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * wait_until and test on many words: all, any and some, with and without a value of its own for
 * each.
 */
#include "tests/lib/check.h"
#include "tests/lib/types.h"

#define WORDS 10

/*
 * Words come one by one from the left neighbour, in the order 3, 6, 9, 2, 5, ... Word i gets the
 * value i + 1. Words 0 and 4 never come and are left out by the status array.
 */
static const int left_out[WORDS] = {1, 0, 0, 0, 7};
#define EXPECTED 8

static int order(int i)
{
	return (i * 3 + 3) % WORDS;
}

/* A set of indices: each at most once, and only such as may be there. */
static void tick(bool seen[WORDS], size_t index)
{
	CHECK(index < WORDS);
	CHECK(!left_out[index]);
	CHECK(!seen[index]);
	seen[index] = true;
}

#define TYPED(NAME, TYPE, LEAST, GREATEST)                                                                             \
	static TYPE words_##NAME[WORDS];                                                                               \
                                                                                                                       \
	/* What there is to say of words that nobody changes. */                                                       \
	static void still_##NAME(void)                                                                                 \
	{                                                                                                              \
		TYPE *words = words_##NAME, values[WORDS];                                                             \
		size_t indices[WORDS], count;                                                                          \
		bool seen[WORDS] = {false};                                                                            \
		int all_out[WORDS];                                                                                    \
                                                                                                                       \
		for (int i = 0; i < WORDS; i++) {                                                                      \
			words[i] = (TYPE)(i + 1);                                                                      \
			values[i] = (TYPE)(i + 1);                                                                     \
			all_out[i] = 1;                                                                                \
		}                                                                                                      \
		/* Nothing to test */                                                                                  \
		shmem_##NAME##_wait_until_all(NULL, 0, NULL, SHMEM_CMP_EQ, 0);                                         \
		shmem_##NAME##_wait_until_all_vector(NULL, 0, NULL, SHMEM_CMP_EQ, NULL);                               \
		shmem_##NAME##_wait_until_all(words, WORDS, all_out, SHMEM_CMP_EQ, 0);                                 \
		CHECK_EQUAL(shmem_##NAME##_wait_until_any(NULL, 0, NULL, SHMEM_CMP_EQ, 0), SIZE_MAX);                  \
		CHECK_EQUAL(shmem_##NAME##_wait_until_any(words, WORDS, all_out, SHMEM_CMP_EQ, 0), SIZE_MAX);          \
		CHECK_EQUAL(shmem_##NAME##_wait_until_any_vector(words, WORDS, all_out, SHMEM_CMP_EQ, values),         \
			    SIZE_MAX);                                                                                 \
		CHECK_EQUAL(shmem_##NAME##_wait_until_some(NULL, 0, NULL, NULL, SHMEM_CMP_EQ, 0), 0);                  \
		CHECK_EQUAL(shmem_##NAME##_wait_until_some(words, WORDS, indices, all_out, SHMEM_CMP_EQ, 0), 0);       \
		CHECK_EQUAL(shmem_##NAME##_wait_until_some_vector(words, WORDS, indices, all_out, SHMEM_CMP_EQ,        \
								  values),                                             \
			    0);                                                                                        \
		CHECK_EQUAL(shmem_##NAME##_test_all(NULL, 0, NULL, SHMEM_CMP_EQ, 0), 1);                               \
		CHECK_EQUAL(shmem_##NAME##_test_all(words, WORDS, all_out, SHMEM_CMP_EQ, 0), 1);                       \
		CHECK_EQUAL(shmem_##NAME##_test_all_vector(words, WORDS, all_out, SHMEM_CMP_LT, values), 1);           \
		CHECK_EQUAL(shmem_##NAME##_test_any(NULL, 0, NULL, SHMEM_CMP_EQ, 0), SIZE_MAX);                        \
		CHECK_EQUAL(shmem_##NAME##_test_any_vector(words, WORDS, all_out, SHMEM_CMP_EQ, values), SIZE_MAX);    \
		CHECK_EQUAL(shmem_##NAME##_test_some(NULL, 0, NULL, NULL, SHMEM_CMP_EQ, 0), 0);                        \
		CHECK_EQUAL(shmem_##NAME##_test_some_vector(words, WORDS, indices, all_out, SHMEM_CMP_EQ, values), 0); \
		/* Something to test */                                                                                \
		CHECK_EQUAL(shmem_##NAME##_test_all(words, WORDS, NULL, SHMEM_CMP_GE, 1), 1);                          \
		CHECK_EQUAL(shmem_##NAME##_test_all(words, WORDS, NULL, SHMEM_CMP_GE, 2), 0);                          \
		CHECK_EQUAL(shmem_##NAME##_test_all(words, WORDS, left_out, SHMEM_CMP_GE, 2), 1);                      \
		CHECK_EQUAL(shmem_##NAME##_test_any(words, WORDS, NULL, SHMEM_CMP_EQ, 8), 7);                          \
		for (size_t i = 0; i < 20 * WORDS; i++) /* finds the only one from anywhere */                         \
			CHECK_EQUAL(shmem_##NAME##_test_any(words, WORDS, NULL, SHMEM_CMP_EQ, (TYPE)(i % WORDS + 1)),  \
				    i % WORDS);                                                                        \
		CHECK_EQUAL(shmem_##NAME##_test_any(words, WORDS, left_out, SHMEM_CMP_EQ, 5), SIZE_MAX);               \
		CHECK_EQUAL(shmem_##NAME##_wait_until_any(words, WORDS, NULL, SHMEM_CMP_EQ, 5), 4);                    \
		CHECK_EQUAL(shmem_##NAME##_test_some(words, WORDS, indices, left_out, SHMEM_CMP_LT, 2), 0);            \
		CHECK_EQUAL(shmem_##NAME##_test_all_vector(words, WORDS, NULL, SHMEM_CMP_EQ, values), 1);              \
		values[3] = 99;                                                                                        \
		CHECK_EQUAL(shmem_##NAME##_test_all_vector(words, WORDS, NULL, SHMEM_CMP_EQ, values), 0);              \
		CHECK_EQUAL(shmem_##NAME##_test_any_vector(words, WORDS, NULL, SHMEM_CMP_NE, values), 3);              \
		CHECK_EQUAL(shmem_##NAME##_wait_until_any_vector(words, WORDS, NULL, SHMEM_CMP_LT, values), 3);        \
		count = shmem_##NAME##_test_some_vector(words, WORDS, indices, left_out, SHMEM_CMP_EQ, values);        \
		CHECK_EQUAL(count, EXPECTED - 1);                                                                      \
		for (size_t i = 0; i < count; i++)                                                                     \
			tick(seen, indices[i]);                                                                        \
		count = shmem_##NAME##_wait_until_some(words, WORDS, indices, NULL, SHMEM_CMP_GT, 8);                  \
		CHECK(count == 2 && indices[0] + indices[1] == 17 && indices[0] != indices[1]);                        \
		memset(words, 0, sizeof words_##NAME);                                                                 \
	}                                                                                                              \
                                                                                                                       \
	/* Wait, by one of six routines, for words that come one by one. */                                            \
	static void coming_##NAME(int routine)                                                                         \
	{                                                                                                              \
		TYPE *words = words_##NAME, values[WORDS];                                                             \
		int status[WORDS], right = (me + 1) % npes;                                                            \
		bool seen[WORDS] = {false};                                                                            \
		size_t indices[WORDS], count = 0;                                                                      \
                                                                                                                       \
		memset(words, 0, sizeof words_##NAME);                                                                 \
		memcpy(status, left_out, sizeof status);                                                               \
		for (int i = 0; i < WORDS; i++)                                                                        \
			values[i] = (TYPE)(i + 1);                                                                     \
		shmem_barrier_all();                                                                                   \
		for (int i = 0; i < WORDS; i++)                                                                        \
			if (!left_out[order(i)])                                                                       \
				shmem_##NAME##_atomic_set(&words[order(i)], (TYPE)(order(i) + 1), right);              \
		while (count < EXPECTED) {                                                                             \
			size_t some = 1;                                                                               \
                                                                                                                       \
			switch (routine) {                                                                             \
			case 0:                                                                                        \
				indices[0] = shmem_##NAME##_wait_until_any(words, WORDS, status, SHMEM_CMP_NE, 0);     \
				break;                                                                                 \
			case 1:                                                                                        \
				indices[0] = shmem_##NAME##_wait_until_any_vector(words, WORDS, status, SHMEM_CMP_EQ,  \
										  values);                             \
				break;                                                                                 \
			case 2:                                                                                        \
				some = shmem_##NAME##_wait_until_some(words, WORDS, indices, status, SHMEM_CMP_GT, 0); \
				break;                                                                                 \
			case 3:                                                                                        \
				some = shmem_##NAME##_wait_until_some_vector(words, WORDS, indices, status,            \
									     SHMEM_CMP_EQ, values);                    \
				break;                                                                                 \
			case 4: some = shmem_##NAME##_test_some(words, WORDS, indices, status, SHMEM_CMP_NE, 0);       \
				break;                                                                                 \
			default:                                                                                       \
				indices[0] = shmem_##NAME##_test_any(words, WORDS, status, SHMEM_CMP_GE, 1);           \
				some = indices[0] != SIZE_MAX;                                                         \
			}                                                                                              \
			CHECK(some > 0 || routine > 3);                                                                \
			for (size_t i = 0; i < some; i++) {                                                            \
				tick(seen, indices[i]);                                                                \
				CHECK_EQUAL(words[indices[i]], values[indices[i]]);                                    \
				status[indices[i]] = 2;                                                                \
			}                                                                                              \
			count += some;                                                                                 \
		}                                                                                                      \
		shmem_barrier_all();                                                                                   \
		/* And once more for all together. */                                                                  \
		memset(words, 0, sizeof words_##NAME);                                                                 \
		shmem_barrier_all();                                                                                   \
		for (int i = 0; i < WORDS; i++)                                                                        \
			if (!left_out[order(i)])                                                                       \
				shmem_##NAME##_p(&words[order(i)], (TYPE)(order(i) + 1), right);                       \
		if (routine % 2)                                                                                       \
			shmem_##NAME##_wait_until_all(words, WORDS, left_out, SHMEM_CMP_NE, 0);                        \
		else                                                                                                   \
			shmem_##NAME##_wait_until_all_vector(words, WORDS, left_out, SHMEM_CMP_EQ, values);            \
		for (int i = 0; i < WORDS; i++)                                                                        \
			CHECK_EQUAL(words[i], left_out[i] ? (TYPE)0 : values[i]);                                      \
		shmem_barrier_all();                                                                                   \
	}
AMO_TYPES(TYPED)

/*
 * An entry that stays satisfied must be reported in the end, even if others are satisfied all the
 * time.
 */
static void check_fairness(void)
{
	static long words[WORDS];
	bool seen[WORDS] = {false};
	int missing = WORDS;

	for (int i = 0; i < WORDS; i++)
		words[i] = 1;
	for (int attempt = 0; attempt < 100 * WORDS && missing > 0; attempt++) {
		size_t i = attempt % 2 ? shmem_long_wait_until_any(words, WORDS, NULL, SHMEM_CMP_EQ, 1)
				       : shmem_long_test_any(words, WORDS, NULL, SHMEM_CMP_EQ, 1);

		CHECK(i < WORDS);
		missing -= !seen[i];
		seen[i] = true;
	}
	CHECK_EQUAL(missing, 0);
}

int main(void)
{
	begin();
#define CALL(NAME, TYPE, LEAST, GREATEST)               \
	NOTE("%s, still", #NAME);                       \
	still_##NAME();                                 \
	for (int routine = 0; routine < 6; routine++) { \
		NOTE("%s, routine %d", #NAME, routine); \
		coming_##NAME(routine);                 \
	}
	AMO_TYPES(CALL)
	check_note[0] = '\0';
	check_fairness();
	return end();
}
