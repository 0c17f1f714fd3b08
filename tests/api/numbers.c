/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7 ucx-tcp=2,3 ucx-shm=2 mixed=4,5 split=3 tofu-few=3 */
/*
 * 16-bit floating-point numbers, and averages: conversion, reductions of each type and operation,
 * in place and not, and the same as plans.
 */
#include "tests/lib/check.h"

#include <math.h>
#include <shmemx.h>

#define SMALL 70
#define LARGE 30000

/* --- Conversion --- */

/*
 * A format by its numbers: bits of a fraction, the exponent of the last place of the least numbers,
 * and the greatest number.
 */
struct format {
	int digits, least;
	double greatest;
};
static const struct format half = {11, -24, 65504}, bfloat16 = {8, -133, 0x1.fep127};

/* What a number is in a format, by arithmetic instead of bits. */
static double rounded(const struct format *format, double value)
{
	double place, result;
	int exponent;

	if (isnan(value) || isinf(value) || value == 0)
		return value;
	frexp(value, &exponent);
	place = ldexp(1, exponent - format->digits > format->least ? exponent - format->digits : format->least);
	result = rint(value / place) * place;
	return fabs(result) > format->greatest ? copysign(INFINITY, value) : copysign(result, value);
}

static bool is_same(double a, double b)
{
	return isnan(a) ? isnan(b) : a == b && signbit(a) == signbit(b);
}

static float float_with_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

#define CONVERSIONS(NAME, TYPE, QUIET)                                                           \
	static uint16_t bits_of_##NAME(const TYPE *number)                                       \
	{                                                                                        \
		uint16_t bits;                                                                   \
                                                                                                 \
		memcpy(&bits, number, sizeof bits);                                              \
		return bits;                                                                     \
	}                                                                                        \
	static double value_of_##NAME(const TYPE *number)                                        \
	{                                                                                        \
		float value;                                                                     \
                                                                                                 \
		shmemx_##NAME##_to_float(&value, number, 1);                                     \
		return value;                                                                    \
	}                                                                                        \
	static void check_rounding_##NAME(float value)                                           \
	{                                                                                        \
		TYPE number;                                                                     \
                                                                                                 \
		NOTE(#NAME " of %a", (double)value);                                             \
		shmemx_##NAME##_from_float(&number, &value, 1);                                  \
		CHECK(is_same(value_of_##NAME(&number), rounded(&NAME, value)));                 \
		CHECK(!isnan(value) || bits_of_##NAME(&number) == (QUIET));                      \
	}                                                                                        \
	/* Each number, the ties beside it, and what is next to the ties. */                     \
	static void check_conversion_##NAME(void)                                                \
	{                                                                                        \
		for (uint32_t bits = 0; bits < 65536; bits += (uint32_t)ease() | 1) {            \
			uint16_t low = (uint16_t)bits, next = (uint16_t)(bits + 1);              \
			TYPE number, above;                                                      \
			float tie;                                                               \
                                                                                                 \
			memcpy(&number, &low, sizeof number);                                    \
			memcpy(&above, &next, sizeof above);                                     \
			check_rounding_##NAME((float)value_of_##NAME(&number));                  \
			tie = (float)((value_of_##NAME(&number) + value_of_##NAME(&above)) / 2); \
			check_rounding_##NAME(tie);                                              \
			check_rounding_##NAME(nextafterf(tie, INFINITY));                        \
			check_rounding_##NAME(nextafterf(tie, -INFINITY));                       \
		}                                                                                \
		for (uint64_t i = 0; i < 100000; i += (uint64_t)ease())                          \
			check_rounding_##NAME(float_with_bits((uint32_t)noise(i)));              \
	}
CONVERSIONS(half, shmemx_half_t, 0x7e00)
CONVERSIONS(bfloat16, shmemx_bfloat16_t, 0x7fc0)

/* The compiler's own arithmetic agrees with the library's, where it has the type. */
static void check_against_compiler(void)
{
#ifdef SHMEMX_HAS_FLOAT16
	NOTE("_Float16");
	for (uint64_t i = 0; i < 100000; i += (uint64_t)ease()) {
		float value = ldexpf((float)noise(i), (int)(noise(i + 1) % 50) - 90);
		shmemx_half_t ours, theirs = (shmemx_half_t)value;

		shmemx_half_from_float(&ours, &value, 1);
		CHECK(ours == theirs);
	}
#endif
}

/* --- Reductions --- */

enum operation { SUM, PROD, MIN, MAX, AVG, OPERATIONS };
static const shmemx_op_t plan_operations[] = {SHMEMX_SUM, SHMEMX_PROD, SHMEMX_MIN, SHMEMX_MAX, SHMEMX_AVG};

/*
 * What PE pe has in element i: such that all results are numbers of the type, in whatever order and
 * with whatever rounding on the way they come about. What is averaged is a multiple of the number
 * of PEs.
 */
static double element(enum operation operation, int pe, size_t i)
{
	uint64_t dice = noise((uint64_t)pe * LARGE + i);

	switch (operation) {
	case SUM: return (double)(dice % 9) - 4;
	case PROD: return dice % 3 == 0 ? -1 : dice % 3 == 1 ? 0.5 : 2;
	case AVG: return (double)npes * ((double)(dice % 9) - 4);
	default: return dice % 11 == 0 ? -INFINITY : dice % 11 == 1 ? 0x1p-24 : (double)(dice % 200) - 100;
	}
}

static double expected(enum operation operation, size_t i)
{
	double result = element(operation, 0, i);

	for (int pe = 1; pe < npes; pe++) {
		double value = element(operation, pe, i);

		switch (operation) {
		case PROD: result *= value; break;
		case MIN: result = fmin(result, value); break;
		case MAX: result = fmax(result, value); break;
		default: result += value;
		}
	}
	return operation == AVG ? result / npes : result;
}

/* A type with what the checks below need: its reductions by operation, NULL where it has none. */
struct type {
	const char *name;
	shmemx_type_t code;
	size_t size;
	int (*reduce[OPERATIONS])(shmem_team_t team, void *dest, const void *source, size_t count);
	void (*store)(void *to, double value);
	double (*load)(const void *from);
};

#define CALL(NAME, TYPE, OP)                                                                       \
	static int OP##_of_##NAME(shmem_team_t team, void *dest, const void *source, size_t count) \
	{                                                                                          \
		return shmemx_##OP##_reduce(team, (TYPE *)dest, (const TYPE *)source, count);      \
	}
#define PLAIN(NAME, TYPE)                                \
	CALL(NAME, TYPE, avg)                            \
	static void store_##NAME(void *to, double value) \
	{                                                \
		*(TYPE *)to = (TYPE)value;               \
	}                                                \
	static double load_##NAME(const void *from)      \
	{                                                \
		return (double)*(const TYPE *)from;      \
	}
#define NARROW(NAME, TYPE)                                    \
	CALL(NAME, TYPE, sum)                                 \
	CALL(NAME, TYPE, prod)                                \
	CALL(NAME, TYPE, min)                                 \
	CALL(NAME, TYPE, max)                                 \
	CALL(NAME, TYPE, avg)                                 \
	static void store_##NAME(void *to, double value)      \
	{                                                     \
		float narrower = (float)value;                \
                                                              \
		shmemx_##NAME##_from_float(to, &narrower, 1); \
	}                                                     \
	static double load_##NAME(const void *from)           \
	{                                                     \
		return value_of_##NAME(from);                 \
	}
PLAIN(float, float)
PLAIN(double, double)
PLAIN(longdouble, long double)
NARROW(half, shmemx_half_t)
NARROW(bfloat16, shmemx_bfloat16_t)

#define PLAIN_ROW(NAME, CODE, TYPE)                                                                            \
	{                                                                                                      \
#NAME, CODE, sizeof(TYPE), {NULL, NULL, NULL, NULL, avg_of_##NAME }, store_##NAME, load_##NAME \
	}
#define NARROW_ROW(NAME, CODE, TYPE)                                                                                 \
	{                                                                                                            \
#NAME, CODE, sizeof(TYPE),                                                                           \
			{sum_of_##NAME, prod_of_##NAME, min_of_##NAME, max_of_##NAME, avg_of_##NAME }, store_##NAME, \
			 load_##NAME                                                                                 \
	}
static const struct type types[] = {
	PLAIN_ROW(float, SHMEMX_FLOAT, float),
	PLAIN_ROW(double, SHMEMX_DOUBLE, double),
	PLAIN_ROW(longdouble, SHMEMX_LONGDOUBLE, long double),
	NARROW_ROW(half, SHMEMX_HALF, shmemx_half_t),
	NARROW_ROW(bfloat16, SHMEMX_BFLOAT16, shmemx_bfloat16_t),
};

static char *source, *dest;

static void fill(const struct type *type, enum operation operation, char *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		type->store(from + i * type->size, element(operation, me, i));
}

static void check_results(const struct type *type, enum operation operation, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double got = type->load(dest + i * type->size), right = expected(operation, i);

		if (!(got == right))
			check_failed(__FILE__, __LINE__, "%s, operation %d, element %zu of %zu: got %g, expected %g",
				     type->name, operation, i, count, got, right);
	}
}

static void check_reduction(const struct type *type, enum operation operation, size_t count, bool in_place)
{
	char *from = in_place ? dest : source;

	memset(dest, 0x11, (count + 1) * type->size);
	fill(type, operation, from, count);
	shmem_sync_all();
	CHECK_EQUAL(type->reduce[operation](SHMEM_TEAM_WORLD, dest, from, count), 0);
	check_results(type, operation, count);
	CHECK_FILL(dest + count * type->size, 0x11, type->size);
	shmem_sync_all();
}

static void run_plan(const struct type *type, enum operation operation, size_t count, int root)
{
	shmemx_plan_t plan;

	if (root < 0)
		CHECK_EQUAL(shmemx_allreduce_init(SHMEM_TEAM_WORLD, dest, source, count, type->code,
						  plan_operations[operation], SHMEMX_PLAN_AUTO, &plan),
			    0);
	else
		CHECK_EQUAL(shmemx_reduce_init(SHMEM_TEAM_WORLD, dest, source, count, type->code,
					       plan_operations[operation], root, SHMEMX_PLAN_AUTO, &plan),
			    0);
	for (int run = 0; run < 3; run++) {
		memset(dest, 0x11, count * type->size);
		fill(type, operation, source, count);
		shmemx_plan_start(plan);
		while (run % 2 && !shmemx_plan_test(plan))
			;
		shmemx_plan_wait(plan);
		if (root < 0 || root == me)
			check_results(type, operation, count);
	}
	shmemx_plan_free(plan);
}

static void check_type(const struct type *type)
{
	for (enum operation operation = SUM; operation < OPERATIONS; operation++) {
		if (!type->reduce[operation])
			continue;
		NOTE("%s, operation %d", type->name, operation);
		check_reduction(type, operation, 0, false);
		check_reduction(type, operation, 1, true);
		check_reduction(type, operation, SMALL, false);
		check_reduction(type, operation, LARGE, operation % 2);
		NOTE("%s, operation %d, plan", type->name, operation);
		run_plan(type, operation, SMALL, -1);
		run_plan(type, operation, LARGE, operation % 2 ? -1 : npes - 1);
	}
}

/* --- Floats on the way, and the same bits everywhere --- */

/*
 * 256 and 1 is 256 as a bfloat16, and so on with each further 1; but with two of them in floats it
 * is 258. The numbers of other nodes come as floats, too, as long as no node has several PEs.
 */
static void check_sum_in_floats(size_t count)
{
	shmemx_bfloat16_t *from = (void *)source, *to = (void *)dest;

	NOTE("in floats, %zu elements", count);
	for (size_t i = 0; i < count; i++)
		store_bfloat16(&from[i], me == 0 ? 256 : 1);
	shmem_sync_all();
	shmemx_bfloat16_sum_reduce(SHMEM_TEAM_WORLD, to, from, count);
	for (size_t i = 0; i < count; i++)
		CHECK_EQUAL(value_of_bfloat16(&to[i]), rounded(&bfloat16, 256 + npes - 1));
	shmem_sync_all();
}

/* Sums of halves beyond the greatest are infinite, but not their average. */
static void check_large_average(size_t count)
{
	shmemx_half_t *from = (void *)source, *to = (void *)dest;

	NOTE("average of large numbers");
	for (size_t i = 0; i < count; i++)
		store_half(&from[i], 61440);
	shmem_sync_all();
	shmemx_half_avg_reduce(SHMEM_TEAM_WORLD, to, from, count);
	for (size_t i = 0; i < count; i++)
		CHECK(fabs(value_of_half(&to[i]) - 61440) <= 32 * npes);
	shmem_sync_all();
	shmemx_half_sum_reduce(SHMEM_TEAM_WORLD, to, from, count);
	CHECK_EQUAL(value_of_half(&to[0]), npes == 1 ? 61440 : (double)INFINITY);
	shmem_sync_all();
}

static void check_agreement(const struct type *type, enum operation operation, size_t count)
{
	uint16_t *of_first = malloc(count * sizeof *of_first);

	NOTE("agreement, %s, operation %d, %zu elements", type->name, operation, count);
	for (size_t i = 0; i < count; i++)
		type->store(source + i * type->size, 1 + (double)(noise((uint64_t)me * LARGE + i) % 100003) / 1e5);
	if (me == npes - 1)
		type->store(source + 3 * type->size, NAN);
	shmem_sync_all();
	type->reduce[operation](SHMEM_TEAM_WORLD, dest, source, count);
	shmem_barrier_all();
	shmem_getmem(of_first, dest, count * type->size, 0);
	CHECK_BYTES(dest, of_first, count * type->size);
	CHECK(isnan(type->load(dest + 3 * type->size)));
	shmem_sync_all();
	free(of_first);
}

/*
 * May partial results travel as 16-bit numbers? They do between nodes with several PEs, and on a
 * torus. All PEs get the same answer.
 */
static bool is_rounded_on_the_way(void)
{
	static int here, most;

	here = shmem_team_n_pes(SHMEM_TEAM_SHARED);
	shmem_int_max_reduce(SHMEM_TEAM_WORLD, &most, &here, 1);
	return most < npes &&
	       (most > 1 || getenv("SOFTOFU_SHAPE") || getenv("SHMEM_TORUS") || getenv("SHMEM_TORUS_FILE"));
}

int main(void)
{
	begin();
	source = symmetric((LARGE + 1) * sizeof(long double));
	dest = symmetric((LARGE + 1) * sizeof(long double));
	if (me == 0) {
		check_conversion_half();
		check_conversion_bfloat16();
		check_against_compiler();
	}
	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		check_type(&types[i]);
	if (!getenv("SHMEM_REDUCE_ALGORITHM"))
		check_sum_in_floats(SMALL);
	if (!is_rounded_on_the_way())
		check_sum_in_floats(LARGE);
	check_large_average(SMALL);
	check_large_average(LARGE);
	for (size_t i = 3; i < sizeof types / sizeof types[0]; i++) {
		check_agreement(&types[i], SUM, SMALL);
		check_agreement(&types[i], AVG, LARGE);
	}
	return end();
}
