/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_PLACE_H
#define TORUS_PLACE_H

#include "program_grid.h"

/*
 * Placement: assigns a user's grid to PEs so that neighbours in the grid are neighbours on the
 * torus.
 *
 * rank order   PE after PE, node after node: the result without a placement
 * tile         the part of the grid on the PEs of one node
 * cells        the grid in which each tile is one cell; a cell is a node
 * layout       a place for every cell
 */
struct torus_plan {
	/* Of each PE of the grid, row by row: its node, and its index on the node. */
	int *node, *slot;
	int tile[TORUS_AXES];
	const char *how;
	/* Of rank order, and of this plan, which is never worse in any respect. */
	struct torus_cost before, after;
};

/*
 * Places a grid on sites with this many PEs each; the grid must have as many PEs as all sites.
 * Otherwise, or without memory, returns false with the reason in `problem`.
 */
bool torus_place(struct torus_plan *plan, const struct torus_sites *sites, int pes, const struct torus_grid *grid,
		 char problem[TORUS_PROBLEM]);
void torus_plan_free(struct torus_plan *plan);

/* --- Between the files of the placement --- */

struct torus_tiling {
	int tile[TORUS_AXES];
	struct torus_grid cells;
	/* Messages from a cell to the next along a dimension: one for each PE of the face. */
	long weight[TORUS_AXES];
	long leaving; /* messages between cells */
};

struct torus_layout {
	long hops;
	int longest;
	int tiling; /* index of the tiling among several */
	const char *how;
	int *place;
};

/* The few best layouts, best first. */
enum { TORUS_LAYOUTS = 6 };

struct torus_choice {
	int count;
	struct torus_layout layouts[TORUS_LAYOUTS];
};

/*
 * If the layout is among the best, makes room and returns where to store its places (one per cell);
 * otherwise NULL.
 */
int *torus_choice_offer(struct torus_choice *choice, struct torus_layout layout, int cells);

/*
 * Layouts of a full box in which each dimension has its own axes, or parts of axes (subaxes.h).
 * work: how many places of lines may be visited. Returns false if there is no memory.
 */
bool torus_layouts_by_axes(struct torus_choice *choice, const struct torus_shape *shape,
			   const struct torus_tiling *tiling, int number, long work);

/*
 * A layout of any sites: halves cells and nodes repeatedly, each at its longest side. Returns false
 * if there is no memory.
 */
bool torus_layout_by_halves(int *place, const struct torus_sites *sites, const struct torus_grid *cells);

/*
 * Another layout: one line through all nodes, and the cells along it back and forth. Returns false
 * if there is no memory.
 */
bool torus_layout_by_line(int *place, const struct torus_sites *sites, const struct torus_grid *cells);

/*
 * Swaps cells while that makes routes shorter, first those with more hops than wanted, or until
 * work is used up. Returns whether it swapped.
 */
bool torus_layout_improve(int *place, const struct torus_shape *shape, const struct torus_tiling *tiling, int most,
			  long work);

/*
 * Swaps cells as torus_layout_improve does, but leaves out swaps after which the layout would be
 * worse than the limit in any respect. At the start it must not be worse than the limit. Counts the
 * load of every link for each swap tried, so it is for small layouts.
 */
bool torus_layout_improve_within(int *place, const struct torus_shape *shape, const struct torus_tiling *tiling,
				 const struct torus_cost *limit, long work);

/* Hops of all messages together, and of the longest. */
void torus_layout_measure(struct torus_layout *layout, const struct torus_shape *shape,
			  const struct torus_tiling *tiling);

#endif
