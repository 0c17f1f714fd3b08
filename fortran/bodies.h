/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body of each generic name for arrays. fortran/generics.awk makes a line BODY_name(symbol,
 * routine, C type, its name, context) from it for each type; it derives the interface from the C
 * prototype. CTX is GIVEN if a context comes first, else DEFAULT.
 */
#ifndef FORTRAN_BODIES_H
#define FORTRAN_BODIES_H

#include "fortran.h"

#include <shmemx.h>

#define PARAMETER_DEFAULT
#define CONTEXT_DEFAULT SHMEM_CTX_DEFAULT
#define PARAMETER_GIVEN shmem_ctx_t ctx,
#define CONTEXT_GIVEN ctx

/* Remote memory access */
#define BODY_put(SYMBOL, ROUTINE, TYPE, NAME, CTX)                                               \
	API void SYMBOL(PARAMETER_##CTX const array *dest, const array *source, int pe)          \
	{                                                                                        \
		if (!fortran_put_scalar(CONTEXT_##CTX, dest, source, sizeof(TYPE), pe))          \
			fortran_put(CONTEXT_##CTX, dest, source, pe, FORTRAN_BLOCKING, ROUTINE); \
	}
#define MOVE(SYMBOL, ROUTINE, CTX, CALL, WAY)                                           \
	API void SYMBOL(PARAMETER_##CTX const array *dest, const array *source, int pe) \
	{                                                                               \
		CALL(CONTEXT_##CTX, dest, source, pe, WAY, ROUTINE);                    \
	}
#define BODY_put_nbi(SYMBOL, ROUTINE, TYPE, NAME, CTX) MOVE(SYMBOL, ROUTINE, CTX, fortran_put, FORTRAN_NBI)
#define BODY_get(SYMBOL, ROUTINE, TYPE, NAME, CTX) MOVE(SYMBOL, ROUTINE, CTX, fortran_get, FORTRAN_BLOCKING)
#define BODY_get_nbi(SYMBOL, ROUTINE, TYPE, NAME, CTX) MOVE(SYMBOL, ROUTINE, CTX, fortran_get, FORTRAN_NBI)

#define STRIDED(SYMBOL, ROUTINE, CTX, CALL)                                                                           \
	API void SYMBOL(PARAMETER_##CTX const array *dest, const array *source, int dst, int sst, int nelems, int pe) \
	{                                                                                                             \
		CALL(CONTEXT_##CTX, dest, source, &(struct fortran_blocks){dst, sst, 1, nelems}, pe, ROUTINE);        \
	}
#define BODY_iput(SYMBOL, ROUTINE, TYPE, NAME, CTX) STRIDED(SYMBOL, ROUTINE, CTX, fortran_iput)
#define BODY_iget(SYMBOL, ROUTINE, TYPE, NAME, CTX) STRIDED(SYMBOL, ROUTINE, CTX, fortran_iget)

#define BLOCKS(SYMBOL, ROUTINE, CTX, CALL)                                                                          \
	API void SYMBOL(PARAMETER_##CTX const array *dest, const array *source, int dst, int sst, int bsize,        \
			int nblocks, int pe)                                                                        \
	{                                                                                                           \
		CALL(CONTEXT_##CTX, dest, source, &(struct fortran_blocks){dst, sst, bsize, nblocks}, pe, ROUTINE); \
	}
#define BODY_ibput(SYMBOL, ROUTINE, TYPE, NAME, CTX) BLOCKS(SYMBOL, ROUTINE, CTX, fortran_iput)
#define BODY_ibget(SYMBOL, ROUTINE, TYPE, NAME, CTX) BLOCKS(SYMBOL, ROUTINE, CTX, fortran_iget)

#define SIGNAL(SYMBOL, ROUTINE, CTX, WAY)                                                                            \
	API void SYMBOL(PARAMETER_##CTX const array *dest, const array *source, uint64_t *sig_addr, uint64_t signal, \
			int sig_op, int pe)                                                                          \
	{                                                                                                            \
		fortran_put_signal(CONTEXT_##CTX, dest, source, &(struct fortran_signal){sig_addr, signal, sig_op},  \
				   pe, WAY, ROUTINE);                                                                \
	}
#define BODY_put_signal(SYMBOL, ROUTINE, TYPE, NAME, CTX) SIGNAL(SYMBOL, ROUTINE, CTX, FORTRAN_BLOCKING)
#define BODY_put_signal_nbi(SYMBOL, ROUTINE, TYPE, NAME, CTX) SIGNAL(SYMBOL, ROUTINE, CTX, FORTRAN_NBI)

/* Sets of words. Indices count from 1 in Fortran; 0 means none. */
#define SET_BEGIN(ROUTINE)                                      \
	size_t n = fortran_contiguous(ivars, "ivars", ROUTINE); \
	const int *skip = fortran_status(status, n, ROUTINE);   \
	void *words = ivars->base_addr;

#define ALL_OF(SYMBOL, ROUTINE, RESULT, RETURN, CALL, TYPE)                                 \
	API RESULT SYMBOL(const array *ivars, int cmp, TYPE cmp_value, const array *status) \
	{                                                                                   \
		SET_BEGIN(ROUTINE)                                                          \
		RETURN CALL(words, n, skip, cmp, cmp_value);                                \
	}
#define ANY_OF(SYMBOL, ROUTINE, CALL, TYPE)                                                       \
	API int SYMBOL(const array *ivars, int cmp, TYPE cmp_value, const array *status)          \
	{                                                                                         \
		SET_BEGIN(ROUTINE)                                                                \
		return (int)(CALL(words, n, skip, cmp, cmp_value) + 1); /* SIZE_MAX means none */ \
	}
#define SOME_OF(SYMBOL, ROUTINE, CALL, TYPE)                                                                   \
	API int SYMBOL(const array *ivars, const array *indices, int cmp, TYPE cmp_value, const array *status) \
	{                                                                                                      \
		SET_BEGIN(ROUTINE)                                                                             \
		struct fortran_indices found;                                                                  \
		fortran_indices_begin(&found, indices, n, ROUTINE);                                            \
		return fortran_indices_end(&found, CALL(words, n, found.places, skip, cmp, cmp_value));        \
	}
#define ALL_EACH(SYMBOL, ROUTINE, RESULT, RETURN, CALL)                                              \
	API RESULT SYMBOL(const array *ivars, int cmp, const array *cmp_values, const array *status) \
	{                                                                                            \
		SET_BEGIN(ROUTINE)                                                                   \
		RETURN CALL(words, n, skip, cmp, fortran_values(cmp_values, n, ROUTINE));            \
	}
#define ANY_EACH(SYMBOL, ROUTINE, CALL)                                                              \
	API int SYMBOL(const array *ivars, int cmp, const array *cmp_values, const array *status)    \
	{                                                                                            \
		SET_BEGIN(ROUTINE)                                                                   \
		return (int)(CALL(words, n, skip, cmp, fortran_values(cmp_values, n, ROUTINE)) + 1); \
	}
#define SOME_EACH(SYMBOL, ROUTINE, CALL)                                                             \
	API int SYMBOL(const array *ivars, const array *indices, int cmp, const array *cmp_values,   \
		       const array *status)                                                          \
	{                                                                                            \
		SET_BEGIN(ROUTINE)                                                                   \
		struct fortran_indices found;                                                        \
		fortran_indices_begin(&found, indices, n, ROUTINE);                                  \
		const void *values = fortran_values(cmp_values, n, ROUTINE);                         \
		return fortran_indices_end(&found, CALL(words, n, found.places, skip, cmp, values)); \
	}

#define BODY_wait_until_all(SYMBOL, ROUTINE, TYPE, NAME, CTX) \
	ALL_OF(SYMBOL, ROUTINE, void, , shmem_##NAME##_wait_until_all, TYPE)
#define BODY_test_all(SYMBOL, ROUTINE, TYPE, NAME, CTX) \
	ALL_OF(SYMBOL, ROUTINE, bool, return, shmem_##NAME##_test_all, TYPE)
#define BODY_wait_until_any(SYMBOL, ROUTINE, TYPE, NAME, CTX) \
	ANY_OF(SYMBOL, ROUTINE, shmem_##NAME##_wait_until_any, TYPE)
#define BODY_test_any(SYMBOL, ROUTINE, TYPE, NAME, CTX) ANY_OF(SYMBOL, ROUTINE, shmem_##NAME##_test_any, TYPE)
#define BODY_wait_until_some(SYMBOL, ROUTINE, TYPE, NAME, CTX) \
	SOME_OF(SYMBOL, ROUTINE, shmem_##NAME##_wait_until_some, TYPE)
#define BODY_test_some(SYMBOL, ROUTINE, TYPE, NAME, CTX) SOME_OF(SYMBOL, ROUTINE, shmem_##NAME##_test_some, TYPE)
#define BODY_wait_until_all_vector(SYMBOL, ROUTINE, TYPE, NAME, CTX) \
	ALL_EACH(SYMBOL, ROUTINE, void, , shmem_##NAME##_wait_until_all_vector)
#define BODY_test_all_vector(SYMBOL, ROUTINE, TYPE, NAME, CTX) \
	ALL_EACH(SYMBOL, ROUTINE, bool, return, shmem_##NAME##_test_all_vector)
#define BODY_wait_until_any_vector(SYMBOL, ROUTINE, TYPE, NAME, CTX) \
	ANY_EACH(SYMBOL, ROUTINE, shmem_##NAME##_wait_until_any_vector)
#define BODY_test_any_vector(SYMBOL, ROUTINE, TYPE, NAME, CTX) ANY_EACH(SYMBOL, ROUTINE, shmem_##NAME##_test_any_vector)
#define BODY_wait_until_some_vector(SYMBOL, ROUTINE, TYPE, NAME, CTX) \
	SOME_EACH(SYMBOL, ROUTINE, shmem_##NAME##_wait_until_some_vector)
#define BODY_test_some_vector(SYMBOL, ROUTINE, TYPE, NAME, CTX) \
	SOME_EACH(SYMBOL, ROUTINE, shmem_##NAME##_test_some_vector)

/*
 * Collectives. Those that work element by element process sections piece by piece; the others take
 * contiguous arrays.
 */
#define FINISH(STATUS, STAT) \
	if (STAT)            \
		*(STAT) = STATUS;

#define BODY_broadcast(SYMBOL, ROUTINE, TYPE, NAME, CTX)                                                       \
	API void SYMBOL(shmem_team_t team, const array *dest, const array *source, int PE_root, int *stat)     \
	{                                                                                                      \
		struct pieces pieces;                                                                          \
		int status = 0;                                                                                \
		fortran_check_team(team, ROUTINE);                                                             \
		fortran_pieces_begin(&pieces, dest, source, ROUTINE);                                          \
		while (fortran_pieces_next(&pieces))                                                           \
			status |= shmem_broadcastmem(team, pieces.dest, pieces.source, pieces.bytes, PE_root); \
		FINISH(status, stat)                                                                           \
	}

#define PIECEWISE(SYMBOL, ROUTINE, CALL)                                                      \
	API void SYMBOL(shmem_team_t team, const array *dest, const array *source, int *stat) \
	{                                                                                     \
		struct pieces pieces;                                                         \
		int status = 0;                                                               \
		fortran_check_team(team, ROUTINE);                                            \
		fortran_pieces_begin(&pieces, dest, source, ROUTINE);                         \
		while (fortran_pieces_next(&pieces))                                          \
			status |= CALL(team, pieces.dest, pieces.source, pieces.elements);    \
		FINISH(status, stat)                                                          \
	}
#define BODY_and_reduce(SYMBOL, ROUTINE, TYPE, NAME, CTX) PIECEWISE(SYMBOL, ROUTINE, shmem_##NAME##_and_reduce)
#define BODY_or_reduce(SYMBOL, ROUTINE, TYPE, NAME, CTX) PIECEWISE(SYMBOL, ROUTINE, shmem_##NAME##_or_reduce)
#define BODY_xor_reduce(SYMBOL, ROUTINE, TYPE, NAME, CTX) PIECEWISE(SYMBOL, ROUTINE, shmem_##NAME##_xor_reduce)
#define BODY_max_reduce(SYMBOL, ROUTINE, TYPE, NAME, CTX) PIECEWISE(SYMBOL, ROUTINE, shmem_##NAME##_max_reduce)
#define BODY_min_reduce(SYMBOL, ROUTINE, TYPE, NAME, CTX) PIECEWISE(SYMBOL, ROUTINE, shmem_##NAME##_min_reduce)
#define BODY_sum_reduce(SYMBOL, ROUTINE, TYPE, NAME, CTX) PIECEWISE(SYMBOL, ROUTINE, shmem_##NAME##_sum_reduce)
#define BODY_prod_reduce(SYMBOL, ROUTINE, TYPE, NAME, CTX) PIECEWISE(SYMBOL, ROUTINE, shmem_##NAME##_prod_reduce)
#define BODY_sum_inscan(SYMBOL, ROUTINE, TYPE, NAME, CTX) PIECEWISE(SYMBOL, ROUTINE, shmem_##NAME##_sum_inscan)
#define BODY_sum_exscan(SYMBOL, ROUTINE, TYPE, NAME, CTX) PIECEWISE(SYMBOL, ROUTINE, shmem_##NAME##_sum_exscan)

#define BODY_collect(SYMBOL, ROUTINE, TYPE, NAME, CTX)                                                         \
	API void SYMBOL(shmem_team_t team, const array *dest, const array *source, int *stat)                  \
	{                                                                                                      \
		fortran_check_team(team, ROUTINE);                                                             \
		size_t n = fortran_count(dest, source, 1, ROUTINE);                                            \
		int status = shmem_collectmem(team, dest->base_addr, source->base_addr, n * source->elem_len); \
		FINISH(status, stat)                                                                           \
	}
#define BODY_fcollect(SYMBOL, ROUTINE, TYPE, NAME, CTX)                                                         \
	API void SYMBOL(shmem_team_t team, const array *dest, const array *source, int *stat)                   \
	{                                                                                                       \
		size_t n = fortran_count(dest, source, fortran_team_size(team, ROUTINE), ROUTINE);              \
		int status = shmem_fcollectmem(team, dest->base_addr, source->base_addr, n * source->elem_len); \
		FINISH(status, stat)                                                                            \
	}
#define BODY_alltoall(SYMBOL, ROUTINE, TYPE, NAME, CTX)                                                         \
	API void SYMBOL(shmem_team_t team, const array *dest, const array *source, int *stat)                   \
	{                                                                                                       \
		size_t n = fortran_share(team, dest, source, ROUTINE);                                          \
		int status = shmem_alltoallmem(team, dest->base_addr, source->base_addr, n * source->elem_len); \
		FINISH(status, stat)                                                                            \
	}
#define BODY_alltoalls(SYMBOL, ROUTINE, TYPE, NAME, CTX)                                                               \
	API void SYMBOL(shmem_team_t team, const array *dest, const array *source, int dst, int sst, int nelems,       \
			int *stat)                                                                                     \
	{                                                                                                              \
		int status =                                                                                           \
			fortran_alltoalls(team, dest, source, &(struct fortran_blocks){dst, sst, 1, nelems}, ROUTINE); \
		FINISH(status, stat)                                                                                   \
	}

/* Memory */
#define BODY_allocate(SYMBOL, ROUTINE, CODE)                                                \
	API void SYMBOL(array *a, const array *shape, const array *lower, int *stat)        \
	{                                                                                   \
		fortran_allocate(a, shape, lower, stat, ROUTINE);                           \
	}                                                                                   \
	API void SYMBOL##_long(array *a, const array *shape, const array *lower, int *stat) \
	{                                                                                   \
		fortran_allocate(a, shape, lower, stat, ROUTINE);                           \
	}
#define BODY_deallocate(SYMBOL, ROUTINE, CODE)  \
	API void SYMBOL(array *a)               \
	{                                       \
		fortran_deallocate(a, ROUTINE); \
	}
#define BODY_ptr(SYMBOL, ROUTINE, CODE)                            \
	API void SYMBOL(const array *dest, array *pointer, int pe) \
	{                                                          \
		fortran_ptr(dest, pointer, pe, ROUTINE);           \
	}

/* Plans */
#define BODY_reduce_init(SYMBOL, ROUTINE, CODE)                                                                       \
	API void SYMBOL(shmem_team_t team, const array *dest, const array *source, int op, int PE_root, int executor, \
			shmemx_plan_t *plan, int *stat)                                                               \
	{                                                                                                             \
		fortran_check_team(team, ROUTINE);                                                                    \
		size_t n = fortran_count(dest, source, 1, ROUTINE);                                                   \
		int status = shmemx_reduce_init(team, dest->base_addr, source->base_addr, n, CODE, (shmemx_op_t)op,   \
						PE_root, executor, plan);                                             \
		FINISH(status, stat)                                                                                  \
	}
#define BODY_allreduce_init(SYMBOL, ROUTINE, CODE)                                                                     \
	API void SYMBOL(shmem_team_t team, const array *dest, const array *source, int op, int executor,               \
			shmemx_plan_t *plan, int *stat)                                                                \
	{                                                                                                              \
		fortran_check_team(team, ROUTINE);                                                                     \
		size_t n = fortran_count(dest, source, 1, ROUTINE);                                                    \
		int status = shmemx_allreduce_init(team, dest->base_addr, source->base_addr, n, CODE, (shmemx_op_t)op, \
						   executor, plan);                                                    \
		FINISH(status, stat)                                                                                   \
	}

#define BODY_reduce_scatter(SYMBOL, ROUTINE, CODE)                                                                 \
	API void SYMBOL(shmem_team_t team, const array *dest, const array *source, int op, int *stat)              \
	{                                                                                                          \
		size_t n = fortran_block(team, dest, source, ROUTINE);                                             \
		int status =                                                                                       \
			shmemx_reduce_scatter(team, dest->base_addr, source->base_addr, n, CODE, (shmemx_op_t)op); \
		FINISH(status, stat)                                                                               \
	}

#define BODY_reduce_scatter_init(SYMBOL, ROUTINE, CODE)                                                    \
	API void SYMBOL(shmem_team_t team, const array *dest, const array *source, int op, int executor,   \
			shmemx_plan_t *plan, int *stat)                                                    \
	{                                                                                                  \
		size_t n = fortran_block(team, dest, source, ROUTINE);                                     \
		int status = shmemx_reduce_scatter_init(team, dest->base_addr, source->base_addr, n, CODE, \
							(shmemx_op_t)op, executor, plan);                  \
		FINISH(status, stat)                                                                       \
	}
#define SCAN_PLAN(SYMBOL, ROUTINE, CODE, CALL)                                                                        \
	API void SYMBOL(shmem_team_t team, const array *dest, const array *source, int executor, shmemx_plan_t *plan, \
			int *stat)                                                                                    \
	{                                                                                                             \
		fortran_check_team(team, ROUTINE);                                                                    \
		size_t n = fortran_count(dest, source, 1, ROUTINE);                                                   \
		int status = CALL(team, dest->base_addr, source->base_addr, n, CODE, executor, plan);                 \
		FINISH(status, stat)                                                                                  \
	}
#define BODY_sum_inscan_init(SYMBOL, ROUTINE, CODE) SCAN_PLAN(SYMBOL, ROUTINE, CODE, shmemx_sum_inscan_init)
#define BODY_sum_exscan_init(SYMBOL, ROUTINE, CODE) SCAN_PLAN(SYMBOL, ROUTINE, CODE, shmemx_sum_exscan_init)

/* Requests, whose routines have a type in their names: that of the code. */
#define BODY_reduce_scatter_nb(SYMBOL, ROUTINE, CODE)                                                             \
	API void SYMBOL(shmem_team_t team, const array *dest, const array *source, int op, shmemx_req_h *request, \
			int *stat)                                                                                \
	{                                                                                                         \
		size_t n = fortran_block(team, dest, source, ROUTINE);                                            \
		int status = shmemx_reduce_scatter_nb(team, dest->base_addr, source->base_addr, n, CODE,          \
						      (shmemx_op_t)op, request);                                  \
		FINISH(status, stat)                                                                              \
	}
#define NAMED_SHMEMX_FLOAT float
#define NAMED_SHMEMX_DOUBLE double
#define NAMED_SHMEMX_LONGDOUBLE longdouble
#define NAMED_SHMEMX_INT8 int8
#define NAMED_SHMEMX_INT16 int16
#define NAMED_SHMEMX_INT32 int32
#define NAMED_SHMEMX_INT64 int64
#define NAMED_SHMEMX_COMPLEXF complexf
#define NAMED_SHMEMX_COMPLEXD complexd
#define CALL_OF(TYPE, REST) shmemx_##TYPE##REST
#define CALL_OF_TYPE(TYPE, REST) CALL_OF(TYPE, REST)
#define REQUEST(SYMBOL, ROUTINE, CODE, REST)                                                                         \
	API void SYMBOL(shmem_team_t team, const array *dest, const array *source, shmemx_req_h *request, int *stat) \
	{                                                                                                            \
		fortran_check_team(team, ROUTINE);                                                                   \
		size_t n = fortran_count(dest, source, 1, ROUTINE);                                                  \
		int status = CALL_OF_TYPE(NAMED_##CODE, REST)(team, dest->base_addr, source->base_addr, n, request); \
		FINISH(status, stat)                                                                                 \
	}
#define BODY_and_reduce_nb(SYMBOL, ROUTINE, CODE) REQUEST(SYMBOL, ROUTINE, CODE, _and_reduce_nb)
#define BODY_or_reduce_nb(SYMBOL, ROUTINE, CODE) REQUEST(SYMBOL, ROUTINE, CODE, _or_reduce_nb)
#define BODY_xor_reduce_nb(SYMBOL, ROUTINE, CODE) REQUEST(SYMBOL, ROUTINE, CODE, _xor_reduce_nb)
#define BODY_min_reduce_nb(SYMBOL, ROUTINE, CODE) REQUEST(SYMBOL, ROUTINE, CODE, _min_reduce_nb)
#define BODY_max_reduce_nb(SYMBOL, ROUTINE, CODE) REQUEST(SYMBOL, ROUTINE, CODE, _max_reduce_nb)
#define BODY_sum_reduce_nb(SYMBOL, ROUTINE, CODE) REQUEST(SYMBOL, ROUTINE, CODE, _sum_reduce_nb)
#define BODY_prod_reduce_nb(SYMBOL, ROUTINE, CODE) REQUEST(SYMBOL, ROUTINE, CODE, _prod_reduce_nb)
#define BODY_avg_reduce_nb(SYMBOL, ROUTINE, CODE) REQUEST(SYMBOL, ROUTINE, CODE, _avg_reduce_nb)
#define BODY_sum_inscan_nb(SYMBOL, ROUTINE, CODE) REQUEST(SYMBOL, ROUTINE, CODE, _sum_inscan_nb)
#define BODY_sum_exscan_nb(SYMBOL, ROUTINE, CODE) REQUEST(SYMBOL, ROUTINE, CODE, _sum_exscan_nb)

/* Averages: CODE is that of a type of which there are some. */
#define AVERAGE_SHMEMX_FLOAT shmemx_float_avg_reduce
#define AVERAGE_SHMEMX_DOUBLE shmemx_double_avg_reduce
#define AVERAGE_SHMEMX_LONGDOUBLE shmemx_longdouble_avg_reduce
#define BODY_avg_reduce(SYMBOL, ROUTINE, CODE) PIECEWISE(SYMBOL, ROUTINE, AVERAGE_##CODE)

/* Atomics; the symbol that ends in _ctx takes a context. */
#define CALL_FETCHING(SYMBOL, TYPE, NAME, OP)                                  \
	API TYPE SYMBOL(TYPE *dest, TYPE value, int pe)                        \
	{                                                                      \
		return shmemx_##NAME##_atomic_##OP(dest, value, pe);           \
	}                                                                      \
	API TYPE SYMBOL##_ctx(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe) \
	{                                                                      \
		return shmemx_ctx_##NAME##_atomic_##OP(ctx, dest, value, pe);  \
	}
#define CALL_POSTING(SYMBOL, TYPE, NAME, OP)                                   \
	API void SYMBOL(TYPE *dest, TYPE value, int pe)                        \
	{                                                                      \
		shmemx_##NAME##_atomic_##OP(dest, value, pe);                  \
	}                                                                      \
	API void SYMBOL##_ctx(shmem_ctx_t ctx, TYPE *dest, TYPE value, int pe) \
	{                                                                      \
		shmemx_ctx_##NAME##_atomic_##OP(ctx, dest, value, pe);         \
	}
#define FETCHING_SHMEMX_FLOAT(SYMBOL, OP) CALL_FETCHING(SYMBOL, float, float, OP)
#define FETCHING_SHMEMX_DOUBLE(SYMBOL, OP) CALL_FETCHING(SYMBOL, double, double, OP)
#define FETCHING_SHMEMX_INT32(SYMBOL, OP) CALL_FETCHING(SYMBOL, int32_t, int32, OP)
#define FETCHING_SHMEMX_INT64(SYMBOL, OP) CALL_FETCHING(SYMBOL, int64_t, int64, OP)
#define POSTING_SHMEMX_FLOAT(SYMBOL, OP) CALL_POSTING(SYMBOL, float, float, OP)
#define POSTING_SHMEMX_DOUBLE(SYMBOL, OP) CALL_POSTING(SYMBOL, double, double, OP)
#define POSTING_SHMEMX_INT32(SYMBOL, OP) CALL_POSTING(SYMBOL, int32_t, int32, OP)
#define POSTING_SHMEMX_INT64(SYMBOL, OP) CALL_POSTING(SYMBOL, int64_t, int64, OP)
#define BODY_atomic_fetch_add(SYMBOL, ROUTINE, CODE) FETCHING_##CODE(SYMBOL, fetch_add)
#define BODY_atomic_add(SYMBOL, ROUTINE, CODE) POSTING_##CODE(SYMBOL, add)
#define BODY_atomic_fetch_min(SYMBOL, ROUTINE, CODE) FETCHING_##CODE(SYMBOL, fetch_min)
#define BODY_atomic_min(SYMBOL, ROUTINE, CODE) POSTING_##CODE(SYMBOL, min)
#define BODY_atomic_fetch_max(SYMBOL, ROUTINE, CODE) FETCHING_##CODE(SYMBOL, fetch_max)
#define BODY_atomic_max(SYMBOL, ROUTINE, CODE) POSTING_##CODE(SYMBOL, max)

#endif
