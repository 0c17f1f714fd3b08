/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking collectives: the API routines. requests.c has how they work. */
#include "requests.h"

#define START(TEAM, KIND, ...) \
	nonblocking_start(&(struct nonblocking){.team = TEAM, .kind = &KIND, .key = {__VA_ARGS__}}, __func__, request)

static int start_alltoalls(shmem_team_t team, void *dest, const void *source, struct set_strided elements,
			   const char *routine, shmemx_req_h *request)
{
	bool plain = elements.dst == 1 && elements.sst == 1;
	struct plan_order key = {.dest = dest, .source = source, .bytes = elements.count * elements.size};

	if (!plain)
		key.strided = elements;
	return nonblocking_start(&(struct nonblocking){.team = team,
						       .kind = plain ? &plan_alltoall : &plan_alltoalls,
						       .key = key},
				 routine, request);
}

static int start_collect(shmem_team_t team, void *dest, const void *source, size_t bytes, const char *routine,
			 shmemx_req_h *request)
{
	struct set set = set_of_team(team, routine);
	struct moved_blocks blocks = {.kind = MOVE_COLLECT, .dest = dest, .source = source};

	blocks.to = vector_of_equal(&set, 0, 0, -1);
	blocks.from = vector_of_equal(&set, bytes, 0, -1);
	return nonblocking_move(team, &blocks, routine, request);
}

/* A type's name goes before, mem behind. */
#define MOVE(BEFORE, AFTER, TYPE, SIZE)                                                                                \
	API int shmemx_##BEFORE##broadcast##AFTER##_nb(shmem_team_t team, TYPE *dest, const TYPE *source,              \
						       size_t nelems, int PE_root, shmemx_req_h *request)              \
	{                                                                                                              \
		COMMS_CALL_OR(1, __func__, nelems *(SIZE), COMMS_NOBODY);                                              \
		return START(team, plan_broadcast, .dest = dest, .source = source, .bytes = nelems * (SIZE),           \
			     .root = PE_root);                                                                         \
	}                                                                                                              \
	API int shmemx_##BEFORE##fcollect##AFTER##_nb(shmem_team_t team, TYPE *dest, const TYPE *source,               \
						      size_t nelems, shmemx_req_h *request)                            \
	{                                                                                                              \
		COMMS_CALL_OR(1, __func__, nelems *(SIZE), COMMS_NOBODY);                                              \
		return START(team, plan_allgather, .dest = dest, .source = source, .bytes = nelems * (SIZE));          \
	}                                                                                                              \
	API int shmemx_##BEFORE##alltoall##AFTER##_nb(shmem_team_t team, TYPE *dest, const TYPE *source,               \
						      size_t nelems, shmemx_req_h *request)                            \
	{                                                                                                              \
		COMMS_CALL_OR(1, __func__, nelems *(SIZE), COMMS_NOBODY);                                              \
		return START(team, plan_alltoall, .dest = dest, .source = source, .bytes = nelems * (SIZE));           \
	}                                                                                                              \
	API int shmemx_##BEFORE##alltoalls##AFTER##_nb(shmem_team_t team, TYPE *dest, const TYPE *source,              \
						       ptrdiff_t dst, ptrdiff_t sst, size_t nelems,                    \
						       shmemx_req_h *request)                                          \
	{                                                                                                              \
		COMMS_CALL_OR(1, __func__, nelems *(SIZE), COMMS_NOBODY);                                              \
		return start_alltoalls(team, dest, source, (struct set_strided){dst, sst, SIZE, nelems}, __func__,     \
				       request);                                                                       \
	}                                                                                                              \
	API int shmemx_##BEFORE##collect##AFTER##_nb(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, \
						     shmemx_req_h *request)                                            \
	{                                                                                                              \
		COMMS_CALL_OR(1, __func__, nelems *(SIZE), COMMS_NOBODY);                                              \
		return start_collect(team, dest, source, nelems * (SIZE), __func__, request);                          \
	}
#define MOVE_TYPE(NAME, TYPE) MOVE(NAME##_, , TYPE, sizeof(TYPE))
FOR_RMA_TYPES(MOVE_TYPE)
MOVE(, mem, void, (size_t)1)

static int start_reduction(shmem_team_t team, struct plan_order key, const char *routine, shmemx_req_h *request)
{
	key.root = -1;
	key.bytes = key.count * set_type_size((shmemx_type_t)key.type);
	return nonblocking_start(&(struct nonblocking){.team = team, .kind = &plan_reduction, .key = key}, routine,
				 request);
}

#define CODE(NAME, CODE) code_##NAME = SHMEMX_##CODE,
enum { FOR_CODES(CODE) };
#undef CODE

#define REDUCE(NAME, TYPE, OP, CODE)                                                                                \
	API int shmemx_##NAME##_##OP##_reduce_nb(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nreduce, \
						 shmemx_req_h *request)                                             \
	{                                                                                                           \
		COMMS_CALL_OR(1, __func__, nreduce * sizeof(TYPE), COMMS_NOBODY);                                   \
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

#define SCANS(NAME, TYPE)        \
	SCAN(NAME, TYPE, inscan) \
	SCAN(NAME, TYPE, exscan)
#define SCAN(NAME, TYPE, KIND)                                                                                    \
	API int shmemx_##NAME##_sum_##KIND##_nb(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, \
						shmemx_req_h *request)                                            \
	{                                                                                                         \
		COMMS_CALL_OR(1, __func__, nelems * sizeof(TYPE), COMMS_NOBODY);                                  \
		return START(team, plan_##KIND, .dest = dest, .source = source, .bytes = nelems * sizeof(TYPE),   \
			     .count = nelems, .op = SHMEMX_SUM, .type = code_##NAME);                             \
	}
FOR_SUM_TYPES(SCANS)

/* --- With the type as an argument --- */

API int shmemx_reduce_scatter_nb(shmem_team_t team, void *dest, const void *source, size_t nreduce, shmemx_type_t type,
				 shmemx_op_t op, shmemx_req_h *request)
{
	COMMS_CALL_OR(1, __func__, nreduce * set_type_size(type), COMMS_NOBODY);
	struct plan_order key =
		{.dest = dest, .source = source, .count = nreduce, .root = -1, .op = (int)op, .type = (int)type};
	size_t size;

	plan_operation(&key, &size, __func__);
	key.bytes = nreduce * size;
	return nonblocking_start(&(struct nonblocking){.team = team, .kind = &plan_reduce_scatter, .key = key},
				 __func__, request);
}

API int shmemx_gather_nb(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type,
			 int PE_root, shmemx_req_h *request)
{
	COMMS_CALL_OR(1, __func__, nelems * set_type_size(type), COMMS_NOBODY);
	struct set set = set_of_team(team, __func__);
	struct moved_blocks blocks = {MOVE_ROOTED, dest, source, .type = type, .root = PE_root};
	struct vectors_rooted rooted = vectors_gather(&set, nelems, type, PE_root);

	blocks.to = rooted.to;
	blocks.from = rooted.from;
	return nonblocking_move(team, &blocks, __func__, request);
}

API int shmemx_scatter_nb(shmem_team_t team, void *dest, const void *source, size_t nelems, shmemx_type_t type,
			  int PE_root, shmemx_req_h *request)
{
	COMMS_CALL_OR(1, __func__, nelems * set_type_size(type), COMMS_NOBODY);
	struct set set = set_of_team(team, __func__);
	struct moved_blocks blocks = {MOVE_ROOTED, dest, source, .type = type, .root = PE_root};
	struct vectors_rooted rooted = vectors_scatter(&set, nelems, type, PE_root);

	blocks.to = rooted.to;
	blocks.from = rooted.from;
	return nonblocking_move(team, &blocks, __func__, request);
}

API int shmemx_allgatherv_nb(shmem_team_t team, void *dest, const void *source, const size_t *counts,
			     const size_t *displs, shmemx_type_t type, shmemx_req_h *request)
{
	COMMS_CALL_OR(1, __func__, vectors_counted(team, counts, type, false), COMMS_NOBODY);
	struct set set = set_of_team(team, __func__);
	struct moved_blocks blocks = {MOVE_ALLGATHERV, dest, source, .type = type};

	blocks.to = vector_make(&set, &(struct vector_arguments){counts, displs, type, "dest"});
	blocks.from = vector_of_equal(&set, blocks.to.bytes[set.group->me], 0, -1);
	return nonblocking_move(team, &blocks, __func__, request);
}

API int shmemx_alltoallv_nb(shmem_team_t team, void *dest, const void *source, const size_t *dest_counts,
			    const size_t *dest_displs, const size_t *source_counts, const size_t *source_displs,
			    shmemx_type_t type, shmemx_req_h *request)
{
	COMMS_CALL_OR(1, __func__, vectors_counted(team, source_counts, type, true), COMMS_NOBODY);
	struct set set = set_of_team(team, __func__);
	struct moved_blocks blocks = {MOVE_ALLTOALLV, dest, source, .type = type};

	blocks.to = vector_make(&set, &(struct vector_arguments){dest_counts, dest_displs, type, "dest"});
	blocks.from = vector_make(&set, &(struct vector_arguments){source_counts, source_displs, type, "source"});
	return nonblocking_move(team, &blocks, __func__, request);
}

/* --- Without data --- */

API int shmemx_sync_nb(shmem_team_t team, shmemx_req_h *request)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	return nonblocking_sync(team, __func__, request);
}

API int shmemx_sync_all_nb(shmemx_req_h *request)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	return nonblocking_sync(SHMEM_TEAM_WORLD, __func__, request);
}

/* What this PE has put is complete before it takes part. */
API int shmemx_barrier_all_nb(shmemx_req_h *request)
{
	COMMS_CALL_OR(1, __func__, 0, COMMS_NOBODY);
	comms_complete();
	return nonblocking_sync(SHMEM_TEAM_WORLD, __func__, request);
}
