/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_EXCHANGE_SCHEDULE_H
#define TORUS_EXCHANGE_SCHEDULE_H

#include "lines.h"

/*
 * The exchange schedule: an all-to-all from neighbour to neighbour, over all links at once.
 *
 * block   what one node has for another
 * part    of all blocks: as many for each axis longer than 1 as there are cuts. Those of the i-th axis go along this axis first, then along
 *         the next, and so on, so that in each phase other parts use the links of other axes. Cuts let a part go on while others follow.
 * phase   number of the axis in the order of a part. In it each node has a bundle for each other node of its line: the blocks for all
 *         places with that coordinate, its own and those that came in the phases before.
 * bundle  goes the shorter way round, over all nodes between. Half-way round a ring those of odd cuts go downwards.
 * level   how many nodes have sent the bundle before
 *
 * No routes are needed, and on rings no link carries more than the others of its axis. Where cables are dead or slow, lines are cut there or have
 * bypasses (lines.h; NULL: there are no flaws), and the nodes of a bypass hand on what is for the line that it belongs to.
 */
struct torus_exchange_step {
	int phase, part, level;
	int line, origin, target; /* coordinates along the axis of the phase, in this line */
	int from, onwards; /* directions in which it has come, and goes on from the next node; -1: it begins, or ends */
};

/*
 * The most bytes of a block that go at once, so that what a node keeps between the phases is bounded; larger blocks go in rounds. 0: the
 * shape has no links, or so many places that there is no room for a line of each.
 */
size_t torus_exchange_block_most(const struct torus_shape *shape);

/* The number of cuts for blocks of so many bytes. */
int torus_exchange_cuts(const struct torus_shape *shape, size_t bytes);

/* The number of parts, and the axis along which a part goes in a phase. There are as many phases as axes longer than 1. */
int torus_exchange_parts(const struct torus_shape *shape, int cuts);
int torus_exchange_phases(const struct torus_shape *shape);
int torus_exchange_axis(const struct torus_shape *shape, int cuts, int part, int phase);

/*
 * All that a place sends in one direction, in its order: by phase, cut and level, the furthest first. Each waits for steps before it in this
 * order only: the one that brings the bundle, or, on level 0, all that come for this place in the phase before. So nobody waits for ever.
 * Returns their number; list has room for so many, or is NULL.
 */
int torus_exchange_schedule(const struct torus_shape *shape, const struct torus_lines *lines, int cuts, int place,
			    int direction, struct torus_exchange_step *list);

/*
 * What the busiest link carries in an all-to-all, in blocks; and what all links would carry if they could share alike. Whichever is
 * more bounds the time of any algorithm. Where lines are cut, the busiest is that of an axis of such lines; links of bypasses carry what two
 * lines do.
 */
double torus_exchange_busiest(const struct torus_shape *shape, const struct torus_lines *lines);
double torus_exchange_mean(const struct torus_shape *shape);

#endif
