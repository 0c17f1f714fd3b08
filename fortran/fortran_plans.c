/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent plans in the module shmemx. Those of reductions, which have a type, are in bodies.h.
 */
#include "fortran.h"

#include <shmemx.h>
#include <stdlib.h>

API void torushmemf_broadcast_init(shmem_team_t team, const array *dest, const array *source, int PE_root, int executor,
				   shmemx_plan_t *plan, int *stat)
{
	fortran_check_team(team, "shmemx_broadcast_init");
	size_t n = fortran_count(dest, source, 1, "shmemx_broadcast_init");

	FORTRAN_STATUS(stat, shmemx_broadcast_init(team, dest->base_addr, source->base_addr, n * source->elem_len,
						   PE_root, executor, plan));
}

API void torushmemf_allgather_init(shmem_team_t team, const array *dest, const array *source, int executor,
				   shmemx_plan_t *plan, int *stat)
{
	size_t n =
		fortran_count(dest, source, fortran_team_size(team, "shmemx_allgather_init"), "shmemx_allgather_init");

	FORTRAN_STATUS(stat, shmemx_allgather_init(team, dest->base_addr, source->base_addr, n * source->elem_len,
						   executor, plan));
}

API void torushmemf_alltoall_init(shmem_team_t team, const array *dest, const array *source, int executor,
				  shmemx_plan_t *plan, int *stat)
{
	size_t n = fortran_share(team, dest, source, "shmemx_alltoall_init");

	FORTRAN_STATUS(stat, shmemx_alltoall_init(team, dest->base_addr, source->base_addr, n * source->elem_len,
						  executor, plan));
}

/* The code of an unsigned integer as long as an element: alltoalls moves bytes. */
static shmemx_type_t code_of(const array *source, const char *routine)
{
	switch (source->elem_len) {
	case 1: return SHMEMX_UINT8;
	case 2: return SHMEMX_UINT16;
	case 4: return SHMEMX_UINT32;
	case 8: return SHMEMX_UINT64;
	case sizeof(long double): return SHMEMX_LONGDOUBLE;
	default: fortran_die(routine, "an element of source has %zu bytes", source->elem_len);
	}
}

API void torushmemf_alltoalls_init(shmem_team_t team, const array *dest, const array *source, int dst, int sst,
				   int nelems, int executor, shmemx_plan_t *plan, int *stat)
{
	static const char routine[] = "shmemx_alltoalls_init";
	struct fortran_blocks blocks = {dst, sst, 1, nelems};
	size_t n = fortran_check_strided(team, dest, source, &blocks, routine);

	FORTRAN_STATUS(stat, shmemx_alltoalls_init(team, dest->base_addr, source->base_addr, dst, sst, n,
						   code_of(source, routine), executor, plan));
}

API void torushmemf_gather_init(shmem_team_t team, const array *dest, const array *source, int PE_root, int executor,
				shmemx_plan_t *plan, int *stat)
{
	static const char routine[] = "shmemx_gather_init";
	size_t n = fortran_count(dest, source, fortran_team_size(team, routine), routine);

	FORTRAN_STATUS(stat, shmemx_gather_init(team, dest->base_addr, source->base_addr, n * source->elem_len,
						SHMEMX_UINT8, PE_root, executor, plan));
}

API void torushmemf_scatter_init(shmem_team_t team, const array *dest, const array *source, int PE_root, int executor,
				 shmemx_plan_t *plan, int *stat)
{
	size_t n = fortran_block(team, dest, source, "shmemx_scatter_init");

	FORTRAN_STATUS(stat, shmemx_scatter_init(team, dest->base_addr, source->base_addr, n * source->elem_len,
						 SHMEMX_UINT8, PE_root, executor, plan));
}

API void torushmemf_allgatherv_init(shmem_team_t team, const array *dest, const array *source, const size_t *counts,
				    const size_t *displs, int executor, shmemx_plan_t *plan, int *stat)
{
	static const char routine[] = "shmemx_allgatherv_init";
	size_t *lengths = fortran_in_bytes(counts, team, dest, routine),
	       *places = fortran_in_bytes(displs, team, dest, routine);

	fortran_contiguous(dest, "dest", routine);
	fortran_contiguous(source, "source", routine);
	FORTRAN_STATUS(stat, shmemx_allgatherv_init(team, dest->base_addr, source->base_addr, lengths, places,
						    SHMEMX_UINT8, executor, plan));
	free(lengths);
	free(places);
}

API void torushmemf_alltoallv_init(shmem_team_t team, const array *dest, const array *source, const size_t *dest_counts,
				   const size_t *dest_displs, const size_t *source_counts, const size_t *source_displs,
				   int executor, shmemx_plan_t *plan, int *stat)
{
	static const char routine[] = "shmemx_alltoallv_init";
	size_t *to = fortran_in_bytes(dest_counts, team, dest, routine),
	       *to_at = fortran_in_bytes(dest_displs, team, dest, routine),
	       *from = fortran_in_bytes(source_counts, team, source, routine),
	       *from_at = fortran_in_bytes(source_displs, team, source, routine);

	fortran_contiguous(dest, "dest", routine);
	fortran_contiguous(source, "source", routine);
	FORTRAN_STATUS(stat, shmemx_alltoallv_init(team, dest->base_addr, source->base_addr, to, to_at, from, from_at,
						   SHMEMX_UINT8, executor, plan));
	free(to);
	free(to_at);
	free(from);
	free(from_at);
}

API void torushmemf_neighbours_init(shmem_team_t team, const array *edges, int executor, shmemx_plan_t *plan, int *stat)
{
	size_t n = fortran_contiguous(edges, "edges", "shmemx_neighbours_init");

	FORTRAN_STATUS(stat, shmemx_neighbours_init(team, edges->base_addr, (int)n, executor, plan));
}

API void torushmemf_plan_start(shmemx_plan_t plan)
{
	shmemx_plan_start(plan);
}

API void torushmemf_plan_start_on(shmemx_plan_t plan, uint64_t *start, uint64_t *done)
{
	shmemx_plan_start_on(plan, start, done);
}

API bool torushmemf_plan_test(shmemx_plan_t plan)
{
	return shmemx_plan_test(plan);
}

API bool torushmemf_plan_wait_within(shmemx_plan_t plan, double seconds)
{
	return shmemx_plan_wait_within(plan, seconds) == 0;
}

API void torushmemf_plan_wait(shmemx_plan_t plan)
{
	shmemx_plan_wait(plan);
}

API void torushmemf_plan_free(shmemx_plan_t *plan)
{
	shmemx_plan_free(*plan);
	*plan = SHMEMX_PLAN_INVALID;
}
