/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of blocks in the module shmemx. An element may have any length, so counts and
 * displacements go to C in bytes.
 */
#include "fortran.h"

#include <shmemx.h>
#include <stdlib.h>

API void torushmemf_gather(shmem_team_t team, const array *dest, const array *source, int PE_root, int *stat)
{
	size_t n = fortran_count(dest, source, fortran_team_size(team, "shmemx_gather"), "shmemx_gather");

	FORTRAN_STATUS(stat, shmemx_gather(team, dest->base_addr, source->base_addr, n * source->elem_len, SHMEMX_UINT8,
					   PE_root));
}

API void torushmemf_scatter(shmem_team_t team, const array *dest, const array *source, int PE_root, int *stat)
{
	size_t n = fortran_block(team, dest, source, "shmemx_scatter");

	FORTRAN_STATUS(stat, shmemx_scatter(team, dest->base_addr, source->base_addr, n * source->elem_len,
					    SHMEMX_UINT8, PE_root));
}

size_t *fortran_in_bytes(const size_t *elements, shmem_team_t team, const array *of, const char *routine)
{
	size_t n = fortran_team_size(team, routine), *bytes = elements ? malloc(n * sizeof *bytes) : NULL;

	if (elements && !bytes)
		fortran_die(routine, "no memory for the blocks of %zu PEs", n);
	for (size_t i = 0; elements && i < n; i++)
		bytes[i] = elements[i] * of->elem_len;
	return bytes;
}

API void torushmemf_allgatherv(shmem_team_t team, const array *dest, const array *source, const size_t *counts,
			       const size_t *displs, int *stat)
{
	static const char routine[] = "shmemx_allgatherv";
	size_t *lengths = fortran_in_bytes(counts, team, dest, routine),
	       *places = fortran_in_bytes(displs, team, dest, routine);

	fortran_contiguous(dest, "dest", routine);
	fortran_contiguous(source, "source", routine);
	FORTRAN_STATUS(stat,
		       shmemx_allgatherv(team, dest->base_addr, source->base_addr, lengths, places, SHMEMX_UINT8));
	free(lengths);
	free(places);
}

API void torushmemf_alltoallv(shmem_team_t team, const array *dest, const array *source, const size_t *dest_counts,
			      const size_t *dest_displs, const size_t *source_counts, const size_t *source_displs,
			      int *stat)
{
	static const char routine[] = "shmemx_alltoallv";
	size_t *to = fortran_in_bytes(dest_counts, team, dest, routine),
	       *to_at = fortran_in_bytes(dest_displs, team, dest, routine);
	size_t *from = fortran_in_bytes(source_counts, team, source, routine),
	       *from_at = fortran_in_bytes(source_displs, team, source, routine);

	fortran_contiguous(dest, "dest", routine);
	fortran_contiguous(source, "source", routine);
	FORTRAN_STATUS(stat, shmemx_alltoallv(team, dest->base_addr, source->base_addr, to, to_at, from, from_at,
					      SHMEMX_UINT8));
	free(to);
	free(to_at);
	free(from);
	free(from_at);
}
