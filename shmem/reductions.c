/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions and scans for each type and operation: how two elements are combined, and the routines. reduce.c and scan.c do the work. */
#include "collectives.h"
#include "words.h"

#define COMBINE(NAME, TYPE, OP, EXPRESSION)                                                         \
	static void NAME##_##OP(void *out, const void *low, const void *high, size_t count)         \
	{                                                                                           \
		const TYPE *x = low, *y = high;                                                     \
		TYPE *z = out;                                                                      \
		for (size_t i = 0; i < count; i++) {                                                \
			const TYPE a = x[i], b = y[i];                                              \
			z[i] = (TYPE)(EXPRESSION);                                                  \
		}                                                                                   \
	}
#define REDUCE(NAME, TYPE, OP)                                                                                   \
	API int pshmem_##NAME##_##OP##_reduce(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce) \
	{                                                                                                        \
		COMMS_CALL(__func__, nreduce * sizeof(TYPE), COMMS_NOBODY);                              \
		struct set set = set_of_team(team, __func__);                                                    \
		set_reduce(&set, dest, source, nreduce, sizeof(TYPE), NAME##_##OP);                              \
		return 0;                                                                                        \
	}                                                                                                        \
	PROFILED(shmem_##NAME##_##OP##_reduce)

#define LOGIC_COMBINE(NAME, TYPE) COMBINE(NAME, TYPE, and, a &b) COMBINE(NAME, TYPE, or, a | b) COMBINE(NAME, TYPE, xor, a ^ b)
#define MINMAX_COMBINE(NAME, TYPE) COMBINE(NAME, TYPE, max, a > b ? a : b) COMBINE(NAME, TYPE, min, a < b ? a : b)
#define SUM_COMBINE(NAME, TYPE) COMBINE(NAME, TYPE, sum, a + b) COMBINE(NAME, TYPE, prod, a *b)
FOR_LOGIC_TYPES(LOGIC_COMBINE)
FOR_MINMAX_TYPES(MINMAX_COMBINE)
FOR_SUM_TYPES(SUM_COMBINE)

#define LOGIC(NAME, TYPE) REDUCE(NAME, TYPE, and) REDUCE(NAME, TYPE, or) REDUCE(NAME, TYPE, xor)
#define MINMAX(NAME, TYPE) REDUCE(NAME, TYPE, max) REDUCE(NAME, TYPE, min)
#define SUM(NAME, TYPE) REDUCE(NAME, TYPE, sum) REDUCE(NAME, TYPE, prod)
FOR_LOGIC_TYPES(LOGIC)
FOR_MINMAX_TYPES(MINMAX)
FOR_SUM_TYPES(SUM)

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
#define SUMS(NAME, TYPE) [SHMEMX_SUM][CODE_##NAME] = NAME##_sum, [SHMEMX_PROD][CODE_##NAME] = NAME##_prod,
#define EXTREMES(NAME, TYPE) [SHMEMX_MIN][CODE_##NAME] = NAME##_min, [SHMEMX_MAX][CODE_##NAME] = NAME##_max,
#define LOGICS(NAME, TYPE) \
	[SHMEMX_AND][CODE_##NAME] = NAME##_and, [SHMEMX_OR][CODE_##NAME] = NAME##_or, [SHMEMX_XOR][CODE_##NAME] = NAME##_xor,
static const size_t sizes[CODES] = {FOR_SUM_TYPES(SIZE)};
static combine_t *const combines[SHMEMX_XOR + 1][CODES] = {FOR_SUM_TYPES(SUMS) FOR_MINMAX_TYPES(EXTREMES) FOR_LOGIC_TYPES(LOGICS)};

combine_t *set_combine(shmemx_op_t operation, shmemx_type_t type, size_t *size)
{
	if ((unsigned)type >= CODES || (unsigned)operation > SHMEMX_XOR)
		return NULL;
	*size = sizes[type];
	return combines[operation][type];
}

bool set_find_way(combine_t *combine, struct words_way *way)
{
	for (int op = 0; op <= SHMEMX_XOR; op++)
		for (int type = 0; type < CODES; type++)
			if (combines[op][type] == combine)
				return words_find_way((shmemx_op_t)op, (shmemx_type_t)type, sizes[type], way);
	return false;
}

#define SCANS(NAME, TYPE)                                                                                            \
	API int pshmem_##NAME##_sum_inscan(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)         \
	{                                                                                                            \
		COMMS_CALL(__func__, nelems * sizeof(TYPE), COMMS_NOBODY);                                            \
		struct set set = set_of_team(team, __func__);                                                        \
		set_scan(&set, dest, source, nelems, sizeof(TYPE), NAME##_sum, true);                                \
		return 0;                                                                                            \
	}                                                                                                            \
	API int pshmem_##NAME##_sum_exscan(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)         \
	{                                                                                                            \
		COMMS_CALL(__func__, nelems * sizeof(TYPE), COMMS_NOBODY);                                            \
		struct set set = set_of_team(team, __func__);                                                        \
		set_scan(&set, dest, source, nelems, sizeof(TYPE), NAME##_sum, false);                               \
		return 0;                                                                                            \
	}                                                                                                            \
	PROFILED(shmem_##NAME##_sum_inscan)                                                                          \
	PROFILED(shmem_##NAME##_sum_exscan)
FOR_SUM_TYPES(SCANS)

/* The deprecated interface has its own, older choice of types. */
#define SIGNED_LOGIC(X) X(short, short) X(int, int) X(long, long) X(longlong, long long)
SIGNED_LOGIC(LOGIC_COMBINE)

#define TO_ALL(NAME, TYPE, OP)                                                                                       \
	API void pshmem_##NAME##_##OP##_to_all(TYPE *dest, const TYPE *source, int nreduce, int PE_start,            \
					       int logPE_stride, int PE_size, TYPE *pWrk, long *pSync)               \
	{                                                                                                            \
		COMMS_CALL(__func__, nreduce > 0 ? (size_t)nreduce * sizeof(TYPE) : 0, COMMS_NOBODY);    \
		struct set set = set_of_active(PE_start, logPE_stride, PE_size, pSync, __func__);                    \
		(void)pWrk;                                                                                          \
		if (!set.group)                                                                                      \
			return;                                                                                      \
		struct psync_use use_ __attribute__((unused, cleanup(set_psync_leave))) = set_psync_enter(&set, false); \
		set_reduce(&set, dest, source, nreduce > 0 ? (size_t)nreduce : 0, sizeof(TYPE), NAME##_##OP);        \
	}                                                                                                            \
	PROFILED(shmem_##NAME##_##OP##_to_all)
#define LOGIC_TO_ALL(NAME, TYPE) TO_ALL(NAME, TYPE, and) TO_ALL(NAME, TYPE, or) TO_ALL(NAME, TYPE, xor)
#define MINMAX_TO_ALL(NAME, TYPE) TO_ALL(NAME, TYPE, max) TO_ALL(NAME, TYPE, min)
#define SUM_TO_ALL(NAME, TYPE) TO_ALL(NAME, TYPE, sum) TO_ALL(NAME, TYPE, prod)
FOR_OLD_LOGIC_TYPES(LOGIC_TO_ALL)
FOR_OLD_MINMAX_TYPES(MINMAX_TO_ALL)
FOR_OLD_SUM_TYPES(SUM_TO_ALL)
