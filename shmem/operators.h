/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_OPERATORS_H
#define SHMEM_OPERATORS_H

#include "collectives.h"
#include "words.h"

/* The types of the table by the user's codes. */
#define CODE(NAME, CODE) CODE_##NAME = SHMEMX_##CODE,
enum { FOR_CODES(CODE) TYPE_CODES };
#undef CODE

/*
 * out[i] = low[i] op high[i], as combine_int_sum and so on: for the types of OpenSHMEM 1.6, and for
 * signed types of which only old names have bitwise operations.
 */
#define DECLARE_LOGIC(NAME, TYPE) combine_t combine_##NAME##_and, combine_##NAME##_or, combine_##NAME##_xor;
#define DECLARE_MINMAX(NAME, TYPE) combine_t combine_##NAME##_max, combine_##NAME##_min;
#define DECLARE_SUM(NAME, TYPE) combine_t combine_##NAME##_sum, combine_##NAME##_prod;
#define FOR_SIGNED_LOGIC(X) X(short, short) X(int, int) X(long, long) X(longlong, long long)
FOR_LOGIC_TYPES(DECLARE_LOGIC)
FOR_SIGNED_LOGIC(DECLARE_LOGIC)
FOR_MINMAX_TYPES(DECLARE_MINMAX)
FOR_SUM_TYPES(DECLARE_SUM)
/* In numbers/narrow.c */
FOR_NARROW_TYPES(DECLARE_MINMAX)
FOR_NARROW_TYPES(DECLARE_SUM)

/* The operation of a function above, and its type. Returns false for other functions. */
bool set_find_operation(combine_t *combine, shmemx_op_t *operation, enum words_number *number, size_t *size);

#endif
