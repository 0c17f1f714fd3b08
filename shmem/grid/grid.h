/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_GRID_H
#define SHMEM_GRID_H

#include <shmemx.h>

#include "shmem/api.h"
#include "comms/torus/program_grid.h"

/* Additional data of a team that is a grid: its PE i is cell i. */
struct grid {
	struct torus_grid cells;
	shmemx_grid_report_t report;
};

/* Ends the job with a message if the team is no grid; NULL where errors return. */
const struct grid *api_grid_of(shmem_team_t team, const char *routine);

/*
 * The PE that is `step` steps from a PE along a dimension; -1: outside of the grid. Both are
 * numbers in the grid's team; set_pe converts them to PEs of the world. There are at most
 * TORUS_AXES dimensions, so at most twice as many edges: SHMEMX_EDGE_UP(dim) for step +1 and
 * SHMEMX_EDGE_DOWN(dim) for step -1. The receiver's edge is the one with the opposite step. Along a
 * dimension of one PE that wraps, a PE is its own neighbour; along one of two, both edges have the
 * same neighbour.
 */
int api_grid_neighbour(const struct grid *grid, int pe, int dim, int steps);

#endif
