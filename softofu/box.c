/* SPDX-License-Identifier: BSD-3-Clause */
#include "box.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static long length(const struct box *box, int line)
{
	return (long)box->size[line] * box->size[line + 3];
}

/* Where along its line a node is, and back. The line turns at every step of the short axis. */
static long along(const struct box *box, int line, const uint8_t physical[BOX_AXES])
{
	long size = box->size[line], at = physical[line];

	return physical[line + 3] * size + (physical[line + 3] % 2 ? size - 1 - at : at);
}

static void from_along(const struct box *box, int line, long place, uint8_t physical[BOX_AXES])
{
	long size = box->size[line], turn = place / size, at = place % size;

	physical[line + 3] = (uint8_t)turn;
	physical[line] = (uint8_t)(turn % 2 ? size - 1 - at : at);
}

static long logical_number(const struct box *box, const uint8_t physical[BOX_AXES])
{
	return along(box, 0, physical) +
	       length(box, 0) * (along(box, 1, physical) + length(box, 1) * along(box, 2, physical));
}

static const char *read_axis(struct box *box, int axis, const char **text)
{
	char *end;
	long size = strtol(*text, &end, 10);

	if (end == *text || !isdigit((unsigned char)**text))
		return "sizes are numbers with x between them, as in 2x2x2x2x3x2";
	if (size < 1 || size > (axis < 3 ? BOX_XYZ_MOST : BOX_ABC_MOST))
		return axis < 3 ? "x, y and z are 1 to 255" : "a, b and c are 1 to 15";
	box->size[axis] = (int)size;
	box->ring[axis] = *end != 'm';
	*text = end + (*end == 'm');
	return NULL;
}

static int compare(const void *left, const void *right)
{
	long a = *(const long *)left, b = *(const long *)right;

	return (a > b) - (a < b);
}

static const char *read_hole(struct box *box, const char **text)
{
	uint8_t coords[BOX_AXES];

	for (int axis = 0; axis < BOX_AXES; axis++) {
		char *end;
		long at = strtol(*text, &end, 10);

		if (end == *text || (axis < BOX_AXES - 1 && *end != ','))
			return "a hole is six coordinates with commas, as in 0,1,0,0,0,0";
		if (at < 0 || at >= box->size[axis])
			return "a hole is outside the shape";
		coords[axis] = (uint8_t)at;
		*text = end + (axis < BOX_AXES - 1);
	}
	if (box->hole_count == BOX_HOLES)
		return "too many holes; 256 is the most";
	box->holes[box->hole_count++] = logical_number(box, coords);
	return NULL;
}

static const char *read_holes(struct box *box, const char *text)
{
	int kept = 0;

	for (text += strspn(text, " ;"); *text; text += strspn(text, " ;")) {
		const char *wrong = read_hole(box, &text);

		if (wrong)
			return wrong;
	}
	qsort(box->holes, (size_t)box->hole_count, sizeof box->holes[0], compare);
	for (int i = 0; i < box->hole_count; i++)
		if (!kept || box->holes[i] != box->holes[kept - 1])
			box->holes[kept++] = box->holes[i];
	box->hole_count = kept;
	return kept == box_nodes(box) ? "every node is a hole" : NULL;
}

const char *box_read(struct box *box, const char *shape, const char *holes, int per_node)
{
	memset(box, 0, sizeof *box);
	box->per_node = per_node;
	for (int axis = 0; axis < BOX_AXES; axis++)
		box->size[axis] = 1;
	if (per_node < 1 || per_node > BOX_PER_NODE_MOST)
		return "a node has 1 to 48 ranks";
	for (int axis = 0; axis < BOX_AXES; axis++) {
		const char *wrong = read_axis(box, axis, &shape);

		if (wrong)
			return wrong;
		if (!*shape)
			break;
		if (*shape++ != 'x' || axis == BOX_AXES - 1)
			return "at most six sizes with x between them, as in 2x2x2x2x3x2";
	}
	return holes ? read_holes(box, holes) : NULL;
}

void box_around(struct box *box, long ranks, int per_node)
{
	long units = (ranks + 12L * per_node - 1) / (12L * per_node);

	memset(box, 0, sizeof *box);
	box->per_node = per_node;
	for (int axis = 0; axis < BOX_AXES; axis++)
		box->size[axis] = 1;
	for (int axis = 0; axis < 3; axis++) {
		long side = units < 24 ? units : 24;

		box->size[axis] = (int)(side > 0 ? side : 1);
		box->ring[axis] = false;
		units = (units + 23) / 24;
	}
	box->size[3] = box->size[5] = 2;
	box->size[4] = 3;
	box->ring[4] = true;
}

long box_nodes(const struct box *box)
{
	long nodes = 1;

	for (int axis = 0; axis < BOX_AXES; axis++)
		nodes *= box->size[axis];
	return nodes;
}

long box_room(const struct box *box)
{
	return (box_nodes(box) - box->hole_count) * box->per_node;
}

bool box_place(const struct box *box, long rank, uint8_t physical[BOX_AXES], uint32_t logical[3])
{
	long node = rank / box->per_node;

	if (rank < 0 || rank >= box_room(box))
		return false;
	for (int i = 0; i < box->hole_count && box->holes[i] <= node; i++)
		node++;
	for (int line = 0; line < 3; line++) {
		long place = node % length(box, line);

		node /= length(box, line);
		if (physical)
			from_along(box, line, place, physical);
		if (logical)
			logical[line] = (uint32_t)place;
	}
	return true;
}

long box_node(const struct box *box, const uint8_t physical[BOX_AXES])
{
	long number;

	for (int axis = 0; axis < BOX_AXES; axis++)
		if (physical[axis] >= box->size[axis])
			return -1;
	number = logical_number(box, physical);
	for (int i = 0; i < box->hole_count; i++)
		if (box->holes[i] == number)
			return -1;
	return number;
}

static int distance(const struct box *box, int axis, int from, int to)
{
	int straight = abs(from - to), round = box->size[axis] - straight;

	return box->ring[axis] && round < straight ? round : straight;
}

int box_hops(const struct box *box, const uint8_t from[BOX_AXES], const uint8_t to[BOX_AXES], const uint8_t via[3])
{
	int hops = 0;

	for (int axis = 0; axis < 3; axis++)
		hops += distance(box, axis, from[axis], to[axis]);
	for (int axis = 3; axis < BOX_AXES; axis++)
		hops += distance(box, axis, from[axis], via[axis - 3]) + distance(box, axis, via[axis - 3], to[axis]);
	return hops;
}
