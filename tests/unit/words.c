/* SPDX-License-Identifier: BSD-3-Clause */
/* Elements as words: what a network makes of the words of two numbers is what the processor makes of the numbers, for all types and operations. */
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

#define CHECK_OP(CODE, TYPE, OP, STEP, VALUES)                                                       \
	for (size_t i = 0; i < sizeof VALUES / sizeof VALUES[0]; i++)                                 \
		for (size_t j = 0; j < sizeof VALUES / sizeof VALUES[0]; j++) {                       \
			TYPE pair[2] = {VALUES[i], VALUES[j]}, got, right = (TYPE)STEP(pair[0], pair[1]); \
			struct words_method method;                                                         \
			uint64_t words[2], both;                                                      \
                                                                                                      \
			EXPECT(words_find_method(SHMEMX_##OP, SHMEMX_##CODE, sizeof(TYPE), &method), #OP " of " #TYPE); \
			words_from(&method, words, pair, 2);                                             \
			both = combine(method.op, words[0], words[1]);                                   \
			words_to(&method, &got, &both, 1);                                               \
			EXPECT(got == right, #OP " of values %zu and %zu of " #TYPE, i, j);          \
		}
#define CHECK_NUMBERS(CODE, TYPE, VALUES)             \
	CHECK_OP(CODE, TYPE, MAX, MAX, VALUES)        \
	CHECK_OP(CODE, TYPE, MIN, MIN, VALUES)        \
	CHECK_OP(CODE, TYPE, SUM, ADD, VALUES)
#define CHECK_BITS(CODE, TYPE, VALUES)                \
	CHECK_OP(CODE, TYPE, AND, AND, VALUES)        \
	CHECK_OP(CODE, TYPE, OR, OR, VALUES)          \
	CHECK_OP(CODE, TYPE, XOR, XOR, VALUES)
/* Signed numbers whose sums are too large are none of the program's business: so no such sums. */
#define CHECK_SIGNED(CODE, TYPE, LEAST, MOST)                                              \
	{                                                                                   \
		static const TYPE few[] = {LEAST / 2, -7, -1, 0, 1, 100, MOST / 2};         \
		static const TYPE all[] = {LEAST, LEAST + 1, -7, -1, 0, 1, 100, MOST};      \
                                                                                            \
		CHECK_OP(CODE, TYPE, SUM, ADD, few)                                         \
		CHECK_OP(CODE, TYPE, MAX, MAX, all)                                         \
		CHECK_OP(CODE, TYPE, MIN, MIN, all)                                         \
		CHECK_BITS(CODE, TYPE, all)                                                 \
	}
#define CHECK_UNSIGNED(CODE, TYPE)                                                         \
	{                                                                                   \
		static const TYPE all[] = {0, 1, 2, 100, (TYPE)-1 / 2, (TYPE)-2, (TYPE)-1};  \
                                                                                            \
		CHECK_NUMBERS(CODE, TYPE, all)                                              \
		CHECK_BITS(CODE, TYPE, all)                                                 \
	}

static void check_integers(void)
{
	CHECK_SIGNED(CHAR, char, CHAR_MIN, CHAR_MAX)
	CHECK_SIGNED(SCHAR, signed char, SCHAR_MIN, SCHAR_MAX)
	CHECK_SIGNED(SHORT, short, SHRT_MIN, SHRT_MAX)
	CHECK_SIGNED(INT, int, INT_MIN, INT_MAX)
	CHECK_SIGNED(LONG, long, LONG_MIN, LONG_MAX)
	CHECK_SIGNED(LONGLONG, long long, LLONG_MIN, LLONG_MAX)
	CHECK_SIGNED(INT32, int32_t, INT32_MIN, INT32_MAX)
	CHECK_SIGNED(PTRDIFF, ptrdiff_t, PTRDIFF_MIN, PTRDIFF_MAX)
	CHECK_UNSIGNED(UCHAR, unsigned char)
	CHECK_UNSIGNED(USHORT, unsigned short)
	CHECK_UNSIGNED(UINT, unsigned)
	CHECK_UNSIGNED(ULONG, unsigned long)
	CHECK_UNSIGNED(UINT16, uint16_t)
	CHECK_UNSIGNED(SIZE, size_t)
}

static void check_floating(void)
{
	static const double doubles[] = {-INFINITY, -DBL_MAX, -1.5, -DBL_MIN, 0, DBL_MIN, 1e-300, 0.1, 3, DBL_MAX / 4, INFINITY};
	static const float floats[] = {-INFINITY, -FLT_MAX, -1.5F, -FLT_MIN, 0, FLT_MIN, 0.1F, 3, FLT_MAX / 4, INFINITY};
	static const double sums[] = {-1e9, -2.5, 0, 0.25, 3, 1e12};
	static const float float_sums[] = {-1e4F, -2.5F, 0, 0.25F, 3};

	CHECK_OP(DOUBLE, double, MAX, MAX, doubles)
	CHECK_OP(DOUBLE, double, MIN, MIN, doubles)
	CHECK_OP(DOUBLE, double, SUM, ADD, sums)
	CHECK_OP(FLOAT, float, MAX, MAX, floats)
	CHECK_OP(FLOAT, float, MIN, MIN, floats)
	CHECK_OP(FLOAT, float, SUM, ADD, float_sums)
}

static void check_what_cannot_be_done(void)
{
	struct words_method method;

	EXPECT(!words_find_method(SHMEMX_PROD, SHMEMX_INT, sizeof(int), &method), "products");
	EXPECT(!words_find_method(SHMEMX_SUM, SHMEMX_LONGDOUBLE, sizeof(long double), &method), "long double");
	EXPECT(!words_find_method(SHMEMX_SUM, SHMEMX_COMPLEXD, 16, &method), "complex");
}

int main(void)
{
	check_integers();
	check_floating();
	check_what_cannot_be_done();
	return unit_failures > 0;
}
