/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_PROGRAM_GRID_H
#define TORUS_PROGRAM_GRID_H

#include "sites.h"

/*
 * What a program wants: its PEs in a grid, each exchanging messages with its neighbours along every dimension, one in each
 * direction. And what that costs on a torus.
 */
struct torus_grid {
	int dims;
	int size[TORUS_AXES];
	bool wraps[TORUS_AXES]; /* the first and the last of a row are neighbours */
	int cells;
};

/* "8x8mx4": m after a dimension that does not wrap. False: it is none, and problem says why. */
bool torus_grid_read(struct torus_grid *grid, const char *text, char problem[TORUS_PROBLEM]);
void torus_grid_complete(struct torus_grid *grid);

/* From a cell to the one before (step -1) or behind it (step 1) along a dimension; -1: there is none. */
int torus_grid_neighbour(const struct torus_grid *grid, int cell, int dim, int step);

struct torus_cost {
	long messages;
	long hops;     /* of all messages together; one that stays on its node has none */
	int longest;   /* hops */
	long worst;    /* messages over the link that has most */
	long *by_hops; /* messages with so many hops, up to the diameter of the shape */
	int n_by_hops;
};

struct torus_routes;

/*
 * Every cell of the grid lies at a place; along dimension i a message counts weight[i] (NULL: 1). Messages go in
 * dimension order. False: no memory.
 */
bool torus_cost_find(struct torus_cost *cost, const struct torus_shape *shape, const struct torus_grid *grid,
		     const int *place, const long *weight);

/*
 * The same over routes that go round what is dead or slow; a message loads a slow cable as much the more. Routes NULL: dimension order.
 */
bool torus_cost_round(struct torus_cost *cost, const struct torus_sites *sites, const struct torus_routes *routes,
		      const struct torus_grid *grid, const int *place, const long *weight);
void torus_cost_free(struct torus_cost *cost);

/* In nothing worse than the other: neither in hops together, nor in the longest route, nor in the worst link. */
bool torus_cost_bears(const struct torus_cost *cost, const struct torus_cost *other);

#endif
