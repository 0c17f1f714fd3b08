/* SPDX-License-Identifier: BSD-3-Clause */
#include "shape.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool torus_refuse(char problem[TORUS_PROBLEM], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(problem, TORUS_PROBLEM, format, arguments);
	va_end(arguments);
	return false;
}

bool torus_read_size(const char **text, const char *marks, int *size, char *mark)
{
	char *end;
	long number;

	if (!isdigit((unsigned char)**text))
		return false;
	number = strtol(*text, &end, 10);
	if (number < 1 || number > TORUS_PLACES)
		return false;
	*size = (int)number;
	*mark = 0;
	if (*end && strchr(marks, *end))
		*mark = *end++;
	*text = end;
	return true;
}

bool torus_shape_complete(struct torus_shape *shape)
{
	long places = 1;

	for (int a = shape->axes - 1; a >= 0; a--) {
		shape->stride[a] = (int)places;
		places *= shape->axis[a].size;
		if (places > TORUS_PLACES)
			return false;
	}
	shape->places = (int)places;
	return true;
}

bool torus_shape_read(struct torus_shape *shape, const char *text, char problem[TORUS_PROBLEM])
{
	const char *at = text;

	memset(shape, 0, sizeof *shape);
	for (;;) {
		struct torus_axis *axis = &shape->axis[shape->axes];
		char mark;

		if (shape->axes == TORUS_AXES)
			return torus_refuse(problem, "%.60s: more than six axes; a shape has one to six, as in 4x4x2",
					    text);
		if (!torus_read_size(&at, "mrd", &axis->size, &mark))
			return torus_refuse(problem,
					    "%.60s: not a shape; give sizes from 1 with x between, as in 4x4mx2", text);
		if (mark == 'd' && axis->size != 2)
			return torus_refuse(
				problem,
				"%.60s: d, two cables, is for an axis of two nodes; a longer ring needs no mark", text);
		axis->ring = mark == 'd' || (mark != 'm' && axis->size > 2);
		shape->axes++;
		if (!*at)
			break;
		if (*at++ != 'x')
			return torus_refuse(
				problem,
				"%.60s: not a shape; after a size comes m (mesh), d (two cables) or x, as in 4x4mx2",
				text);
	}
	if (!torus_shape_complete(shape))
		return torus_refuse(problem, "%.60s: more than 16777216 places", text);
	return true;
}

const char *torus_shape_text(const struct torus_shape *shape, char buffer[TORUS_TEXT])
{
	size_t length = 0;

	buffer[0] = '\0';
	for (int a = 0; a < shape->axes; a++) {
		const struct torus_axis *axis = &shape->axis[a];
		const char *mark = axis->size == 2 ? (axis->ring ? "d" : "") : axis->size > 2 && !axis->ring ? "m" : "";

		length += (size_t)snprintf(buffer + length, TORUS_TEXT - length, "%s%d%s", a ? "x" : "", axis->size,
					   mark);
	}
	return buffer;
}

/* Splits nodes into non-increasing factors with the least sum: the nearest to a cube. */
static int best_factors(int nodes, int axes, int most, int *factors)
{
	int best = -1, tail[TORUS_AXES];

	if (axes == 1) {
		factors[0] = nodes;
		return nodes <= most ? nodes : -1;
	}
	for (int f = most < nodes ? most : nodes; f >= 1; f--) {
		int sum = nodes % f ? -1 : best_factors(nodes / f, axes - 1, f, tail);

		if (sum < 0 || (best >= 0 && f + sum >= best))
			continue;
		best = f + sum;
		factors[0] = f;
		memcpy(factors + 1, tail, (size_t)(axes - 1) * sizeof *tail);
	}
	return best;
}

void torus_shape_guess(struct torus_shape *shape, int nodes, int axes)
{
	int factors[TORUS_AXES];

	memset(shape, 0, sizeof *shape);
	best_factors(nodes, axes, nodes, factors);
	for (int a = 0; a < axes; a++)
		if (a == 0 || factors[a] > 1)
			shape->axis[shape->axes++] = (struct torus_axis){.size = factors[a], .ring = factors[a] > 2};
	torus_shape_complete(shape);
}

int torus_coordinate(const struct torus_shape *shape, int place, int axis)
{
	return place / shape->stride[axis] % shape->axis[axis].size;
}

void torus_coordinates(const struct torus_shape *shape, int place, int *coordinates)
{
	for (int a = 0; a < shape->axes; a++)
		coordinates[a] = torus_coordinate(shape, place, a);
}

int torus_place_at(const struct torus_shape *shape, const int *coordinates)
{
	int place = 0;

	for (int a = 0; a < shape->axes; a++)
		place += coordinates[a] * shape->stride[a];
	return place;
}

const char *torus_place_text(const struct torus_shape *shape, int place, char buffer[TORUS_TEXT])
{
	size_t length = 0;

	for (int a = 0; a < shape->axes; a++)
		length += (size_t)snprintf(buffer + length, TORUS_TEXT - length, "%s%d", a ? "," : "",
					   torus_coordinate(shape, place, a));
	return buffer;
}

const char *torus_direction_name(int direction)
{
	static const char *const names[TORUS_DIRECTIONS] = {"x+", "x-", "y+", "y-", "z+", "z-",
							    "a+", "a-", "b+", "b-", "c+", "c-"};

	return names[direction];
}

int torus_neighbour(const struct torus_shape *shape, int place, int direction)
{
	int a = direction / 2, size = shape->axis[a].size, at = torus_coordinate(shape, place, a);

	if (direction % 2 == 0) {
		if (at < size - 1)
			return place + shape->stride[a];
		return shape->axis[a].ring ? place - (size - 1) * shape->stride[a] : -1;
	}
	if (at > 0)
		return place - shape->stride[a];
	return shape->axis[a].ring ? place + (size - 1) * shape->stride[a] : -1;
}

bool torus_is_second_cable(const struct torus_shape *shape, int direction)
{
	return shape->axis[direction / 2].ring && shape->axis[direction / 2].size == 2 && direction % 2;
}

int torus_steps(const struct torus_axis *axis, int from, int to)
{
	int up = to - from;

	if (!axis->ring)
		return up;
	if (up < 0)
		up += axis->size;
	return 2 * up <= axis->size ? up : up - axis->size;
}

int torus_hops(const struct torus_shape *shape, int from, int to)
{
	int hops = 0;

	for (int a = 0; a < shape->axes; a++)
		hops += abs(
			torus_steps(&shape->axis[a], torus_coordinate(shape, from, a), torus_coordinate(shape, to, a)));
	return hops;
}

int torus_diameter(const struct torus_shape *shape)
{
	int hops = 0;

	for (int a = 0; a < shape->axes; a++)
		hops += shape->axis[a].ring ? shape->axis[a].size / 2 : shape->axis[a].size - 1;
	return hops;
}

int torus_next(const struct torus_shape *shape, int at, int to)
{
	for (int a = 0; a < shape->axes; a++) {
		int steps =
			torus_steps(&shape->axis[a], torus_coordinate(shape, at, a), torus_coordinate(shape, to, a));

		if (steps)
			return 2 * a + (steps < 0);
	}
	return -1;
}
