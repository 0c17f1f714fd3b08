/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random shapes for the tests of comms/torus: always the same ones, because the random numbers are.
 */
#ifndef TESTS_LIB_TORI_H
#define TESTS_LIB_TORI_H

#include <stdint.h>
#include <string.h>

#include "comms/torus/shape.h"

static uint64_t tori_state = 88172645463325252;

static inline int tori_random(int below)
{
	tori_state ^= tori_state << 13;
	tori_state ^= tori_state >> 7;
	tori_state ^= tori_state << 17;
	return (int)((tori_state >> 11) % (uint64_t)below);
}

/*
 * Up to six axes of sizes from 1, rings, meshes and pairs with two cables, with at most so many
 * places.
 */
static inline void tori_shape(struct torus_shape *shape, int most)
{
	memset(shape, 0, sizeof *shape);
	shape->axes = 1 + tori_random(TORUS_AXES);
	for (int a = 0; a < shape->axes; a++) {
		int size = 1 + tori_random(shape->axes > 3 ? 4 : 9);

		shape->axis[a] =
			(struct torus_axis){size <= most ? size : 1, size <= most && size > 1 && tori_random(2)};
		most /= shape->axis[a].size;
	}
	torus_shape_complete(shape);
}

static inline void tori_read(struct torus_shape *shape, const char *text)
{
	char problem[TORUS_PROBLEM];

	if (!torus_shape_read(shape, text, problem))
		memset(shape, 0, sizeof *shape);
}

/* Are all axes with more than one place rings of the same length? */
static inline bool tori_equal_rings(const struct torus_shape *shape)
{
	int size = 0;

	for (int a = 0; a < shape->axes; a++) {
		if (shape->axis[a].size == 1)
			continue;
		if (!shape->axis[a].ring || (size && shape->axis[a].size != size))
			return false;
		size = shape->axis[a].size;
	}
	return size > 0;
}

#endif
