/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_RING_SCHEDULE_H
#define TORUS_RING_SCHEDULE_H

#include <stdint.h>

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

/*
 * How much of a node's data each part has. On rings of equal length all parts are equal; elsewhere they are such that the links of all axes
 * carry the same. Along a mesh links do not carry alike, so it depends on what is done.
 *
 * one way    all nodes' data to all, or back: a node at the ends of all meshes gets the same by each of its links
 * both ways  back and then to all, both at once: what the one leaves of a link the other takes
 */
struct torus_ring_shares {
	int parts;
	unsigned before[TORUS_DIRECTIONS + 1]; /* what all parts before one have together, in 65536ths */
};
enum torus_ring_ways { TORUS_ONE_WAY, TORUS_BOTH_WAYS };
void torus_ring_shares(const struct torus_shape *shape, enum torus_ring_ways ways, struct torus_ring_shares *shares);
double torus_ring_share(const struct torus_ring_shares *shares, int part);

/* One way: the links of a node that has the fewest, at the ends of all meshes. Both ways: what nodes have on average. */
double torus_ring_links(const struct torus_shape *shape, enum torus_ring_ways ways);

/* Where a part of so many bytes begins, at a whole line; that of part = parts is the end. */
size_t torus_ring_part_begin(const struct torus_ring_shares *shares, size_t bytes, int part);

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
