/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NODE_GRID_H
#define SOFTOFU_NODE_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The grid of nodes of a job, and the place of each rank in it. These are pure functions:
 * libtofucom, libjtofu and oshrun compute the same answer without communication.
 *
 * A node has six physical coordinates, x y z a b c, and three logical ones. Logical x is one line
 * made of x and a: it runs along a = 0 and returns along a = 1. Logical y is made of y and b
 * likewise, logical z of z and c. Ranks fill logical x first, then y, then z, per_node of them on
 * each node. Nodes in holes have no ranks.
 */
enum { GRID_AXES = 6, GRID_HOLES = 256, GRID_XYZ_MOST = 255, GRID_ABC_MOST = 15, GRID_PER_NODE_MOST = 48 };

struct node_grid {
	int size[GRID_AXES];
	bool ring[GRID_AXES];
	int per_node;
	int hole_count;
	long holes[GRID_HOLES]; /* logical numbers of nodes that are missing, ascending */
};

/*
 * Reads a shape such as "4x4x2" or "2x2x2x2x3x2". An m after a size makes the axis a mesh, whose
 * ends are not connected. Holes are coordinates: "0,1,0,0,0,0 1,1,0,0,0,0". Returns NULL, or what
 * is wrong.
 */
const char *node_grid_read(struct node_grid *grid, const char *shape, const char *holes, int per_node);

/* The default grid: whole units of 2x3x2 nodes with room for that many ranks. */
void node_grid_around(struct node_grid *grid, long ranks, int per_node);

long node_grid_nodes(const struct node_grid *grid);    /* with the holes */
long node_grid_capacity(const struct node_grid *grid); /* ranks */

/* Returns false if the grid has no room for that rank. Either result may be NULL. */
bool node_grid_place(const struct node_grid *grid, long rank, uint8_t physical[GRID_AXES], uint32_t logical[3]);

/* The number of a node in the grid, or -1 if there is no node at these coordinates. */
long node_grid_node(const struct node_grid *grid, const uint8_t physical[GRID_AXES]);

/*
 * Hops of a packet from one node to another that passes a, b, c of via, as the Tofu network routes
 * it.
 */
int node_grid_hops(const struct node_grid *grid, const uint8_t from[GRID_AXES], const uint8_t to[GRID_AXES],
		   const uint8_t via[3]);

#endif
