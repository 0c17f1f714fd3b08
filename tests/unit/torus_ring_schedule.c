/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring schedule: every part of every node comes to every other node just once, from a neighbour
 * that had it before; and all links of rings of equal length carry the same, on a ring no more than
 * is necessary.
 */
#include "comms/torus/ring_schedule.h"

#include <stdlib.h>

#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

static char text[TORUS_TEXT];

/* By part, origin and place: how many steps bring it there, and the level it then has. */
struct arrivals {
	int *count, *level;
};

static size_t index_of(const struct torus_shape *shape, int part, int origin, int place)
{
	return ((size_t)part * (size_t)shape->places + (size_t)origin) * (size_t)shape->places + (size_t)place;
}

static int check_list(const struct torus_shape *shape, int place, int direction, struct torus_ring_step *list,
		      struct arrivals *arrivals)
{
	int count = torus_ring_schedule(shape, place, direction, list), next = torus_neighbour(shape, place, direction);

	for (int i = 0; i < count; i++) {
		size_t there = index_of(shape, list[i].part, list[i].origin, next);

		EXPECT(next >= 0, "%s: %d sends into the void", text, place);
		EXPECT(i == 0 || list[i].level >= list[i - 1].level, "%s: %d is out of order", text, i);
		EXPECT(next != list[i].origin, "%s: %d gets its own back", text, next);
		arrivals->count[there]++;
		arrivals->level[there] = list[i].level + 1;
	}
	return count;
}

static void check_levels(const struct torus_shape *shape, struct torus_ring_step *list, const struct arrivals *arrivals)
{
	for (int place = 0; place < shape->places; place++)
		for (int direction = 0; direction < 2 * shape->axes; direction++)
			for (int i = torus_ring_schedule(shape, place, direction, list) - 1; i >= 0; i--)
				EXPECT(arrivals->level[index_of(shape, list[i].part, list[i].origin, place)] ==
					       list[i].level,
				       "%s: %d sends part %d of %d before it has it", text, place, list[i].part,
				       list[i].origin);
}

static void check(const struct torus_shape *shape)
{
	int parts = torus_ring_parts(shape), most = 0, least = shape->places * 12;
	size_t all = (size_t)parts * (size_t)shape->places * (size_t)shape->places;
	struct arrivals arrivals = {calloc(all + 1, sizeof(int)), calloc(all + 1, sizeof(int))};
	struct torus_ring_step *list = calloc((size_t)parts * (size_t)shape->places + 1, sizeof *list);

	torus_shape_text(shape, text);
	for (int place = 0; place < shape->places; place++)
		for (int direction = 0; direction < 2 * shape->axes; direction++) {
			int count = check_list(shape, place, direction, list, &arrivals);

			most = count > most ? count : most;
			if (shape->axis[direction / 2].size > 1)
				least = count < least ? count : least;
		}
	check_levels(shape, list, &arrivals);
	for (int part = 0; part < parts; part++)
		for (int origin = 0; origin < shape->places; origin++)
			for (int place = 0; place < shape->places; place++)
				EXPECT(arrivals.count[index_of(shape, part, origin, place)] == (place != origin),
				       "%s: part %d of %d comes to %d %d times", text, part, origin, place,
				       arrivals.count[index_of(shape, part, origin, place)]);
	EXPECT(torus_ring_schedule_most(shape) == most, "%s: %d steps over a link, said to be %d", text, most,
	       torus_ring_schedule_most(shape));
	if (tori_equal_rings(shape))
		EXPECT(least == most && most == shape->places - 1, "%s: links carry %d to %d parts", text, least, most);
	free(arrivals.count);
	free(arrivals.level);
	free(list);
}

/*
 * What all steps over each link carry, as shares of a node's data: at the ends of all meshes the
 * same over all links; in sum, all data of all others.
 */
static void check_shares(const struct torus_shape *shape)
{
	struct torus_ring_step *list =
		calloc((size_t)torus_ring_parts(shape) * (size_t)shape->places + 1, sizeof *list);
	struct torus_ring_shares shares;
	double links = torus_ring_links(shape, TORUS_ONE_WAY);

	torus_shape_text(shape, text);
	torus_ring_shares(shape, TORUS_ONE_WAY, &shares);
	EXPECT(shares.parts == torus_ring_parts(shape) && shares.before[shares.parts] == 65536, "%s: %u of 65536", text,
	       shares.before[shares.parts]);
	for (int part = 0; part < shares.parts; part++)
		EXPECT(torus_ring_part_begin(&shares, 1000, part) <= torus_ring_part_begin(&shares, 1000, part + 1),
		       "%s: part %d begins behind the next", text, part);
	EXPECT(torus_ring_part_begin(&shares, 1000, shares.parts) == 1000, "%s: bytes are left", text);
	for (int direction = 0; direction < 2 * shape->axes; direction++) {
		int from = torus_neighbour(shape, 0, direction);
		double carried = 0;

		if (shape->axis[direction / 2].size == 1 || from < 0)
			continue;
		for (int i = torus_ring_schedule(shape, from, direction ^ 1, list) - 1; i >= 0; i--)
			carried += torus_ring_share(&shares, list[i].part);
		EXPECT(carried <= 1.0005 * (shape->places - 1) / links &&
			       carried >= 0.9995 * (shape->places - 1) / links,
		       "%s: %g come from direction %d, not %g", text, carried, direction, (shape->places - 1) / links);
	}
	free(list);
}

int main(void)
{
	static const char *const balanced[] = {"3x3x3", "2x3x4", "2x4",	   "3mx3", "5mx2x3",
					       "4mx4m", "2x2x8", "16x2x4", "7",	   "4m"};
	static const char *const known[] = {"3x3x3", "4x4", "4x4x4", "2dx2d", "5",    "2",
					    "2d",    "6",   "4mx3m", "2x2x2", "3x3m", "1x5x1"};
	struct torus_shape shape;

	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		tori_read(&shape, known[i]);
		check(&shape);
	}
	for (size_t i = 0; i < sizeof balanced / sizeof balanced[0]; i++) {
		tori_read(&shape, balanced[i]);
		check_shares(&shape);
	}
	for (int i = 0; i < 60; i++) {
		tori_shape(&shape, 60);
		check(&shape);
	}
	return unit_failures > 0;
}
