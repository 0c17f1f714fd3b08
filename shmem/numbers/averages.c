/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of shmemx.h: averages, and those of 16-bit numbers. An average is a sum that each PE
 * divides in its own dest, when nobody else writes there any more.
 */
#include "shmem/gpu/gpu.h"
#include "shmem/operators.h"
#include "shmem/reduce.h"

#define DIVIDED_BYTES 65536UL /* at a time, of memory of a GPU */

#define DIVIDE(NAME, TYPE)                                                                                           \
	static void divide_##NAME(TYPE *numbers, size_t count, TYPE divisor)                                         \
	{                                                                                                            \
		for (size_t i = 0; i < count; i++)                                                                   \
			numbers[i] /= divisor;                                                                       \
	}                                                                                                            \
	static void divide_##NAME##_on_device(TYPE *numbers, size_t count, TYPE divisor)                             \
	{                                                                                                            \
		TYPE some[DIVIDED_BYTES / sizeof(TYPE)];                                                             \
		for (size_t at = 0, now; at < count; at += now) {                                                    \
			now = count - at < DIVIDED_BYTES / sizeof(TYPE) ? count - at : DIVIDED_BYTES / sizeof(TYPE); \
			comms.device->copy(some, numbers + at, now * sizeof(TYPE));                                  \
			divide_##NAME(some, now, divisor);                                                           \
			comms.device->copy(numbers + at, some, now * sizeof(TYPE));                                  \
		}                                                                                                    \
	}
FOR_AVG_TYPES(DIVIDE)

#define AVERAGE(NAME, TYPE)                                                                                   \
	API int shmemx_##NAME##_avg_reduce(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce) \
	{                                                                                                     \
		COMMS_CALL_OR(1, __func__, nreduce * sizeof(TYPE), COMMS_NOBODY);                             \
		struct set set = set_of_team(team, __func__);                                                 \
		any_reduce(&set, dest, source, nreduce, sizeof(TYPE), combine_##NAME##_sum);                  \
		if (rte_is_broken())                                                                          \
			return 1;                                                                             \
		if (comms_is_on_device(dest))                                                                 \
			divide_##NAME##_on_device(dest, nreduce, (TYPE)set.group->size);                      \
		else                                                                                          \
			divide_##NAME(dest, nreduce, (TYPE)set.group->size);                                  \
		return rte_is_broken();                                                                       \
	}
FOR_AVG_TYPES(AVERAGE)

#define REDUCE(NAME, TYPE, OP, CALL)                                                                             \
	API int shmemx_##NAME##_##OP##_reduce(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce) \
	{                                                                                                        \
		COMMS_CALL_OR(1, __func__, nreduce * sizeof(TYPE), COMMS_NOBODY);                                \
		struct set set = set_of_team(team, __func__);                                                    \
		CALL;                                                                                            \
		return rte_is_broken();                                                                          \
	}
#define ADDED(NAME, OP, WIDE, DIVISOR)                 \
	any_reduce_narrow(&set, dest, source, nreduce, \
			  &(struct reduce_narrow){&narrow_##NAME, combine_##NAME##_##OP, WIDE, DIVISOR})
#define COMPARED(NAME, TYPE, OP) any_reduce(&set, dest, source, nreduce, sizeof(TYPE), combine_##NAME##_##OP)
#define NARROW(NAME, TYPE)                                                            \
	REDUCE(NAME, TYPE, sum, ADDED(NAME, sum, combine_float_sum, 1))               \
	REDUCE(NAME, TYPE, prod, ADDED(NAME, prod, combine_float_prod, 1))            \
	REDUCE(NAME, TYPE, avg, ADDED(NAME, sum, combine_float_sum, set.group->size)) \
	REDUCE(NAME, TYPE, min, COMPARED(NAME, TYPE, min))                            \
	REDUCE(NAME, TYPE, max, COMPARED(NAME, TYPE, max))
FOR_NARROW_TYPES(NARROW)
