/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_NARROW_H
#define SHMEM_NARROW_H

#include <stddef.h>

/*
 * Floating-point numbers of 16 bits: IEEE half, and bfloat16, which is the upper half of a float.
 * Every half and every bfloat16 is a float, so they are computed with as floats, and rounded to the
 * nearest, ties to even, when they become 16 bits again. A result that is no number is always the
 * same one, so that all PEs get the same bits whatever the processor makes of NaNs.
 */
typedef void narrow_step(void *out, const void *low, const void *high, size_t count);
struct narrow {
	void (*widen)(float *to, const void *from, size_t count);
	void (*round)(void *to, const float *from, size_t count);
	/* The steps of a sum or a product of many in floats. */
	struct narrow_steps {
		narrow_step *widen, *combine, *round;
	} sum, product;
};
extern const struct narrow narrow_half, narrow_bfloat16;

#endif
