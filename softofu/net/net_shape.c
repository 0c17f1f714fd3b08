/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/net/net_shape.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 1 << 24 }; /* more than any machine has; sums of places fit an int */

bool net_refuse(char problem[NET_PROBLEM], const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(problem, NET_PROBLEM, format, arguments);
	va_end(arguments);
	return false;
}

bool net_shape_complete(struct net_shape *shape)
{
	long places = 1;

	for (int a = shape->axes - 1; a >= 0; a--) {
		shape->stride[a] = (int)places;
		places *= shape->axis[a].size;
		if (places > MOST_PLACES)
			return false;
	}
	shape->places = (int)places;
	return true;
}

/* A size and the mark behind it, if there is one; *text moves behind them. */
static bool read_axis(struct net_axis *axis, const char **text)
{
	char *end;
	long size = isdigit((unsigned char)**text) ? strtol(*text, &end, 10) : 0;
	char mark = 0;

	if (size < 1 || size > MOST_PLACES)
		return false;
	if (*end == 'm' || *end == 'd')
		mark = *end++;
	if (mark == 'd' && size != 2)
		return false;
	*axis = (struct net_axis){(int)size, mark == 'd' || (!mark && size > 2)};
	*text = end;
	return true;
}

bool net_shape_read(struct net_shape *shape, const char *text, char problem[NET_PROBLEM])
{
	const char *at = text;

	memset(shape, 0, sizeof *shape);
	do {
		if (shape->axes == NET_AXES)
			return net_refuse(problem, "%.60s: more than six axes; a shape has one to six, as in 4x4x2",
					  text);
		if (!read_axis(&shape->axis[shape->axes++], &at) || (*at && *at != 'x'))
			return net_refuse(problem,
					  "%.60s: not a shape; give sizes with x between, as in 4x4mx2d (m: a mesh, "
					  "d: a pair with two cables)",
					  text);
	} while (*at++);
	if (!net_shape_complete(shape))
		return net_refuse(problem, "%.60s: more than %d places", text, MOST_PLACES);
	return true;
}

const char *net_shape_text(const struct net_shape *shape, char buffer[NET_TEXT])
{
	size_t length = 0;

	buffer[0] = '\0';
	for (int a = 0; a < shape->axes; a++) {
		const struct net_axis *axis = &shape->axis[a];
		const char *mark = axis->size == 2 ? (axis->ring ? "d" : "") : axis->size > 2 && !axis->ring ? "m" : "";

		length +=
			(size_t)snprintf(buffer + length, NET_TEXT - length, "%s%d%s", a ? "x" : "", axis->size, mark);
	}
	return buffer;
}

int net_coordinate(const struct net_shape *shape, int place, int axis)
{
	return place / shape->stride[axis] % shape->axis[axis].size;
}

int net_place_at(const struct net_shape *shape, const int *coordinates)
{
	int place = 0;

	for (int a = 0; a < shape->axes; a++)
		place += coordinates[a] * shape->stride[a];
	return place;
}

const char *net_place_text(const struct net_shape *shape, int place, char buffer[NET_TEXT])
{
	size_t length = 0;

	for (int a = 0; a < shape->axes; a++)
		length += (size_t)snprintf(buffer + length, NET_TEXT - length, "%s%d", a ? "," : "",
					   net_coordinate(shape, place, a));
	return buffer;
}

const char *net_direction_name(int direction)
{
	static const char *const names[NET_DIRECTIONS] = {"x+", "x-", "y+", "y-", "z+", "z-",
							  "a+", "a-", "b+", "b-", "c+", "c-"};

	return names[direction];
}

int net_neighbour(const struct net_shape *shape, int place, int direction)
{
	int a = direction / 2, size = shape->axis[a].size, at = net_coordinate(shape, place, a);

	if (direction % 2 == 0) {
		if (at < size - 1)
			return place + shape->stride[a];
		return shape->axis[a].ring ? place - (size - 1) * shape->stride[a] : -1;
	}
	if (at > 0)
		return place - shape->stride[a];
	return shape->axis[a].ring ? place + (size - 1) * shape->stride[a] : -1;
}

int net_steps(const struct net_axis *axis, int from, int to)
{
	int up = to - from;

	if (!axis->ring)
		return up;
	if (up < 0)
		up += axis->size;
	return 2 * up <= axis->size ? up : up - axis->size;
}
