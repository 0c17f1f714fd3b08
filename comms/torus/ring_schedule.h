/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_RING_SCHEDULE_H
#define TORUS_RING_SCHEDULE_H

#include <stdint.h>

#include "shape.h"

/*
 * The ring schedule: each node's data goes to all others, from neighbour to neighbour along the
 * rings of each axis, over all links at once.
 *
 * part    of a node's data: two for each axis longer than 1. Parts 2 i and 2 i + 1 go along the
 *         i-th of these axes first, then, from all nodes there, along the next, and so on. Along an
 *         axis they go in both directions, on a mesh to its ends, on a ring half-way round. On an
 *         even ring the opposite node receives one part from below and the other from above
 * step    sends one part of one node's data (the origin's) from a place to its neighbour
 * level   number of steps that the part took to reach the place
 *
 * So a part of an origin goes down a tree, and all parts of all origins load the links of a ring
 * equally. The reverse schedule goes up these trees: each node combines data for one node on its
 * path.
 */
struct torus_ring_step {
	int level, part, origin;
	/*
	 * In the reverse schedule: within a level, steps of the same order run together, so that
	 * links of all axes are busy.
	 */
	int order;
};

int torus_ring_parts(const struct torus_shape *shape);

/*
 * The share of each part in a node's data. On rings of equal length all parts are equal; otherwise
 * the shares make the links of all axes carry the same. Links along a mesh carry different amounts,
 * so the shares depend on the use.
 *
 * one way    all nodes' data to all, or back: a node at the ends of all meshes receives the same by
 *            each of its links
 * both ways  back and then to all, both at once: one uses what the other leaves of a link
 */
struct torus_ring_shares {
	int parts;
	/* Total share of all parts before one, in 65536ths. */
	unsigned before[TORUS_DIRECTIONS + 1];
};
enum torus_ring_ways { TORUS_ONE_WAY, TORUS_BOTH_WAYS };
void torus_ring_shares(const struct torus_shape *shape, enum torus_ring_ways ways, struct torus_ring_shares *shares);
double torus_ring_share(const struct torus_ring_shares *shares, int part);

/*
 * One way: the number of links of a node at the ends of all meshes, which has the fewest. Both
 * ways: the average of all nodes.
 */
double torus_ring_links(const struct torus_shape *shape, enum torus_ring_ways ways);

/* The start of a part of data of this size, at a whole line; for part = parts, the end. */
size_t torus_ring_part_begin(const struct torus_ring_shares *shares, size_t bytes, int part);

/*
 * All steps of a place in one direction, lowest level first: the place sends first what it receives
 * first. Returns their number; list has room for them, or is NULL.
 */
int torus_ring_schedule(const struct torus_shape *shape, int place, int direction, struct torus_ring_step *list);

/*
 * All steps that return to a place from its neighbour in that direction, highest level first: data
 * from further away comes earlier. All lists of a place have the same order, so it can combine one
 * part for one origin from several neighbours.
 */
int torus_ring_reverse_schedule(const struct torus_shape *shape, int place, int direction,
				struct torus_ring_step *list);

/* The largest number of steps of any place in any direction. */
int torus_ring_schedule_most(const struct torus_shape *shape);

#endif
