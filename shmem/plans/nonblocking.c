/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives: the API routines. requests.c has how they work. */
#include "requests.h"

#define START(TEAM, KIND, ...) nonblocking_start(&(struct nonblocking){TEAM, &KIND, {__VA_ARGS__}}, __func__, request)

/* A type's name goes before, mem behind. */
#define MOVE(BEFORE, AFTER, TYPE, SIZE)                                                                       \
	API int shmemx_##BEFORE##broadcast##AFTER##_nb(shmem_team_t team, TYPE *dest, const TYPE *source,     \
						       size_t nelems, int PE_root, shmemx_req_h *request)     \
	{                                                                                                     \
		COMMS_CALL(__func__, nelems *(SIZE), COMMS_NOBODY);                                           \
		return START(team, plan_broadcast, .dest = dest, .source = source, .bytes = nelems * (SIZE),  \
			     .root = PE_root);                                                                \
	}                                                                                                     \
	API int shmemx_##BEFORE##fcollect##AFTER##_nb(shmem_team_t team, TYPE *dest, const TYPE *source,      \
						      size_t nelems, shmemx_req_h *request)                   \
	{                                                                                                     \
		COMMS_CALL(__func__, nelems *(SIZE), COMMS_NOBODY);                                           \
		return START(team, plan_allgather, .dest = dest, .source = source, .bytes = nelems * (SIZE)); \
	}                                                                                                     \
	API int shmemx_##BEFORE##alltoall##AFTER##_nb(shmem_team_t team, TYPE *dest, const TYPE *source,      \
						      size_t nelems, shmemx_req_h *request)                   \
	{                                                                                                     \
		COMMS_CALL(__func__, nelems *(SIZE), COMMS_NOBODY);                                           \
		return START(team, plan_alltoall, .dest = dest, .source = source, .bytes = nelems * (SIZE));  \
	}
#define MOVE_TYPE(NAME, TYPE) MOVE(NAME##_, , TYPE, sizeof(TYPE))
FOR_RMA_TYPES(MOVE_TYPE)
MOVE(, mem, void, (size_t)1)

static int start_reduction(shmem_team_t team, struct plan_order key, const char *routine, shmemx_req_h *request)
{
	key.root = -1;
	key.bytes = key.count * set_type_size((shmemx_type_t)key.type);
	return nonblocking_start(&(struct nonblocking){team, &plan_reduction, key}, routine, request);
}

#define CODE(NAME, CODE) code_##NAME = SHMEMX_##CODE,
enum { FOR_CODES(CODE) };
#undef CODE

#define REDUCE(NAME, TYPE, OP, CODE)                                                                                \
	API int shmemx_##NAME##_##OP##_reduce_nb(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce, \
						 shmemx_req_h *request)                                             \
	{                                                                                                           \
		COMMS_CALL(__func__, nreduce * sizeof(TYPE), COMMS_NOBODY);                                         \
		return start_reduction(team,                                                                        \
				       (struct plan_order){.dest = dest,                                            \
							   .source = source,                                        \
							   .count = nreduce,                                        \
							   .op = CODE,                                              \
							   .type = code_##NAME},                                    \
				       __func__, request);                                                          \
	}
#define LOGIC(NAME, TYPE)                   \
	REDUCE(NAME, TYPE, and, SHMEMX_AND) \
	REDUCE(NAME, TYPE, or, SHMEMX_OR) REDUCE(NAME, TYPE, xor, SHMEMX_XOR)
#define EXTREMES(NAME, TYPE) REDUCE(NAME, TYPE, min, SHMEMX_MIN) REDUCE(NAME, TYPE, max, SHMEMX_MAX)
#define SUMS(NAME, TYPE) REDUCE(NAME, TYPE, sum, SHMEMX_SUM) REDUCE(NAME, TYPE, prod, SHMEMX_PROD)
#define AVERAGE(NAME, TYPE) REDUCE(NAME, TYPE, avg, SHMEMX_AVG)
FOR_LOGIC_TYPES(LOGIC)
FOR_MINMAX_TYPES(EXTREMES)
FOR_NARROW_TYPES(EXTREMES)
FOR_SUM_TYPES(SUMS)
FOR_NARROW_TYPES(SUMS)
FOR_AVG_TYPES(AVERAGE)
FOR_NARROW_TYPES(AVERAGE)

API int shmemx_sync_nb(shmem_team_t team, shmemx_req_h *request)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	return nonblocking_sync(team, __func__, request);
}

API int shmemx_sync_all_nb(shmemx_req_h *request)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	return nonblocking_sync(SHMEM_TEAM_WORLD, __func__, request);
}

/* What this PE has put is complete before it takes part. */
API int shmemx_barrier_all_nb(shmemx_req_h *request)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	comms_complete();
	return nonblocking_sync(SHMEM_TEAM_WORLD, __func__, request);
}
