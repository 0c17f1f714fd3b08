/* SPDX-License-Identifier: BSD-3-Clause */
/* How each operation combines two elements of each type. */
#include "operators.h"

#define COMBINE(NAME, TYPE, OP, EXPRESSION)                                                    \
	void combine_##NAME##_##OP(void *out, const void *low, const void *high, size_t count) \
	{                                                                                      \
		const TYPE *x = low, *y = high;                                                \
		TYPE *z = out;                                                                 \
		for (size_t i = 0; i < count; i++) {                                           \
			const TYPE a = x[i], b = y[i];                                         \
			z[i] = (TYPE)(EXPRESSION);                                             \
		}                                                                              \
	}
#define LOGIC_COMBINE(NAME, TYPE) \
	COMBINE(NAME, TYPE, and, a &b) COMBINE(NAME, TYPE, or, a | b) COMBINE(NAME, TYPE, xor, a ^ b)
#define MINMAX_COMBINE(NAME, TYPE) COMBINE(NAME, TYPE, max, a > b ? a : b) COMBINE(NAME, TYPE, min, a < b ? a : b)
#define SUM_COMBINE(NAME, TYPE) COMBINE(NAME, TYPE, sum, a + b) COMBINE(NAME, TYPE, prod, a *b)
FOR_LOGIC_TYPES(LOGIC_COMBINE)
FOR_MINMAX_TYPES(MINMAX_COMBINE)
FOR_SUM_TYPES(SUM_COMBINE)

FOR_SIGNED_LOGIC(LOGIC_COMBINE)

/* Complex numbers have no order, and no row here. */
#define NUMBER(NAME, TYPE) [CODE_##NAME] = WORDS_NUMBER_OF(TYPE),
static const enum words_number numbers[TYPE_CODES] = {FOR_MINMAX_TYPES(NUMBER)};

#define SIZE(NAME, TYPE) [CODE_##NAME] = sizeof(TYPE),
#define SUMS(NAME, TYPE) \
	[SHMEMX_SUM][CODE_##NAME] = combine_##NAME##_sum, [SHMEMX_PROD][CODE_##NAME] = combine_##NAME##_prod,
#define EXTREMES(NAME, TYPE) \
	[SHMEMX_MIN][CODE_##NAME] = combine_##NAME##_min, [SHMEMX_MAX][CODE_##NAME] = combine_##NAME##_max,
#define LOGICS(NAME, TYPE)                                                                                \
	[SHMEMX_AND][CODE_##NAME] = combine_##NAME##_and, [SHMEMX_OR][CODE_##NAME] = combine_##NAME##_or, \
	[SHMEMX_XOR][CODE_##NAME] = combine_##NAME##_xor,
/* The sum is what a plan of averages combines with; it divides itself. */
#define AVERAGES(NAME, TYPE) [SHMEMX_AVG][CODE_##NAME] = combine_##NAME##_sum,
#define NARROWS(NAME, TYPE) SUMS(NAME, TYPE) EXTREMES(NAME, TYPE) AVERAGES(NAME, TYPE)
static const size_t sizes[TYPE_CODES] = {FOR_SUM_TYPES(SIZE) FOR_NARROW_TYPES(SIZE)};
static combine_t *const combines[SHMEMX_AVG + 1][TYPE_CODES] = {FOR_SUM_TYPES(SUMS) FOR_MINMAX_TYPES(
	EXTREMES) FOR_LOGIC_TYPES(LOGICS) FOR_AVG_TYPES(AVERAGES) FOR_NARROW_TYPES(NARROWS)};

combine_t *set_combine(shmemx_op_t operation, shmemx_type_t type, size_t *size)
{
	if ((unsigned)type >= TYPE_CODES || (unsigned)operation > SHMEMX_AVG)
		return NULL;
	*size = sizes[type];
	return combines[operation][type];
}

size_t set_type_size(shmemx_type_t type)
{
	return (unsigned)type < TYPE_CODES ? sizes[type] : 0;
}

bool set_find_operation(combine_t *combine, shmemx_op_t *operation, enum words_number *number, size_t *size)
{
	for (int op = 0; op <= SHMEMX_XOR; op++)
		for (int type = 0; type < TYPE_CODES; type++)
			if (combines[op][type] == combine) {
				*operation = (shmemx_op_t)op;
				*number = numbers[type];
				*size = sizes[type];
				return true;
			}
	return false;
}

bool set_find_method(combine_t *combine, struct words_method *method)
{
	enum words_number number;
	shmemx_op_t operation;
	size_t size;

	return set_find_operation(combine, &operation, &number, &size) &&
	       words_find_method(operation, number, size, method);
}
