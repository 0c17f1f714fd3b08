/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements as words: what a network makes of the words of two numbers is what the processor makes
 * of the numbers, for all types and operations.
 */
#include "shmem/words.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "tests/lib/unit.h"

/* As the barrier gates of a network do it. */
static uint64_t combine(enum comms_reduce_op op, uint64_t a, uint64_t b)
{
	double x, y;

	switch (op) {
	case COMMS_REDUCE_SUM: return a + b;
	case COMMS_REDUCE_MAX: return a > b ? a : b;
	case COMMS_REDUCE_AND: return a & b;
	case COMMS_REDUCE_OR: return a | b;
	case COMMS_REDUCE_XOR: return a ^ b;
	case COMMS_REDUCE_DOUBLE_SUM:
		memcpy(&x, &a, sizeof x);
		memcpy(&y, &b, sizeof y);
		x += y;
		memcpy(&a, &x, sizeof a);
	}
	return a;
}

#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define ADD(a, b) ((a) + (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))

#define CHECK_OP(TYPE, OP, STEP, VALUES)                                                                     \
	for (size_t i = 0; i < sizeof VALUES / sizeof VALUES[0]; i++)                                        \
		for (size_t j = 0; j < sizeof VALUES / sizeof VALUES[0]; j++) {                              \
			TYPE pair[2] = {VALUES[i], VALUES[j]}, got, right = (TYPE)STEP(pair[0], pair[1]);    \
			struct words_method method;                                                          \
			uint64_t words[2], both;                                                             \
                                                                                                             \
			EXPECT(words_find_method(SHMEMX_##OP, WORDS_NUMBER_OF(TYPE), sizeof(TYPE), &method), \
			       #OP " of " #TYPE);                                                            \
			words_from(&method, words, pair, 2);                                                 \
			both = combine(method.op, words[0], words[1]);                                       \
			words_to(&method, &got, &both, 1);                                                   \
			EXPECT(got == right, #OP " of values %zu and %zu of " #TYPE, i, j);                  \
		}
#define CHECK_NUMBERS(TYPE, VALUES)      \
	CHECK_OP(TYPE, MAX, MAX, VALUES) \
	CHECK_OP(TYPE, MIN, MIN, VALUES) \
	CHECK_OP(TYPE, SUM, ADD, VALUES)
#define CHECK_BITS(TYPE, VALUES)         \
	CHECK_OP(TYPE, AND, AND, VALUES) \
	CHECK_OP(TYPE, OR, OR, VALUES)   \
	CHECK_OP(TYPE, XOR, XOR, VALUES)
/* Signed numbers whose sums are too large are none of the program's business: so no such sums. */
#define CHECK_SIGNED(TYPE, LEAST, MOST)                                                \
	{                                                                              \
		static const TYPE few[] = {LEAST / 2, -7, -1, 0, 1, 100, MOST / 2};    \
		static const TYPE all[] = {LEAST, LEAST + 1, -7, -1, 0, 1, 100, MOST}; \
                                                                                       \
		CHECK_OP(TYPE, SUM, ADD, few)                                          \
		CHECK_OP(TYPE, MAX, MAX, all)                                          \
		CHECK_OP(TYPE, MIN, MIN, all)                                          \
		CHECK_BITS(TYPE, all)                                                  \
	}
#define CHECK_UNSIGNED(TYPE)                                                                \
	{                                                                                   \
		static const TYPE all[] = {0, 1, 2, 100, (TYPE)-1 / 2, (TYPE)-2, (TYPE)-1}; \
                                                                                            \
		CHECK_NUMBERS(TYPE, all)                                                    \
		CHECK_BITS(TYPE, all)                                                       \
	}

static void check_integers(void)
{
	CHECK_SIGNED(char, CHAR_MIN, CHAR_MAX)
	CHECK_SIGNED(signed char, SCHAR_MIN, SCHAR_MAX)
	CHECK_SIGNED(short, SHRT_MIN, SHRT_MAX)
	CHECK_SIGNED(int, INT_MIN, INT_MAX)
	CHECK_SIGNED(long, LONG_MIN, LONG_MAX)
	CHECK_SIGNED(long long, LLONG_MIN, LLONG_MAX)
	CHECK_SIGNED(int32_t, INT32_MIN, INT32_MAX)
	CHECK_SIGNED(ptrdiff_t, PTRDIFF_MIN, PTRDIFF_MAX)
	CHECK_UNSIGNED(unsigned char)
	CHECK_UNSIGNED(unsigned short)
	CHECK_UNSIGNED(unsigned)
	CHECK_UNSIGNED(unsigned long)
	CHECK_UNSIGNED(uint16_t)
	CHECK_UNSIGNED(size_t)
}

static void check_floating(void)
{
	static const double doubles[] = {-INFINITY, -DBL_MAX, -1.5, -DBL_MIN,	 0,	  DBL_MIN,
					 1e-300,    0.1,      3,    DBL_MAX / 4, INFINITY};
	static const float floats[] = {-INFINITY, -FLT_MAX, -1.5F, -FLT_MIN,	0,
				       FLT_MIN,	  0.1F,	    3,	   FLT_MAX / 4, INFINITY};
	static const double sums[] = {-1e9, -2.5, 0, 0.25, 3, 1e12};
	static const float float_sums[] = {-1e4F, -2.5F, 0, 0.25F, 3};

	CHECK_OP(double, MAX, MAX, doubles)
	CHECK_OP(double, MIN, MIN, doubles)
	CHECK_OP(double, SUM, ADD, sums)
	CHECK_OP(float, MAX, MAX, floats)
	CHECK_OP(float, MIN, MIN, floats)
	CHECK_OP(float, SUM, ADD, float_sums)
}

static void check_what_cannot_be_done(void)
{
	struct words_method method;

	EXPECT(!words_find_method(SHMEMX_PROD, WORDS_SIGNED, sizeof(int), &method), "products");
	EXPECT(!words_find_method(SHMEMX_SUM, WORDS_NUMBER_OF(long double), sizeof(long double), &method),
	       "long double");
	EXPECT(!words_find_method(SHMEMX_SUM, WORDS_NO_NUMBER, 16, &method), "complex");
}

int main(void)
{
	check_integers();
	check_floating();
	check_what_cannot_be_done();
	return unit_failures > 0;
}
