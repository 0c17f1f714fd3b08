/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_EXCHANGE_SCHEDULE_H
#define TORUS_EXCHANGE_SCHEDULE_H

#include "lines.h"

/*
 * The exchange schedule: an all-to-all from neighbour to neighbour, over all links at once.
 *
 * block   the data of one node for another
 * part    of every block: one for each axis longer than 1 and each cut. The parts of the i-th axis
 *         go along this axis first, then along the next, and so on, so that in each phase other
 *         parts use the links of other axes. Cuts let one part go on while others follow
 * phase   number of the axis in the order of a part. In it each node has a bundle for each other
 *         node of its line: the blocks for all places with that coordinate, its own and those that
 *         came in earlier phases
 * bundle  goes the shorter way round, over all nodes in between. For a node half-way round a ring,
 *         bundles of odd cuts go downwards
 * level   number of nodes that have sent the bundle so far
 *
 * It needs no routes, and on rings all links of an axis carry the same. At dead or slow cables,
 * lines are cut or have bypasses (lines.h; NULL: there are no such cables); the nodes of a bypass
 * forward bundles of the line that it belongs to.
 */
struct torus_exchange_step {
	int phase, part, level;
	int line, origin, target; /* coordinates along the axis of the phase, in this line */
	/* Directions in which it arrives, and leaves from the next node; -1: it begins, or ends. */
	int from, onwards;
};

/*
 * The most bytes of a block at a time, which bounds what a node stores between the phases; larger
 * blocks go in rounds. 0: the shape has no links, or so many places that memory does not hold a
 * line of each.
 */
size_t torus_exchange_block_most(const struct torus_shape *shape);

/* The number of cuts for blocks of this size. */
int torus_exchange_cuts(const struct torus_shape *shape, size_t bytes);

/*
 * The number of parts, and the axis of a part in a phase. There are as many phases as axes longer
 * than 1.
 */
int torus_exchange_parts(const struct torus_shape *shape, int cuts);
int torus_exchange_phases(const struct torus_shape *shape);
int torus_exchange_axis(const struct torus_shape *shape, int cuts, int part, int phase);

/*
 * All bundles that a place sends in one direction, in order: by phase, cut and level, the furthest
 * first. Each waits only for earlier ones in this order: the one that brings the bundle or, on
 * level 0, all that arrive here in the phase before. So there is no deadlock. Returns their number;
 * list has room for them, or is NULL.
 */
int torus_exchange_schedule(const struct torus_shape *shape, const struct torus_lines *lines, int cuts, int place,
			    int direction, struct torus_exchange_step *list);

/*
 * The load of the busiest link in an all-to-all, in blocks; and the load if all links shared
 * equally. The larger of the two bounds the time of any algorithm. If lines are cut, the busiest
 * link is on such an axis; links of bypasses carry the load of two lines.
 */
double torus_exchange_busiest(const struct torus_shape *shape, const struct torus_lines *lines);
double torus_exchange_mean(const struct torus_shape *shape);

#endif
