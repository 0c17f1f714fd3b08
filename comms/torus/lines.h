/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_LINES_H
#define TORUS_LINES_H

#include "sites.h"

/*
 * The lines of a torus for schedules from neighbour to neighbour that avoid dead and slow cables.
 *
 * line    the nodes along an axis whose other coordinates are equal: a ring, or a mesh. Its number
 *         is its place with coordinate 0
 * flaw    a dead or slow cable of a line
 * cut     the first flaw of a ring makes it a mesh that begins behind the flaw
 * bypass  goes round another flaw along a line beside it: one link aside, one in its direction, and
 *         one back
 */
struct torus_bypass {
	int place, direction; /* the flaw leaves the place in this direction, upwards */
	int side;	      /* direction of the line beside it */
};

struct torus_lines {
	/*
	 * By place times axes plus axis: the start of the line through the place if it is cut, else
	 * -1.
	 */
	int *begins;
	int bypasses;
	struct torus_bypass *bypass;
};

/*
 * Returns false if there is no memory. possible becomes false if there is a hole, a flaw without an
 * intact line beside it, or a flaw in a pair with two cables, whose nodes cannot choose between
 * them.
 */
bool torus_lines_find(struct torus_lines *lines, const struct torus_sites *sites, bool *possible);
void torus_lines_free(struct torus_lines *lines);

/* The links of a bypass: in the direction of the flaw, or back. */
enum { TORUS_BYPASS_HOPS = 3 };
struct torus_hop {
	int place, direction;
};
struct torus_hop torus_bypass_hop(const struct torus_shape *shape, const struct torus_bypass *bypass, bool back,
				  int hop);

/*
 * The direction in which the bypass of a link leaves its place; without a bypass, that of the link
 * itself.
 */
int torus_lines_leave(const struct torus_shape *shape, const struct torus_lines *lines, int place, int direction);

#endif
