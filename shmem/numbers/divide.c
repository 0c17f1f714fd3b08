/* SPDX-License-Identifier: BSD-3-Clause */
#include "divide.h"

#include "shmem/api.h"

#define DIVIDE(NAME, TYPE)                                                                   \
	static void divide_##NAME(TYPE *dest, const TYPE *source, size_t count, int divisor) \
	{                                                                                    \
		for (size_t i = 0; i < count; i++)                                           \
			dest[i] = source[i] / (TYPE)divisor;                                 \
	}
FOR_AVG_TYPES(DIVIDE)

#define STEP(NAME, TYPE)                                                                       \
	static void divide_step_##NAME(void *out, const void *low, const void *high, size_t n) \
	{                                                                                      \
		divide_##NAME(out, low, n, *(const int *)high);                                \
	}
FOR_AVG_TYPES(STEP)

narrow_step *numbers_divider(shmemx_type_t type)
{
	if (type == SHMEMX_LONGDOUBLE)
		return divide_step_longdouble;
	return type == SHMEMX_DOUBLE ? divide_step_double : divide_step_float;
}

const struct narrow *narrow_of_type(shmemx_type_t type)
{
	return type == SHMEMX_HALF ? &narrow_half : type == SHMEMX_BFLOAT16 ? &narrow_bfloat16 : NULL;
}

#define AT_A_TIME 1024
static void divide_narrow(const struct narrow *narrow, uint16_t *dest, const uint16_t *source, size_t count,
			  int divisor)
{
	float values[AT_A_TIME];

	for (size_t at = 0; at < count; at += AT_A_TIME) {
		size_t now = count - at < AT_A_TIME ? count - at : AT_A_TIME;

		narrow->widen(values, source + at, now);
		divide_float(values, values, now, divisor);
		narrow->round(dest + at, values, now);
	}
}

void numbers_divide(struct numbers numbers, void *dest, const void *source, int divisor)
{
	switch (numbers.type) {
	case SHMEMX_FLOAT: divide_float(dest, source, numbers.count, divisor); break;
	case SHMEMX_DOUBLE: divide_double(dest, source, numbers.count, divisor); break;
	case SHMEMX_LONGDOUBLE: divide_longdouble(dest, source, numbers.count, divisor); break;
	default: divide_narrow(narrow_of_type(numbers.type), dest, source, numbers.count, divisor); break;
	}
}
