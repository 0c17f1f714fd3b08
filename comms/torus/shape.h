/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_SHAPE_H
#define TORUS_SHAPE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The shape of a torus, and positions in it.
 *
 * axis    a direction in which nodes are cabled in a row, from 1 to 6 of them
 * ring    an axis whose ends are cabled together; otherwise it is a mesh. A pair of nodes with one
 *         cable is a mesh of two, with two cables it is a ring of two.
 * place   a position in the box that the axes span, as a number: the last axis counts fastest, as
 *         in a C array
 * direction
 *         of travel: 2 * axis towards higher coordinates (x+), 2 * axis + 1 towards lower ones (x-)
 * link    one direction of one cable: the place where it begins and its direction
 *
 * All of comms/torus is like this file: pure functions, no clock, no globals, no files. They
 * describe an error in one line, which the caller prints.
 */
enum {
	TORUS_AXES = 6,
	TORUS_DIRECTIONS = 2 * TORUS_AXES,
	TORUS_PLACES = 1 << 24, /* more than any machine has; sums of places fit an int */
	TORUS_PORT = 16,	/* most bytes of the name of a network interface */
	TORUS_TEXT = 96,	/* room for any shape or coordinates as text */
	TORUS_PROBLEM = 256	/* room for a line that says what is wrong */
};

struct torus_axis {
	int size;
	bool ring;
};

struct torus_shape {
	int axes;
	struct torus_axis axis[TORUS_AXES];
	int stride[TORUS_AXES]; /* from a place to the next along an axis */
	int places;
};

/* Writes the line into problem and returns false. */
bool torus_refuse(char problem[TORUS_PROBLEM], const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Reads a size and the mark behind it, as in "4m"; *text moves behind them. The mark is one of
 * marks, or 0.
 */
bool torus_read_size(const char **text, const char *marks, int *size, char *mark);

/*
 * Reads "4x4mx2d": m after a mesh, d after a pair with two cables. Returns false with the reason in
 * `problem`.
 */
bool torus_shape_read(struct torus_shape *shape, const char *text, char problem[TORUS_PROBLEM]);
const char *torus_shape_text(const struct torus_shape *shape, char buffer[TORUS_TEXT]);

/*
 * Computes strides and number of places after the axes have been filled in. Returns false if there
 * are too many places.
 */
bool torus_shape_complete(struct torus_shape *shape);

/* An invented shape for a number of nodes: as near a cube as the number allows. */
void torus_shape_guess(struct torus_shape *shape, int nodes, int axes);

int torus_coordinate(const struct torus_shape *shape, int place, int axis);
void torus_coordinates(const struct torus_shape *shape, int place, int *coordinates);
int torus_place_at(const struct torus_shape *shape, const int *coordinates);
const char *torus_place_text(const struct torus_shape *shape, int place, char buffer[TORUS_TEXT]);

/* Writes "x+", "x-", "y+" and so on; the axes are x y z a b c. */
const char *torus_direction_name(int direction);

/* The place at the other end of the cable that leaves in this direction, or -1. */
int torus_neighbour(const struct torus_shape *shape, int place, int direction);

/* Is it the second cable of a pair with two? Routes use the first one, upwards. */
bool torus_is_second_cable(const struct torus_shape *shape, int direction);

/*
 * Steps from one coordinate to another: positive upwards, negative downwards. Half a ring goes
 * upwards.
 */
int torus_steps(const struct torus_axis *axis, int from, int to);
int torus_hops(const struct torus_shape *shape, int from, int to);

/* The largest number of hops between two places. */
int torus_diameter(const struct torus_shape *shape);

/*
 * The direction in which a message leaves on its route in dimension order, first axis first; -1 at
 * its destination.
 */
int torus_next(const struct torus_shape *shape, int at, int to);

#endif
