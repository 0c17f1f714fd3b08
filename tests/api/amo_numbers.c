/* SPDX-License-Identifier: BSD-3-Clause */
/* run: tofu-few=2 */
/*
 * Atomic sums of floating-point numbers, minima and maxima of integers: against a model, and all
 * PEs on the same words at once, together with other atomics.
 */
#include "tests/lib/check.h"
#include "tests/lib/types.h"

#include <math.h>
#include <shmemx.h>

#define PLACES 16

static shmem_ctx_t ctx;

/* Each PE works on places of its own in another one's memory, beside those of the others. */
#define ADDS(NAME, TYPE, LEAST, GREATEST)                                                                     \
	static TYPE NAME##_places[PLACES];                                                                    \
	static void check_##NAME(int pe)                                                                      \
	{                                                                                                     \
		const TYPE values[] = {(TYPE)1.5, (TYPE)-0.25, (TYPE)GREATEST, (TYPE)LEAST, (TYPE)0x1p-20};   \
		TYPE *place = &NAME##_places[me], expected = 0;                                               \
                                                                                                              \
		NOTE(#NAME);                                                                                  \
		shmem_##NAME##_atomic_set(place, 0, pe);                                                      \
		shmem_quiet();                                                                                \
		for (size_t i = 0; i < 5; i++) {                                                              \
			CHECK_EQUAL(shmemx_##NAME##_atomic_fetch_add(place, values[i], pe), expected);        \
			expected += values[i];                                                                \
			shmemx_##NAME##_atomic_add(place, values[i], pe);                                     \
			expected += values[i];                                                                \
			CHECK_EQUAL(shmemx_ctx_##NAME##_atomic_fetch_add(ctx, place, (TYPE)2, pe), expected); \
			expected += (TYPE)2;                                                                  \
			shmemx_ctx_##NAME##_atomic_add(ctx, place, (TYPE)-2, pe);                             \
			expected += (TYPE)-2;                                                                 \
			CHECK_EQUAL(shmem_##NAME##_atomic_fetch(place, pe), expected);                        \
		}                                                                                             \
		shmemx_##NAME##_atomic_add(place, (TYPE)NAN, pe);                                             \
		CHECK(isnan(shmemx_atomic_fetch_add(place, (TYPE)1, pe)));                                    \
	}
REAL_TYPES(ADDS)

#define EXTREMES(NAME, TYPE, LEAST, GREATEST)                                                               \
	static TYPE NAME##_places[PLACES];                                                                  \
	static void check_##NAME(int pe)                                                                    \
	{                                                                                                   \
		TYPE *place = &NAME##_places[me];                                                           \
                                                                                                            \
		NOTE(#NAME);                                                                                \
		shmem_##NAME##_atomic_set(place, (TYPE)7, pe);                                              \
		shmem_quiet();                                                                              \
		CHECK_EQUAL(shmemx_##NAME##_atomic_fetch_max(place, (TYPE)5, pe), (TYPE)7);                 \
		CHECK_EQUAL(shmemx_ctx_##NAME##_atomic_fetch_max(ctx, place, (TYPE)GREATEST, pe), (TYPE)7); \
		CHECK_EQUAL(shmemx_##NAME##_atomic_fetch_min(place, (TYPE)9, pe), (TYPE)GREATEST);          \
		CHECK_EQUAL(shmemx_ctx_##NAME##_atomic_fetch_min(ctx, place, (TYPE)LEAST, pe), (TYPE)9);    \
		shmemx_##NAME##_atomic_max(place, (TYPE)11, pe);                                            \
		CHECK_EQUAL(shmem_##NAME##_atomic_fetch(place, pe), (TYPE)11);                              \
		shmemx_ctx_##NAME##_atomic_max(ctx, place, (TYPE)12, pe);                                   \
		CHECK_EQUAL(shmem_##NAME##_atomic_fetch(place, pe), (TYPE)12);                              \
		shmemx_##NAME##_atomic_min(place, (TYPE)3, pe);                                             \
		CHECK_EQUAL(shmem_##NAME##_atomic_fetch(place, pe), (TYPE)3);                               \
		shmemx_ctx_##NAME##_atomic_min(ctx, place, (TYPE)2, pe);                                    \
		CHECK_EQUAL(shmem_##NAME##_atomic_fetch(place, pe), (TYPE)2);                               \
	}
AMO_TYPES(EXTREMES)

static void check_types(int pe)
{
#define RUN(NAME, TYPE, LEAST, GREATEST) check_##NAME(pe);
	REAL_TYPES(RUN)
	AMO_TYPES(RUN)
}

/* All PEs add to the same words, and one takes out what it finds: nothing is lost. */
static void check_together(long each)
{
	static float sum_float;
	static double sum_double, taken, all_taken;
	static long least = 1000000, greatest = -1000000, mine;

	NOTE("together");
	for (long i = 0; i < each; i++) {
		shmemx_float_atomic_add(&sum_float, 1, 0);
		shmemx_double_atomic_fetch_add(&sum_double, 0.5, 0);
		if (me == npes - 1)
			taken += shmem_double_atomic_swap(&sum_double, 0, 0);
		shmemx_long_atomic_max(&greatest, me * each + i, 0);
		CHECK(shmemx_long_atomic_fetch_min(&least, -me * each - i, 0) >= -(long)npes * each || i > 0);
		mine = shmem_long_atomic_fetch(&greatest, 0);
		CHECK(mine >= me * each + i);
	}
	shmem_barrier_all();
	shmem_double_sum_reduce(SHMEM_TEAM_WORLD, &all_taken, &taken, 1);
	CHECK_EQUAL(shmem_float_g(&sum_float, 0), (float)(each * npes));
	CHECK_EQUAL(shmem_double_g(&sum_double, 0) + all_taken, 0.5 * (double)(each * npes));
	CHECK_EQUAL(shmem_long_g(&greatest, 0), npes * each - 1);
	CHECK_EQUAL(shmem_long_g(&least, 0), -(npes * each - 1));
	shmem_barrier_all();
}

/* Two halves of the PEs change the same word by different atomics. */
static void check_beside_others(long each)
{
	static long word;

	NOTE("beside others");
	for (long i = 0; i < each; i++) {
		shmem_long_atomic_add(&word, 1, 0);
		shmemx_long_atomic_max(&word, 0, 0); /* changes nothing, whatever came between */
		shmemx_long_atomic_min(&word, each * npes, 0);
	}
	shmem_barrier_all();
	CHECK_EQUAL(shmem_long_g(&word, 0), each * npes);
	shmem_barrier_all();
}

/* A PE that sleeps wakes when another one raises its word. */
static void check_wakes(void)
{
	static int raised;

	NOTE("wakes");
	if (me == 0)
		usleep(20000);
	else
		shmem_int_wait_until(&raised, SHMEM_CMP_GE, 1);
	shmemx_int_atomic_max(&raised, 1 + me, (me + 1) % npes);
	shmem_barrier_all();
}

static void check_query(void)
{
	NOTE("query");
	CHECK_EQUAL(shmemx_atomic_query(SHMEMX_DOUBLE, SHMEMX_SUM), SHMEMX_ATOMIC_LOOP);
	CHECK_EQUAL(shmemx_atomic_query(SHMEMX_INT, SHMEMX_SUM), SHMEMX_ATOMIC_OPERATION);
	CHECK_EQUAL(shmemx_atomic_query(SHMEMX_SIZE, SHMEMX_MAX), SHMEMX_ATOMIC_LOOP);
	CHECK_EQUAL(shmemx_atomic_query(SHMEMX_UINT64, SHMEMX_XOR), SHMEMX_ATOMIC_OPERATION);
	CHECK_EQUAL(shmemx_atomic_query(SHMEMX_INT, SHMEMX_XOR), SHMEMX_ATOMIC_NONE);
	CHECK_EQUAL(shmemx_atomic_query(SHMEMX_DOUBLE, SHMEMX_MAX), SHMEMX_ATOMIC_NONE);
	CHECK_EQUAL(shmemx_atomic_query(SHMEMX_HALF, SHMEMX_SUM), SHMEMX_ATOMIC_NONE);
	CHECK_EQUAL(shmemx_atomic_query((shmemx_type_t)1000, SHMEMX_SUM), SHMEMX_ATOMIC_NONE);
}

int main(void)
{
	begin();
	CHECK(npes <= PLACES);
	CHECK_EQUAL(shmem_ctx_create(0, &ctx), 0);
	check_types((me + 1) % npes);
	check_types(0);
	shmem_barrier_all();
	check_together(eased(2000));
	check_beside_others(eased(2000));
	check_wakes();
	check_query();
	shmem_ctx_destroy(ctx);
	return end();
}
