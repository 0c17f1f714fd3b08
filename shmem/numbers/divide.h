/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_DIVIDE_H
#define SHMEM_DIVIDE_H

#include <shmemx.h>

#include "narrow.h"

/* Elements of a floating-point type; narrow types as their codes say. */
struct numbers {
	shmemx_type_t type;
	size_t count;
};

/* NULL: not a type of 16 bits. */
const struct narrow *narrow_of_type(shmemx_type_t type);

/* dest[i] = source[i] / divisor. dest may be source. */
void numbers_divide(struct numbers numbers, void *dest, const void *source, int divisor);
/*
 * The same as a step of a plan, whose third argument is the divisor, an int. Types of 16 bits have
 * none.
 */
narrow_step *numbers_divider(shmemx_type_t type);

#endif
