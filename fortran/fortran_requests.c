/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking collectives in the module shmemx. Those of reductions and scans, which have a type,
 * are in bodies.h.
 */
#include "fortran.h"

#include <shmemx.h>
#include <stdlib.h>

API void torushmemf_broadcast_nb(shmem_team_t team, const array *dest, const array *source, int PE_root,
				 shmemx_req_h *request, int *stat)
{
	fortran_check_team(team, "shmemx_broadcast_nb");
	size_t n = fortran_count(dest, source, 1, "shmemx_broadcast_nb");

	FORTRAN_STATUS(stat, shmemx_broadcastmem_nb(team, dest->base_addr, source->base_addr, n * source->elem_len,
						    PE_root, request));
}

API void torushmemf_collect_nb(shmem_team_t team, const array *dest, const array *source, shmemx_req_h *request,
			       int *stat)
{
	fortran_check_team(team, "shmemx_collect_nb");
	size_t n = fortran_count(dest, source, 1, "shmemx_collect_nb");

	FORTRAN_STATUS(stat,
		       shmemx_collectmem_nb(team, dest->base_addr, source->base_addr, n * source->elem_len, request));
}

API void torushmemf_fcollect_nb(shmem_team_t team, const array *dest, const array *source, shmemx_req_h *request,
				int *stat)
{
	static const char routine[] = "shmemx_fcollect_nb";
	size_t n = fortran_count(dest, source, fortran_team_size(team, routine), routine);

	FORTRAN_STATUS(stat,
		       shmemx_fcollectmem_nb(team, dest->base_addr, source->base_addr, n * source->elem_len, request));
}

API void torushmemf_alltoall_nb(shmem_team_t team, const array *dest, const array *source, shmemx_req_h *request,
				int *stat)
{
	size_t n = fortran_share(team, dest, source, "shmemx_alltoall_nb");

	FORTRAN_STATUS(stat,
		       shmemx_alltoallmem_nb(team, dest->base_addr, source->base_addr, n * source->elem_len, request));
}

API void torushmemf_alltoalls_nb(shmem_team_t team, const array *dest, const array *source, int dst, int sst,
				 int nelems, shmemx_req_h *request, int *stat)
{
	static const char routine[] = "shmemx_alltoalls_nb";
	struct fortran_blocks blocks = {dst, sst, 1, nelems};
	size_t n = fortran_check_strided(team, dest, source, &blocks, routine);
	void *to = dest->base_addr;
	const void *from = source->base_addr;
	int status;

	switch (source->elem_len) {
	case 1: status = shmemx_uint8_alltoalls_nb(team, to, from, dst, sst, n, request); break;
	case 2: status = shmemx_uint16_alltoalls_nb(team, to, from, dst, sst, n, request); break;
	case 4: status = shmemx_uint32_alltoalls_nb(team, to, from, dst, sst, n, request); break;
	case 8: status = shmemx_uint64_alltoalls_nb(team, to, from, dst, sst, n, request); break;
	/* The routine moves bytes; this is the size of the type. */
	case sizeof(long double): status = shmemx_longdouble_alltoalls_nb(team, to, from, dst, sst, n, request); break;
	default: fortran_die(routine, "an element of source has %zu bytes", source->elem_len);
	}
	FORTRAN_STATUS(stat, status);
}

API void torushmemf_gather_nb(shmem_team_t team, const array *dest, const array *source, int PE_root,
			      shmemx_req_h *request, int *stat)
{
	static const char routine[] = "shmemx_gather_nb";
	size_t n = fortran_count(dest, source, fortran_team_size(team, routine), routine);

	FORTRAN_STATUS(stat, shmemx_gather_nb(team, dest->base_addr, source->base_addr, n * source->elem_len,
					      SHMEMX_UINT8, PE_root, request));
}

API void torushmemf_scatter_nb(shmem_team_t team, const array *dest, const array *source, int PE_root,
			       shmemx_req_h *request, int *stat)
{
	size_t n = fortran_block(team, dest, source, "shmemx_scatter_nb");

	FORTRAN_STATUS(stat, shmemx_scatter_nb(team, dest->base_addr, source->base_addr, n * source->elem_len,
					       SHMEMX_UINT8, PE_root, request));
}

API void torushmemf_allgatherv_nb(shmem_team_t team, const array *dest, const array *source, const size_t *counts,
				  const size_t *displs, shmemx_req_h *request, int *stat)
{
	static const char routine[] = "shmemx_allgatherv_nb";
	size_t *lengths = fortran_in_bytes(counts, team, dest, routine),
	       *places = fortran_in_bytes(displs, team, dest, routine);

	fortran_contiguous(dest, "dest", routine);
	fortran_contiguous(source, "source", routine);
	FORTRAN_STATUS(stat, shmemx_allgatherv_nb(team, dest->base_addr, source->base_addr, lengths, places,
						  SHMEMX_UINT8, request));
	free(lengths);
	free(places);
}

API void torushmemf_alltoallv_nb(shmem_team_t team, const array *dest, const array *source, const size_t *dest_counts,
				 const size_t *dest_displs, const size_t *source_counts, const size_t *source_displs,
				 shmemx_req_h *request, int *stat)
{
	static const char routine[] = "shmemx_alltoallv_nb";
	size_t *to = fortran_in_bytes(dest_counts, team, dest, routine),
	       *to_at = fortran_in_bytes(dest_displs, team, dest, routine),
	       *from = fortran_in_bytes(source_counts, team, source, routine),
	       *from_at = fortran_in_bytes(source_displs, team, source, routine);

	fortran_contiguous(dest, "dest", routine);
	fortran_contiguous(source, "source", routine);
	FORTRAN_STATUS(stat, shmemx_alltoallv_nb(team, dest->base_addr, source->base_addr, to, to_at, from, from_at,
						 SHMEMX_UINT8, request));
	free(to);
	free(to_at);
	free(from);
	free(from_at);
}

API void torushmemf_sync_nb(shmem_team_t team, shmemx_req_h *request, int *stat)
{
	FORTRAN_STATUS(stat, shmemx_sync_nb(team, request));
}

API void torushmemf_sync_all_nb(shmemx_req_h *request, int *stat)
{
	FORTRAN_STATUS(stat, shmemx_sync_all_nb(request));
}

API void torushmemf_barrier_all_nb(shmemx_req_h *request, int *stat)
{
	FORTRAN_STATUS(stat, shmemx_barrier_all_nb(request));
}

API int torushmemf_req_test(shmemx_req_h *request)
{
	return shmemx_req_test(request);
}

API void torushmemf_req_wait(shmemx_req_h *request)
{
	shmemx_req_wait(request);
}
