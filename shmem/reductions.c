/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions and scans for each type and operation: the API routines. operators.c has the
 * operations; reduce.c and scan.c the algorithms.
 */
#include "collectives.h"
#include "gpu/gpu.h"
#include "operators.h"

#define REDUCE(NAME, TYPE, OP)                                                                                   \
	API int pshmem_##NAME##_##OP##_reduce(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce) \
	{                                                                                                        \
		COMMS_CALL_OR(1, __func__, nreduce * sizeof(TYPE), COMMS_NOBODY);                                \
		struct set set = set_of_team(team, __func__);                                                    \
		any_reduce(&set, dest, source, nreduce, sizeof(TYPE), combine_##NAME##_##OP);                    \
		return rte_is_broken();                                                                          \
	}                                                                                                        \
	PROFILED(shmem_##NAME##_##OP##_reduce)

#define LOGIC(NAME, TYPE) REDUCE(NAME, TYPE, and) REDUCE(NAME, TYPE, or) REDUCE(NAME, TYPE, xor)
#define MINMAX(NAME, TYPE) REDUCE(NAME, TYPE, max) REDUCE(NAME, TYPE, min)
#define SUM(NAME, TYPE) REDUCE(NAME, TYPE, sum) REDUCE(NAME, TYPE, prod)
FOR_LOGIC_TYPES(LOGIC)
FOR_MINMAX_TYPES(MINMAX)
FOR_SUM_TYPES(SUM)

#define SCAN(NAME, TYPE, INCLUSIVE) \
	((struct scan){&set, (char *)dest, (const char *)source, nelems, sizeof(TYPE), combine_##NAME##_sum, INCLUSIVE})
#define SCANS(NAME, TYPE)                                                                                    \
	API int pshmem_##NAME##_sum_inscan(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems) \
	{                                                                                                    \
		COMMS_CALL_OR(1, __func__, nelems * sizeof(TYPE), COMMS_NOBODY);                             \
		struct set set = set_of_team(team, __func__);                                                \
		any_scan(&SCAN(NAME, TYPE, true));                                                           \
		return rte_is_broken();                                                                      \
	}                                                                                                    \
	API int pshmem_##NAME##_sum_exscan(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems) \
	{                                                                                                    \
		COMMS_CALL_OR(1, __func__, nelems * sizeof(TYPE), COMMS_NOBODY);                             \
		struct set set = set_of_team(team, __func__);                                                \
		any_scan(&SCAN(NAME, TYPE, false));                                                          \
		return rte_is_broken();                                                                      \
	}                                                                                                    \
	PROFILED(shmem_##NAME##_sum_inscan)                                                                  \
	PROFILED(shmem_##NAME##_sum_exscan)
FOR_SUM_TYPES(SCANS)

/* The deprecated interface has its own, older choice of types. */
#define TO_ALL(NAME, TYPE, OP)                                                                            \
	API void pshmem_##NAME##_##OP##_to_all(TYPE *dest, const TYPE *source, int nreduce, int PE_start, \
					       int logPE_stride, int PE_size, TYPE *pWrk, long *pSync)    \
	{                                                                                                 \
		COMMS_CALL(__func__, nreduce > 0 ? (size_t)nreduce * sizeof(TYPE) : 0, COMMS_NOBODY);     \
		struct set set = set_of_active(PE_start, logPE_stride, PE_size, pSync, __func__);         \
		(void)pWrk;                                                                               \
		if (!set.group)                                                                           \
			return;                                                                           \
		struct psync_use use_ __attribute__((unused, cleanup(set_psync_leave))) =                 \
			set_psync_enter(&set, false);                                                     \
		any_reduce(&set, dest, source, nreduce > 0 ? (size_t)nreduce : 0, sizeof(TYPE),           \
			   combine_##NAME##_##OP);                                                        \
	}                                                                                                 \
	PROFILED(shmem_##NAME##_##OP##_to_all)
#define LOGIC_TO_ALL(NAME, TYPE) TO_ALL(NAME, TYPE, and) TO_ALL(NAME, TYPE, or) TO_ALL(NAME, TYPE, xor)
#define MINMAX_TO_ALL(NAME, TYPE) TO_ALL(NAME, TYPE, max) TO_ALL(NAME, TYPE, min)
#define SUM_TO_ALL(NAME, TYPE) TO_ALL(NAME, TYPE, sum) TO_ALL(NAME, TYPE, prod)
FOR_OLD_LOGIC_TYPES(LOGIC_TO_ALL)
FOR_OLD_MINMAX_TYPES(MINMAX_TO_ALL)
FOR_OLD_SUM_TYPES(SUM_TO_ALL)
