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
struct narrow {
	void (*widen)(float *to, const void *from, size_t count);
	void (*round)(void *to, const float *from, size_t count);
};
extern const struct narrow narrow_half, narrow_bfloat16;

#endif
