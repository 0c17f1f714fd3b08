/* SPDX-License-Identifier: BSD-3-Clause */
/* The torus and grids in the module shmemx. */
#include "fortran.h"

#include <shmemx.h>

API void torushmemf_torus_source(const array *source)
{
	fortran_text(source, shmemx_torus_source());
}

API void torushmemf_grid_create(shmem_team_t parent, const array *sizes, const array *wraps, bool reorder,
				shmem_team_t *grid, int *stat)
{
	size_t dims = fortran_contiguous(sizes, "sizes", "shmemx_grid_create");
	int wrapped[SHMEMX_AXES];

	if (fortran_contiguous(wraps, "wraps", "shmemx_grid_create") != dims || dims > SHMEMX_AXES)
		fortran_die("shmemx_grid_create", "sizes and wraps must have as many elements, and at most %d",
			    SHMEMX_AXES);
	for (size_t i = 0; i < dims; i++)
		wrapped[i] = ((const bool *)wraps->base_addr)[i];
	FORTRAN_STATUS(stat, shmemx_grid_create(parent, (int)dims, sizes->base_addr, wrapped, reorder, grid));
}

API int torushmemf_grid_sizes(shmem_team_t grid, int *sizes, int *wraps)
{
	return shmemx_grid_sizes(grid, sizes, wraps);
}

API void torushmemf_grid_coordinates(shmem_team_t grid, int pe, int *coordinates)
{
	shmemx_grid_coordinates(grid, pe, coordinates);
}

API int torushmemf_grid_pe(shmem_team_t grid, const int *coordinates)
{
	return shmemx_grid_pe(grid, coordinates);
}

API int torushmemf_grid_neighbour(shmem_team_t grid, int dim, int steps)
{
	return shmemx_grid_neighbour(grid, dim, steps);
}

API void torushmemf_grid_shift(shmem_team_t grid, int dim, int steps, int *source, int *dest)
{
	shmemx_grid_shift(grid, dim, steps, source, dest);
}

API void torushmemf_grid_report(shmem_team_t grid, shmemx_grid_cost_t *before, shmemx_grid_cost_t *after,
				const array *how, bool *is_logical)
{
	shmemx_grid_report_t report;

	shmemx_grid_report(grid, &report);
	*before = report.before;
	*after = report.after;
	fortran_text(how, report.how);
	*is_logical = report.logical;
}
