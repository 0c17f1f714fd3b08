/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_BOX_H
#define SOFTOFU_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The box of nodes a job has, and where its ranks are in it. Pure functions: libtofucom, libjtofu and oshrun all come
 * to the same answer without talking.
 *
 * A node has six physical coordinates, x y z a b c. The logical ones are three: x and a together are one line that goes
 * out along a = 0 and comes back along a = 1, and so are y with b and z with c. Ranks are laid along logical x first,
 * then y, then z, per_node of them on each node; nodes in holes have none.
 */
enum { BOX_AXES = 6, BOX_HOLES = 256, BOX_XYZ_MOST = 255, BOX_ABC_MOST = 15, BOX_PER_NODE_MOST = 48 };

struct box {
	int size[BOX_AXES];
	bool ring[BOX_AXES];
	int per_node;
	int hole_count;
	long holes[BOX_HOLES]; /* logical numbers of nodes that are missing, ascending */
};

/*
 * "4x4x2" or "2x2x2x2x3x2"; an m after a size: a mesh, whose ends have no cable between them. Holes are coordinates,
 * "0,1,0,0,0,0 1,1,0,0,0,0". Returns NULL, or what is wrong.
 */
const char *box_read(struct box *box, const char *shape, const char *holes, int per_node);

/* A box of whole units of 2x3x2 nodes with room for so many ranks: what a job gets that asked for nothing. */
void box_around(struct box *box, long ranks, int per_node);

long box_nodes(const struct box *box); /* with the holes */
long box_room(const struct box *box);  /* ranks */

/* False: there is no room for that rank. Either of the results may be NULL. */
bool box_place(const struct box *box, long rank, uint8_t physical[BOX_AXES], uint32_t logical[3]);

/* The number of a node among all of the box, or -1 if there is none at these coordinates. */
long box_node(const struct box *box, const uint8_t physical[BOX_AXES]);

/* Hops on the way from one node to another if it passes a, b, c of via, as the Tofu network routes. */
int box_hops(const struct box *box, const uint8_t from[BOX_AXES], const uint8_t to[BOX_AXES], const uint8_t via[3]);

#endif
