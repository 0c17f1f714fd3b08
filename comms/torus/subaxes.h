/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_SUBAXES_H
#define TORUS_SUBAXES_H

#include "shape.h"

/*
 * Lines through a torus: how a long axis is made of several short ones.
 *
 * sub-axis  an axis, or an even part of one: so many places, so far apart, perhaps closed to a ring
 * line    all places that sub-axes span together, in an order in which neighbours are near; a closed line also brings the
 *         last back near the first. Lines over different axes use different cables.
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
	int *offset; /* of each place from the first, in numbers of places; room for size */
};

/* A line over the sub-axes, closed or open; axes is their shape, by which hops are counted. False: no memory. */
bool torus_line_make(struct torus_line *line, const struct torus_shape *axes, const struct torus_subaxis *subaxes,
		     int count, bool closed);

/*
 * A torus of so many axes all of whose neighbours are one cable apart: each axis is a closed line over axes of the shape,
 * owner[a] says which one axis a belongs to. The one nearest a cube. False: there is none.
 */
bool torus_virtual(const struct torus_shape *shape, int axes, int *sizes, int owner[TORUS_AXES]);

#endif
