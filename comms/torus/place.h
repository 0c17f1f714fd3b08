/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_PLACE_H
#define TORUS_PLACE_H

#include "program_grid.h"

/*
 * Placement: which PE of a user's grid goes where, so that neighbours in the grid are neighbours on the torus.
 *
 * rank order   PE after PE, node after node: what one gets without a placement
 * tile         the part of the grid that the PEs of one node are
 * cells        the grid that is left when each tile is one cell; a cell is a node
 * layout       a place for every cell
 */
struct torus_plan {
	int *node, *slot; /* of each PE of the grid, row by row: its node, and the how manieth on it */
	int tile[TORUS_AXES];
	const char *how;
	struct torus_cost before, after; /* rank order, and this plan: never worse in anything */
};

/*
 * Places a grid on sites with so many PEs each; the grid has as many PEs as there are. False: it has not, or no memory,
 * and problem says so.
 */
bool torus_place(struct torus_plan *plan, const struct torus_sites *sites, int pes, const struct torus_grid *grid,
		 char problem[TORUS_PROBLEM]);
void torus_plan_free(struct torus_plan *plan);

/* --- Between the files that do this --- */

struct torus_tiling {
	int tile[TORUS_AXES];
	struct torus_grid cells;
	long weight[TORUS_AXES]; /* messages from a cell to the next along a dimension: one for each PE of the face */
	long leaving;		 /* messages between cells */
};

struct torus_layout {
	long hops;
	int longest;
	int tiling; /* which of several */
	const char *how;
	int *place;
};

/* The few best layouts, best first. */
enum { TORUS_LAYOUTS = 6 };

struct torus_choice {
	int count;
	struct torus_layout layouts[TORUS_LAYOUTS];
};

/* If the layout is among the best, makes room and returns where its places go (cells of them); else NULL. */
int *torus_choice_offer(struct torus_choice *choice, struct torus_layout layout, int cells);

/*
 * Layouts of a full box in which each dimension has axes, or even parts of axes, of its own (subaxes.h). Work is how many
 * places of lines may be visited. False: no memory.
 */
bool torus_layouts_by_axes(struct torus_choice *choice, const struct torus_shape *shape,
			   const struct torus_tiling *tiling, int number, long work);

/* A layout of any sites: cells and nodes are cut in halves again and again, each where it is longest. False: no memory. */
bool torus_layout_by_halves(int *place, const struct torus_sites *sites, const struct torus_grid *cells);

/* Another: one line through all nodes, and the cells along it to and fro. False: no memory. */
bool torus_layout_by_line(int *place, const struct torus_sites *sites, const struct torus_grid *cells);

/*
 * Swaps cells as long as that makes routes shorter, first of all those of more hops than the most that are wanted, or until
 * work is done. Returns whether it did.
 */
bool torus_layout_improve(int *place, const struct torus_shape *shape, const struct torus_tiling *tiling, int most,
			  long work);

/*
 * The same, but no swap may make the layout worse than the limit, which it is not to begin with, in anything. Counts the load of
 * every link for each swap that it tries, so it is for small layouts.
 */
bool torus_layout_improve_within(int *place, const struct torus_shape *shape, const struct torus_tiling *tiling,
				 const struct torus_cost *limit, long work);

/* Hops of all messages together, and the longest. */
void torus_layout_measure(struct torus_layout *layout, const struct torus_shape *shape,
			  const struct torus_tiling *tiling);

#endif
