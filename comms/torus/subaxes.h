/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_SUBAXES_H
#define TORUS_SUBAXES_H

#include "shape.h"

/*
 * Lines through a torus: how several short axes replace a long one.
 *
 * sub-axis  an axis, or an even part of one: a number of places, a distance between them, perhaps
 *           closed to a ring
 * line    all places that sub-axes span together, in an order in which successive places are near;
 *         in a closed line the last place is also near the first. Lines over different axes use
 *         different cables
 */
struct torus_subaxis {
	int size;
	int stride; /* between places, in numbers of places */
	int hops;   /* between places, in cables */
	bool ring;
};

struct torus_line {
	int size;
	int longest; /* hops between two neighbours */
	long hops;   /* between all neighbours together */
	int *offset; /* of each place from the first, in numbers of places; has room for size */
};

/*
 * Makes a closed or open line over the sub-axes; axes is their shape, by which hops are counted.
 * Returns false if there is no memory.
 */
bool torus_line_make(struct torus_line *line, const struct torus_shape *axes, const struct torus_subaxis *subaxes,
		     int count, bool closed);

/*
 * Finds a torus with this many axes in which all neighbours are one cable apart: each axis is a
 * closed line over axes of the shape; owner[a] is the axis that a belongs to. Prefers the one
 * nearest a cube. Returns false if there is none.
 */
bool torus_virtual(const struct torus_shape *shape, int axes, int *sizes, int owner[TORUS_AXES]);

#endif
