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

/*
 * The PE of the grid so many steps from a PE along a dimension; -1: the grid ends before. Both are numbers in the grid's
 * team: set_pe makes PEs of the world of them. There are at most TORUS_AXES dimensions, so twice as many edges:
 * SHMEMX_EDGE_UP(dim) for the step of +1 and SHMEMX_EDGE_DOWN(dim) for that of -1. The receiver's edge is the sender's
 * with the other step. Along a dimension of one PE that wraps, a PE is its own neighbour, and along one of two the
 * neighbour is the same on both edges.
 */
int api_grid_neighbour(const struct grid *grid, int pe, int dim, int steps);

#endif
