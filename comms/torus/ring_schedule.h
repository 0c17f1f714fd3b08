/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_RING_SCHEDULE_H
#define TORUS_RING_SCHEDULE_H

#include "shape.h"

/*
 * The ring schedule: each node's data goes to all others, from neighbour to neighbour along the rings of each axis, over all links at once.
 *
 * part    of a node's data: two for each axis longer than 1. Parts 2 i and 2 i + 1 go along the i-th of these axes first,
 *         then, from all nodes there, along the next, and so on. Along an axis they go in both directions, on a mesh to its ends, on a
 *         ring half round. On an even ring the node just opposite gets the one part from below and the other from above.
 * step    sends one part of one node's data (the origin's) from a place to its neighbour
 * level   how many steps the part took to reach the place
 *
 * So a part of an origin goes down a tree, and all parts of all origins load the links of a ring equally. The reverse schedule goes up
 * these trees: each node combines data for one node on its path.
 */
struct torus_ring_step {
	int level, part, origin;
	/* in the reverse schedule: within a level, steps of the same order go together, so that links of all axes are busy */
	int order;
};

int torus_ring_parts(const struct torus_shape *shape);

/* Does the place send the part of the origin in this direction? level: the level of the part there. */
bool torus_ring_sends(const struct torus_shape *shape, int part, int origin, int place, int direction, int *level);

/*
 * All steps of a place in one direction, lowest level first: the place sends first what it gets first. Returns their number; list has room
 * for so many, or is NULL.
 */
int torus_ring_schedule(const struct torus_shape *shape, int place, int direction, struct torus_ring_step *list);

/*
 * All steps that come back to a place from its neighbour in that direction, highest level first: what comes from further off comes earlier.
 * All lists of a place have the same order, so it can combine what several neighbours send of one part for one origin.
 */
int torus_ring_reverse_schedule(const struct torus_shape *shape, int place, int direction,
				struct torus_ring_step *list);

/* The largest number of steps of any place in any direction. */
int torus_ring_schedule_most(const struct torus_shape *shape);

#endif
