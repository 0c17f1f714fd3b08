/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_NET_SHAPE_H
#define SOFTOFU_NET_NET_SHAPE_H

#include <stdbool.h>

/*
 * The shape of a torus, and places in it. This is arithmetic: nothing here knows a network.
 *
 * axis       nodes that are cabled in a row; a ring if its ends are cabled together, too. A pair of
 *            nodes is a ring if it has two cables.
 * place      number of a node; the last axis counts fastest, as in a C array
 * direction  2 * axis towards higher coordinates (x+), 2 * axis + 1 towards lower ones (x-)
 */
enum {
	NET_AXES = 6,
	NET_DIRECTIONS = 2 * NET_AXES,
	NET_TEXT = 96,	  /* room for any shape or coordinates as text */
	NET_PROBLEM = 256 /* room for a line that says what is wrong */
};

struct net_axis {
	int size;
	bool ring;
};

struct net_shape {
	int axes;
	struct net_axis axis[NET_AXES];
	int stride[NET_AXES]; /* from a place to the next along an axis */
	int places;
};

/* Writes the line into problem and returns false. */
bool net_refuse(char problem[NET_PROBLEM], const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Reads "4x4mx2d": m after a mesh, d after a pair with two cables. */
bool net_shape_read(struct net_shape *shape, const char *text, char problem[NET_PROBLEM]);
const char *net_shape_text(const struct net_shape *shape, char buffer[NET_TEXT]);

/* Computes strides and places of the axes. Returns false if there are too many places. */
bool net_shape_complete(struct net_shape *shape);

int net_coordinate(const struct net_shape *shape, int place, int axis);
int net_place_at(const struct net_shape *shape, const int *coordinates);
const char *net_place_text(const struct net_shape *shape, int place, char buffer[NET_TEXT]);

/* "x+", "x-", "y+" and so on; the axes are x y z a b c. */
const char *net_direction_name(int direction);

/* The place at the other end of the cable that leaves in this direction, or -1. */
int net_neighbour(const struct net_shape *shape, int place, int direction);

/* Steps between coordinates, upwards or (negative) downwards. Half a ring goes upwards. */
int net_steps(const struct net_axis *axis, int from, int to);

#endif
