/* SPDX-License-Identifier: BSD-3-Clause */
#include <complex.h>
#include "plan.h"

/* The operators of MPI for the elements that have them, one function each. */
#define COMBINE(name, element, type, expression)                                                            \
	static void combine_##name##_##element(void *to, const void *left, const void *right, size_t bytes) \
	{                                                                                                   \
		type *into = to;                                                                            \
		const type *one = left, *other = right;                                                     \
                                                                                                            \
		for (size_t i = 0; i < bytes / sizeof(type); i++) {                                         \
			type a = one[i], b = other[i];                                                      \
                                                                                                            \
			into[i] = (type)(expression);                                                       \
		}                                                                                           \
	}

#define COMBINE_ORDERED(element, type)             \
	COMBINE(min, element, type, b < a ? b : a) \
	COMBINE(max, element, type, b > a ? b : a)

#define COMBINE_NUMBERS(element, type)     \
	COMBINE(sum, element, type, a + b) \
	COMBINE(prod, element, type, a *b)

/* Sums and products that do not fit wrap round, as those of unsigned words do. */
#define COMBINE_INTEGERS(element, type)                        \
	COMBINE(sum, element, type, (uint64_t)a + (uint64_t)b) \
	COMBINE(prod, element, type, (uint64_t)a *(uint64_t)b) \
	COMBINE_ORDERED(element, type)                         \
	COMBINE(land, element, type, a &&b)                    \
	COMBINE(lor, element, type, a || b)                    \
	COMBINE(lxor, element, type, !a != !b)                 \
	COMBINE(band, element, type, a &b)                     \
	COMBINE(bor, element, type, a | b)                     \
	COMBINE(bxor, element, type, a ^ b)

COMBINE_INTEGERS(int8, int8_t)
COMBINE_INTEGERS(int16, int16_t)
COMBINE_INTEGERS(int32, int32_t)
COMBINE_INTEGERS(int64, int64_t)
COMBINE_INTEGERS(uint8, uint8_t)
COMBINE_INTEGERS(uint16, uint16_t)
COMBINE_INTEGERS(uint32, uint32_t)
COMBINE_INTEGERS(uint64, uint64_t)
COMBINE_NUMBERS(float, float)
COMBINE_ORDERED(float, float)
COMBINE_NUMBERS(double, double)
COMBINE_ORDERED(double, double)
COMBINE_NUMBERS(float_complex, float complex)
COMBINE_NUMBERS(double_complex, double complex)

#define NUMBERS(element) [FJMPI_PLAN_SUM] = combine_sum_##element, [FJMPI_PLAN_PROD] = combine_prod_##element
#define ORDERED(element) \
	NUMBERS(element), [FJMPI_PLAN_MIN] = combine_min_##element, [FJMPI_PLAN_MAX] = combine_max_##element
#define INTEGERS(element)                                                                                         \
	ORDERED(element), [FJMPI_PLAN_LAND] = combine_land_##element, [FJMPI_PLAN_LOR] = combine_lor_##element,   \
			  [FJMPI_PLAN_LXOR] = combine_lxor_##element, [FJMPI_PLAN_BAND] = combine_band_##element, \
			  [FJMPI_PLAN_BOR] = combine_bor_##element, [FJMPI_PLAN_BXOR] = combine_bxor_##element

plan_combine *plan_combine_of(enum fjmpi_plan_element element, enum fjmpi_plan_operator operation)
{
	static plan_combine *const table[FJMPI_PLAN_ELEMENTS][FJMPI_PLAN_OPERATORS] = {
		[FJMPI_PLAN_INT8] = {INTEGERS(int8)},
		[FJMPI_PLAN_INT16] = {INTEGERS(int16)},
		[FJMPI_PLAN_INT32] = {INTEGERS(int32)},
		[FJMPI_PLAN_INT64] = {INTEGERS(int64)},
		[FJMPI_PLAN_UINT8] = {INTEGERS(uint8)},
		[FJMPI_PLAN_UINT16] = {INTEGERS(uint16)},
		[FJMPI_PLAN_UINT32] = {INTEGERS(uint32)},
		[FJMPI_PLAN_UINT64] = {INTEGERS(uint64)},
		[FJMPI_PLAN_FLOAT] = {ORDERED(float)},
		[FJMPI_PLAN_DOUBLE] = {ORDERED(double)},
		[FJMPI_PLAN_COMPLEX] = {NUMBERS(float_complex)},
		[FJMPI_PLAN_DOUBLE_COMPLEX] = {NUMBERS(double_complex)},
	};

	return table[element][operation];
}
