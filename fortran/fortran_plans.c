/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent plans in the module shmemx. Those of reductions, which have a type, are in bodies.h.
 */
#include "fortran.h"

#include <shmemx.h>

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

API void torushmemf_neighbours_init(shmem_team_t team, const array *edges, int executor, shmemx_plan_t *plan, int *stat)
{
	size_t n = fortran_contiguous(edges, "edges", "shmemx_neighbours_init");

	FORTRAN_STATUS(stat, shmemx_neighbours_init(team, edges->base_addr, (int)n, executor, plan));
}

API void torushmemf_plan_start(shmemx_plan_t plan)
{
	shmemx_plan_start(plan);
}

API bool torushmemf_plan_test(shmemx_plan_t plan)
{
	return shmemx_plan_test(plan);
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
