/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_PROGRAM_GRID_H
#define TORUS_PROGRAM_GRID_H

#include "sites.h"

/*
 * The communication of a program: its PEs form a grid, and each sends a message to each neighbour
 * along every dimension. And its cost on a torus.
 */
struct torus_grid {
	int dims;
	int size[TORUS_AXES];
	bool wraps[TORUS_AXES]; /* the first and the last PE of a row are neighbours */
	int cells;
};

/*
 * Reads "8x8mx4": m after a dimension that does not wrap. Returns false with the reason in
 * `problem`.
 */
bool torus_grid_read(struct torus_grid *grid, const char *text, char problem[TORUS_PROBLEM]);
void torus_grid_complete(struct torus_grid *grid);

/* The cell before (step -1) or behind (step 1) a cell along a dimension; -1: none. */
int torus_grid_neighbour(const struct torus_grid *grid, int cell, int dim, int step);

struct torus_cost {
	long messages;
	long hops;     /* of all messages together; messages inside a node have none */
	int longest;   /* in hops */
	long worst;    /* messages over the busiest link */
	long *by_hops; /* number of messages by hops, up to the diameter of the shape */
	int n_by_hops;
};

struct torus_routes;

/*
 * Every cell of the grid lies at a place; a message along dimension i counts weight[i] (NULL: 1).
 * Messages go in dimension order. Returns false if there is no memory.
 */
bool torus_cost_find(struct torus_cost *cost, const struct torus_shape *shape, const struct torus_grid *grid,
		     const int *place, const long *weight);

/*
 * The same over routes that avoid dead or slow cables; a message loads a slow cable in proportion
 * to its slowness. routes NULL: dimension order.
 */
bool torus_cost_round(struct torus_cost *cost, const struct torus_sites *sites, const struct torus_routes *routes,
		      const struct torus_grid *grid, const int *place, const long *weight);
void torus_cost_free(struct torus_cost *cost);

/*
 * Is the first cost no worse than the other in any respect: hops together, longest route, worst
 * link?
 */
bool torus_cost_bears(const struct torus_cost *cost, const struct torus_cost *other);

#endif
