/* SPDX-License-Identifier: BSD-3-Clause */
/* 16-bit floating-point numbers: conversion, and what combines two elements of a reduction. */
#include "narrow.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "shmem/operators.h"

/* The loops below are made for vectors, for which GCC has to be asked. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define SIGN 0x80000000U
#define INFINITE 0x7f800000U /* the bits of a float */
#define NO_HALF 0x7e00	     /* not a number */
#define NO_BFLOAT16 0x7fc0

static inline uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static inline float float_of(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof value);
	return value;
}

/* Without a branch, which would keep a loop from using vectors. */
static inline uint32_t choose(bool first, uint32_t a, uint32_t b)
{
	uint32_t mask = 0 - (uint32_t)first;

	return (a & mask) | (b & ~mask);
}

/* --- IEEE half: 1 bit of sign, 5 of exponent with bias 15, 10 of fraction --- */

#define EXPONENT (0x7c00U << 13)	  /* of a half, in its place in a float */
#define REBIAS ((127U - 15U) << 23)	  /* from the exponent of a half to that of a float */
#define LEAST_NORMAL ((127U - 14U) << 23) /* the bits of 2^-14 as a float */
#define BEYOND ((127U + 16U) << 23)	  /* the bits of 2^16, which is no half */

/* Below the normal numbers, 2^-14 * 0.fraction is 2^-14 * 1.fraction less 2^-14. */
static inline float widen_half(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16, bits = (uint32_t)(half & 0x7fff) << 13;
	uint32_t normal = bits + REBIAS;
	uint32_t below = bits_of(float_of(normal + (1U << 23)) - float_of(LEAST_NORMAL));
	uint32_t beyond = normal + REBIAS; /* all bits of the exponent are set in a float, too */
	uint32_t number = choose(bits >= EXPONENT, beyond, choose(bits < 1U << 23, below, normal));

	return float_of(number | sign);
}

/*
 * Below 2^-14, the sum with 1/2, whose last place is worth 2^-24 as that of such a half is, has the
 * rounded fraction in its last bits. Above, half of the last place is added, less one bit for what
 * is a tie and even, and a carry goes on into the exponent, to infinity at last.
 */
static inline uint16_t round_half(float value)
{
	uint32_t bits = bits_of(value), sign = (bits & SIGN) >> 16;
	uint32_t normal, below, number;

	bits &= ~SIGN;
	normal = (bits - REBIAS + 0xfff + (bits >> 13 & 1)) >> 13;
	below = bits_of(float_of(bits) + 0.5F) - bits_of(0.5F);
	number = choose(bits < LEAST_NORMAL, below, choose(bits < BEYOND, normal, 0x7c00));
	return (uint16_t)choose(bits > INFINITE, NO_HALF, sign | number);
}

/* --- bfloat16: the sign, the exponent and the first 7 bits of the fraction of a float --- */

static inline float widen_bfloat16(uint16_t number)
{
	return float_of((uint32_t)number << 16);
}

static inline uint16_t round_bfloat16(float value)
{
	uint32_t bits = bits_of(value), number = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;

	return (uint16_t)choose((bits & ~SIGN) > INFINITE, NO_BFLOAT16, number);
}

/* --- The same for arrays, and the operations --- */

#define CONVERT(NAME, TYPE)                                                                        \
	static void NAME##s_to_floats(float *to, const void *from, size_t count)                   \
	{                                                                                          \
		const uint16_t *numbers = from;                                                    \
		for (size_t i = 0; i < count; i++)                                                 \
			to[i] = widen_##NAME(numbers[i]);                                          \
	}                                                                                          \
	static void NAME##s_of_floats(void *to, const float *from, size_t count)                   \
	{                                                                                          \
		uint16_t *numbers = to;                                                            \
		for (size_t i = 0; i < count; i++)                                                 \
			numbers[i] = round_##NAME(from[i]);                                        \
	}                                                                                          \
	static void widen_##NAME##s(void *out, const void *low, const void *high, size_t n)        \
	{                                                                                          \
		(void)high;                                                                        \
		NAME##s_to_floats(out, low, n);                                                    \
	}                                                                                          \
	static void round_##NAME##s(void *out, const void *low, const void *high, size_t n)        \
	{                                                                                          \
		(void)high;                                                                        \
		NAME##s_of_floats(out, low, n);                                                    \
	}                                                                                          \
	static void add_##NAME##s(void *out, const void *low, const void *high, size_t n)          \
	{                                                                                          \
		const float *so_far = low;                                                         \
		const uint16_t *with = high;                                                       \
		float *sum = out;                                                                  \
		for (size_t i = 0; i < n; i++)                                                     \
			sum[i] = so_far[i] + widen_##NAME(with[i]);                                \
	}                                                                                          \
	static void times_##NAME##s(void *out, const void *low, const void *high, size_t n)        \
	{                                                                                          \
		const float *so_far = low;                                                         \
		const uint16_t *with = high;                                                       \
		float *product = out;                                                              \
		for (size_t i = 0; i < n; i++)                                                     \
			product[i] = so_far[i] * widen_##NAME(with[i]);                            \
	}                                                                                          \
	const struct narrow narrow_##NAME = {NAME##s_to_floats,                                    \
					     NAME##s_of_floats,                                    \
					     {widen_##NAME##s, add_##NAME##s, round_##NAME##s},    \
					     {widen_##NAME##s, times_##NAME##s, round_##NAME##s}}; \
	API void shmemx_##NAME##_from_float(TYPE *dest, const float *source, size_t nelems)        \
	{                                                                                          \
		NAME##s_of_floats(dest, source, nelems);                                           \
	}                                                                                          \
	API void shmemx_##NAME##_to_float(float *dest, const TYPE *source, size_t nelems)          \
	{                                                                                          \
		NAME##s_to_floats(dest, source, nelems);                                           \
	}                                                                                          \
	_Static_assert(sizeof(TYPE) == sizeof(uint16_t), "16 bits, however the compiler calls them");
FOR_NARROW_TYPES(CONVERT)

#define COMBINE(NAME, OP, EXPRESSION)                                                          \
	void combine_##NAME##_##OP(void *out, const void *low, const void *high, size_t count) \
	{                                                                                      \
		const uint16_t *x = low, *y = high;                                            \
		uint16_t *z = out;                                                             \
		for (size_t i = 0; i < count; i++) {                                           \
			const float a = widen_##NAME(x[i]), b = widen_##NAME(y[i]);            \
			z[i] = EXPRESSION;                                                     \
		}                                                                              \
	}
#define COMBINES(NAME, TYPE)                    \
	COMBINE(NAME, sum, round_##NAME(a + b)) \
	COMBINE(NAME, prod, round_##NAME(a *b)) \
	COMBINE(NAME, max, a > b ? x[i] : y[i]) \
	COMBINE(NAME, min, a < b ? x[i] : y[i])
FOR_NARROW_TYPES(COMBINES)
