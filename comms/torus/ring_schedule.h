/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_RING_SCHEDULE_H
#define TORUS_RING_SCHEDULE_H

#include "shape.h"

/*
 * What every node brings goes to all others, from neighbour to neighbour along the rings of each axis, over all links at once.
 *
 * part    of what a node brings: two for each axis longer than 1. Parts 2 i and 2 i + 1 go along the i-th of these axes first,
 *         then, from all nodes there, along the next, and so on round. Along an axis they go both ways, on a mesh to its ends, on a
 *         ring half round. Of an even ring the node just opposite gets the one part from below and the other from above.
 * pass    of a part of one node's from a place to its neighbour
 * level   how many passes it took that part to come to the place
 *
 * So a part of an origin goes down a tree, and all parts of all origins load the links of a ring alike. In the other direction,
 * up these trees, what all nodes bring for one of them is combined on the way: these are the returns.
 */
struct torus_ring_step {
	int level, part, origin;
	int turn; /* of returns: which of a level go together, so that links of all axes are busy */
};

int torus_ring_parts(const struct torus_shape *shape);

/* Does the place send the part of the origin this way? Then the level says where it stands. */
bool torus_ring_sends(const struct torus_shape *shape, int part, int origin, int place, int direction, int *level);

/*
 * All that a place sends one way, lowest level first: what it has earlier goes earlier. Returns how many; there is room for so many,
 * or list is NULL.
 */
int torus_ring_schedule(const struct torus_shape *shape, int place, int direction, struct torus_ring_step *list);

/*
 * All that comes back to a place from its neighbour that way, highest level first: what comes from further off comes earlier. All lists
 * of a place are in one order, so what several neighbours send of one part for one origin can be taken together.
 */
int torus_ring_reverse_schedule(const struct torus_shape *shape, int place, int direction, struct torus_ring_step *list);

/* The most that any place sends any way. */
int torus_ring_schedule_most(const struct torus_shape *shape);

#endif
