/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_GRID_H
#define SHMEM_GRID_H

#include <shmemx.h>

#include "shmem/api.h"
#include "comms/torus/program_grid.h"

/* What a team that is a grid has besides: PE i of it is cell i. */
struct grid {
	struct torus_grid cells;
	shmemx_grid_report_t report;
};

/* Ends the job with a message if the team is no grid. */
const struct grid *api_grid_or_die(shmem_team_t team, const char *routine);

/* The PE of the grid so many steps from a PE along a dimension; -1: the grid ends before. */
int api_grid_neighbour(const struct grid *grid, int pe, int dim, int steps);

#endif
