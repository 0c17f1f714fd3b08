/* SPDX-License-Identifier: BSD-3-Clause */
/* How two elements of each type are combined by each operation. */
#include "operators.h"

#include "words.h"

#define COMBINE(NAME, TYPE, OP, EXPRESSION)                                                         \
	void combine_##NAME##_##OP(void *out, const void *low, const void *high, size_t count)         \
	{                                                                                           \
		const TYPE *x = low, *y = high;                                                     \
		TYPE *z = out;                                                                      \
		for (size_t i = 0; i < count; i++) {                                                \
			const TYPE a = x[i], b = y[i];                                              \
			z[i] = (TYPE)(EXPRESSION);                                                  \
		}                                                                                   \
	}
#define LOGIC_COMBINE(NAME, TYPE) COMBINE(NAME, TYPE, and, a &b) COMBINE(NAME, TYPE, or, a | b) COMBINE(NAME, TYPE, xor, a ^ b)
#define MINMAX_COMBINE(NAME, TYPE) COMBINE(NAME, TYPE, max, a > b ? a : b) COMBINE(NAME, TYPE, min, a < b ? a : b)
#define SUM_COMBINE(NAME, TYPE) COMBINE(NAME, TYPE, sum, a + b) COMBINE(NAME, TYPE, prod, a *b)
FOR_LOGIC_TYPES(LOGIC_COMBINE)
FOR_MINMAX_TYPES(MINMAX_COMBINE)
FOR_SUM_TYPES(SUM_COMBINE)

FOR_SIGNED_LOGIC(LOGIC_COMBINE)

/* The types of the table by the codes that the user gives. */
enum {
	CODE_float = SHMEMX_FLOAT, CODE_double = SHMEMX_DOUBLE, CODE_longdouble = SHMEMX_LONGDOUBLE, CODE_char = SHMEMX_CHAR,
	CODE_schar = SHMEMX_SCHAR, CODE_short = SHMEMX_SHORT, CODE_int = SHMEMX_INT, CODE_long = SHMEMX_LONG,
	CODE_longlong = SHMEMX_LONGLONG, CODE_uchar = SHMEMX_UCHAR, CODE_ushort = SHMEMX_USHORT, CODE_uint = SHMEMX_UINT,
	CODE_ulong = SHMEMX_ULONG, CODE_ulonglong = SHMEMX_ULONGLONG, CODE_int8 = SHMEMX_INT8, CODE_int16 = SHMEMX_INT16,
	CODE_int32 = SHMEMX_INT32, CODE_int64 = SHMEMX_INT64, CODE_uint8 = SHMEMX_UINT8, CODE_uint16 = SHMEMX_UINT16,
	CODE_uint32 = SHMEMX_UINT32, CODE_uint64 = SHMEMX_UINT64, CODE_size = SHMEMX_SIZE, CODE_ptrdiff = SHMEMX_PTRDIFF,
	CODE_complexd = SHMEMX_COMPLEXD, CODE_complexf = SHMEMX_COMPLEXF, CODES
};

#define SIZE(NAME, TYPE) [CODE_##NAME] = sizeof(TYPE),
#define SUMS(NAME, TYPE) [SHMEMX_SUM][CODE_##NAME] = combine_##NAME##_sum, [SHMEMX_PROD][CODE_##NAME] = combine_##NAME##_prod,
#define EXTREMES(NAME, TYPE) [SHMEMX_MIN][CODE_##NAME] = combine_##NAME##_min, [SHMEMX_MAX][CODE_##NAME] = combine_##NAME##_max,
#define LOGICS(NAME, TYPE) \
	[SHMEMX_AND][CODE_##NAME] = combine_##NAME##_and, [SHMEMX_OR][CODE_##NAME] = combine_##NAME##_or, [SHMEMX_XOR][CODE_##NAME] = combine_##NAME##_xor,
static const size_t sizes[CODES] = {FOR_SUM_TYPES(SIZE)};
static combine_t *const combines[SHMEMX_XOR + 1][CODES] = {FOR_SUM_TYPES(SUMS) FOR_MINMAX_TYPES(EXTREMES) FOR_LOGIC_TYPES(LOGICS)};

combine_t *set_combine(shmemx_op_t operation, shmemx_type_t type, size_t *size)
{
	if ((unsigned)type >= CODES || (unsigned)operation > SHMEMX_XOR)
		return NULL;
	*size = sizes[type];
	return combines[operation][type];
}

bool set_find_method(combine_t *combine, struct words_method *method)
{
	for (int op = 0; op <= SHMEMX_XOR; op++)
		for (int type = 0; type < CODES; type++)
			if (combines[op][type] == combine)
				return words_find_method((shmemx_op_t)op, (shmemx_type_t)type, sizes[type], method);
	return false;
}
