/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sites of teams: boxes, planes, lines, every so many-th node, products of random coordinates,
 * and random nodes of random machines with random flaws. Whether the nodes fill their sites, which
 * cables links take and what these carry is worked out here from the routes of the machine, cable
 * by cable.
 */
#include "comms/torus/lines.h"

#include <string.h>

#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

#define MOST 300

static struct torus_sites machine;
static char text[TORUS_TEXT];
static int takers[MOST * TORUS_DIRECTIONS]; /* by cable and direction: links of the team */

/* --- By brute force --- */

/* Do all combinations of coordinates that occur have a node? */
static bool fills_its_coordinates(const int *places, int count)
{
	int all = 1;

	for (int a = 0; a < machine.shape.axes; a++) {
		bool used[16] = {false};
		int different = 0;

		for (int i = 0; i < count; i++)
			used[torus_coordinate(&machine.shape, places[i], a)] = true;
		for (int c = 0; c < 16; c++)
			different += used[c];
		all *= different;
	}
	return all == count;
}

static int cable_of(int place, int direction)
{
	return place * 2 * machine.shape.axes + direction;
}

/* Goes along a link as messages do: counts who takes each cable, and returns the worst of them. */
static float follow_link(int from, int to, int direction, int *hops)
{
	float least = 1;

	for (*hops = 0; from != to; ++*hops) {
		int next = torus_neighbour(&machine.shape, from, direction) == to && *hops == 0
				   ? direction
				   : torus_next(&machine.shape, from, to);

		takers[cable_of(from, next)]++;
		if (machine.share && machine.share[cable_of(from, next)] < least)
			least = machine.share[cable_of(from, next)];
		from = torus_neighbour(&machine.shape, from, next);
	}
	return least;
}

/* --- What must hold for all teams --- */

static void check_places(const struct torus_sites *team, const int *places, int count)
{
	EXPECT(team->nodes == count, "%d of %d nodes", team->nodes, count);
	for (int i = 0; i < count; i++)
		EXPECT(team->place[i] >= 0 && team->place[i] < team->shape.places && team->node[team->place[i]] == i,
		       "%s, node %d", torus_shape_text(&machine.shape, text), i);
	EXPECT((team->shape.places == count) == fills_its_coordinates(places, count), "%s: %d nodes, %d places",
	       torus_shape_text(&machine.shape, text), count, team->shape.places);
	/* Who shares a coordinate of the machine shares one of the team, and nobody else. */
	for (int i = 0; i < count; i++)
		for (int j = 0; j < count; j++)
			for (int a = 0; a < team->shape.axes; a++)
				EXPECT((torus_coordinate(&team->shape, team->place[i], a) ==
					torus_coordinate(&team->shape, team->place[j], a)) ==
					       (torus_coordinate(&machine.shape, places[i], a) ==
						torus_coordinate(&machine.shape, places[j], a)),
				       "nodes %d and %d along axis %d", i, j, a);
}

/* No cable belongs to two links; a link carries what the worst of its cables does. */
static void check_links(const struct torus_sites *team, const int *places, int *longest)
{
	*longest = 0;
	memset(takers, 0, sizeof takers);
	for (int p = 0; p < team->shape.places; p++)
		for (int direction = 0; direction < 2 * team->shape.axes; direction++) {
			int next = team->shape.axis[direction / 2].size > 1
					   ? torus_neighbour(&team->shape, p, direction)
					   : -1,
			    hops;
			float share;

			if (next < 0 || team->node[p] < 0 || team->node[next] < 0) {
				EXPECT(torus_sites_share(team, p, direction) == 0, "place %d: no link", p);
				continue;
			}
			share = follow_link(places[team->node[p]], places[team->node[next]], direction, &hops);
			EXPECT(torus_sites_share(team, p, direction) == share, "%s, place %d %s: %g, not %g",
			       torus_shape_text(&machine.shape, text), p, torus_direction_name(direction),
			       (double)torus_sites_share(team, p, direction), (double)share);
			*longest = hops > *longest ? hops : *longest;
		}
	for (int cable = 0; cable < machine.shape.places * 2 * machine.shape.axes; cable++)
		EXPECT(takers[cable] <= 1, "%s: %d links over one cable", torus_shape_text(&machine.shape, text),
		       takers[cable]);
}

static void check_team(const int *places, int count)
{
	struct torus_sites team;
	int longest;

	EXPECT(torus_sites_of_team(&team, &machine, places, count), "memory");
	check_places(&team, places, count);
	check_links(&team, places, &longest);
	torus_sites_free(&team);
}

/*
 * A box: every link is one cable, inside of the box, and rings are those of the machine that are
 * there whole.
 */
static void check_box_of_team(const struct torus_box *box, const int *places, int count)
{
	struct torus_sites team;
	int longest;

	EXPECT(torus_sites_of_team(&team, &machine, places, count), "memory");
	check_places(&team, places, count);
	check_links(&team, places, &longest);
	EXPECT(longest <= 1, "%s: a link of %d cables", torus_shape_text(&machine.shape, text), longest);
	for (int a = 0; a < team.shape.axes; a++)
		EXPECT(team.shape.axis[a].size == box->extent[a] &&
			       team.shape.axis[a].ring == (machine.shape.axis[a].ring && box->extent[a] > 1 &&
							   box->extent[a] == machine.shape.axis[a].size),
		       "%s, axis %d", torus_shape_text(&machine.shape, text), a);
	torus_sites_free(&team);
}

/* --- Teams --- */

static void make_machine(void)
{
	struct torus_shape shape;
	struct torus_flaw flaw[8];
	struct torus_box all = {{0}, {0}};
	int flaws = 0;

	tori_shape(&shape, MOST);
	torus_sites_all(&machine, &shape);
	for (int a = 0; a < shape.axes; a++)
		all.extent[a] = shape.axis[a].size;
	for (int i = tori_random(3) ? 0 : 8; i > 0; i--) {
		struct torus_flaw one = {tori_random(shape.places), tori_random(2 * shape.axes),
					 tori_random(2) ? 0 : 0.25f};

		if (shape.axis[one.direction / 2].size > 1)
			flaw[flaws++] = one;
	}
	EXPECT(torus_sites_mark(&machine, &all, &shape, flaw, flaws), "memory");
}

/* Lists the places whose coordinates are all in the sets, in a random order. */
static int list_product(bool in[TORUS_AXES][16], int *places)
{
	int count = 0;

	for (int p = 0; p < machine.shape.places; p++) {
		bool inside = true;

		for (int a = 0; a < machine.shape.axes; a++)
			inside = inside && in[a][torus_coordinate(&machine.shape, p, a)];
		if (inside)
			places[count++] = p;
	}
	for (int i = count - 1; i > 0; i--) {
		int other = tori_random(i + 1), place = places[i];

		places[i] = places[other];
		places[other] = place;
	}
	return count;
}

static void try_box(void)
{
	bool in[TORUS_AXES][16] = {{false}};
	struct torus_box box = {{0}, {0}};
	int places[MOST], count;

	for (int a = 0; a < machine.shape.axes; a++) {
		int size = machine.shape.axis[a].size;

		box.extent[a] = 1 + tori_random(size);
		box.origin[a] = tori_random(machine.shape.axis[a].ring ? size : size - box.extent[a] + 1);
		for (int c = 0; c < box.extent[a]; c++)
			in[a][(box.origin[a] + c) % size] = true;
	}
	count = list_product(in, places);
	check_box_of_team(&box, places, count);
}

static void try_product(void)
{
	bool in[TORUS_AXES][16] = {{false}};
	int places[MOST];

	for (int a = 0; a < machine.shape.axes; a++) {
		int size = machine.shape.axis[a].size, step = 1 + tori_random(3), any = tori_random(size);

		for (int c = 0; c < size; c++)
			in[a][c] = step < 3 ? c % step == 0 : tori_random(2);
		in[a][any] = step < 3 ? in[a][any] : true;
	}
	check_team(places, list_product(in, places));
}

static void try_subset(void)
{
	int places[MOST], count = 0, odds = 1 + tori_random(8);

	for (int p = 0; p < machine.shape.places; p++)
		if (tori_random(odds) == 0)
			places[count++] = p;
	if (count > 0)
		check_team(places, count);
}

/* Which shapes come of rings, meshes and pairs, as a person would say it. */
static void check_examples(void)
{
	static const struct {
		const char *machine;
		int count, places[12];
		const char *team;
	} rows[] = {
		{"3x3x3", 9, {0, 1, 2, 3, 4, 5, 6, 7, 8}, "1x3x3"},
		{"3x3x3", 3, {13, 4, 22}, "3x1x1"},
		{"3x3x3", 4, {4, 5, 7, 8}, "1x2x2"},
		{"8", 4, {0, 2, 4, 6}, "4"},
		{"8", 4, {1, 3, 5, 7}, "4"},
		{"8m", 4, {1, 3, 5, 7}, "4m"},
		{"8", 5, {6, 7, 0, 1, 2}, "5m"},
		{"9", 3, {0, 3, 6}, "3"},
		{"9", 3, {0, 3, 7}, "3m"},
		{"4", 2, {0, 2}, "2"},
		{"4x4", 8, {0, 2, 4, 6, 8, 10, 12, 14}, "4x2"},
		{"2x3x4", 12, {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}, "2x3x2"},
		{"2dx3", 6, {0, 1, 2, 3, 4, 5}, "2dx3"},
		{"2dx3", 2, {1, 4}, "2dx1"},
		{"3x3", 3, {0, 4, 8}, "3x3"}, /* a diagonal: six holes */
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct torus_shape shape;
		struct torus_sites team;

		tori_read(&shape, rows[i].machine);
		torus_sites_all(&machine, &shape);
		EXPECT(torus_sites_of_team(&team, &machine, rows[i].places, rows[i].count), "memory");
		EXPECT(!strcmp(torus_shape_text(&team.shape, text), rows[i].team), "row %zu: %s of %s", i, text,
		       rows[i].machine);
		torus_sites_free(&team);
		torus_sites_free(&machine);
	}
}

/*
 * A ring is cut at its first flaw, others have bypasses, where there is a line beside them that is
 * well.
 */
static void check_lines(void)
{
	static const struct {
		const char *machine;
		int flaws;
		struct torus_flaw flaw[3];
		bool possible;
		/* By axis and line: the lines of an axis by the coordinate along the other one. */
		int begins[2][4];
		int bypasses;
		struct torus_bypass bypass[2];
	} rows[] = {
		{"3x4", 0, {{0}}, true, {{-1, -1, -1, -1}, {-1, -1, -1}}, 0, {{0}}},
		{"3x4", 1, {{0, 0, 0}}, true, {{1, -1, -1, -1}, {-1, -1, -1}}, 0, {{0}}},
		{"3x4", 1, {{0, 1, 0.2F}}, true, {{0, -1, -1, -1}, {-1, -1, -1}}, 0, {{0}}},
		{"3x4", 1, {{2, 2, 0.2F}}, true, {{-1, -1, -1, -1}, {3, -1, -1}}, 0, {{0}}},
		{"3x4", 2, {{1, 0, 0}, {2, 0, 0.5F}}, true, {{-1, 1, 1, -1}, {-1, -1, -1}}, 0, {{0}}},
		{"3x4", 2, {{1, 0, 0}, {6, 0, 0.5F}}, true, {{-1, 1, 2, -1}, {-1, -1, -1}}, 0, {{0}}},
		{"3x4", 3, {{9, 0, 0}, {4, 3, 0.5F}, {8, 3, 0}}, true, {{-1, 0, -1, -1}, {-1, 0, 0}}, 0, {{0}}},
		{"3x4", 2, {{1, 0, 0}, {5, 0, 0}}, true, {{-1, 1, -1, -1}, {-1, -1, -1}}, 1, {{5, 0, 2}}},
		{"3x4", 3, {{1, 0, 0}, {5, 0, 0}, {6, 0, 0}}, true, {{-1, 1, 2, -1}, {-1, -1, -1}}, 1, {{5, 0, 3}}},
		{"3mx4", 1, {{0, 0, 0}}, true, {{-1, -1, -1, -1}, {-1, -1, -1}}, 1, {{0, 0, 2}}},
		{"3mx4m", 2, {{0, 0, 0}, {0, 2, 0}}, false, {{0}}, 0, {{0}}},
		{"3mx4m", 2, {{1, 0, 0}, {2, 0, 0}}, true, {{-1, -1, -1, -1}, {-1, -1, -1}}, 2, {{1, 0, 3}, {2, 0, 2}}},
		{"2x4", 2, {{0, 0, 0}, {2, 0, 0}}, true, {{-1, -1, -1, -1}, {-1, -1, -1}}, 2, {{0, 0, 2}, {2, 0, 2}}},
		{"3mx4", 1, {{0, 2, 0}}, true, {{-1, -1, -1, -1}, {1, -1, -1}}, 0, {{0}}},
		{"5m", 1, {{0, 0, 0}}, false, {{0}}, 0, {{0}}},
		{"2dx3", 1, {{0, 0, 0}}, false, {{0}}, 0, {{0}}},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct torus_box box = {{0}, {0}};
		struct torus_shape shape;
		struct torus_sites sites;
		struct torus_lines lines;
		bool possible;

		tori_read(&shape, rows[i].machine);
		for (int a = 0; a < shape.axes; a++)
			box.extent[a] = shape.axis[a].size;
		torus_sites_all(&sites, &shape);
		EXPECT(torus_sites_mark(&sites, &box, &shape, rows[i].flaw, rows[i].flaws), "memory");
		EXPECT(torus_lines_find(&lines, &sites, &possible), "memory");
		EXPECT(possible == rows[i].possible, "row %zu: %d", i, possible);
		for (int l = 0; possible && l < 2 * shape.places; l++)
			EXPECT(lines.begins[l] == rows[i].begins[l % 2][torus_coordinate(&shape, l / 2, 1 - l % 2)],
			       "row %zu: the line through %d along axis %d begins at %d", i, l / 2, l % 2,
			       lines.begins[l]);
		EXPECT(!possible || lines.bypasses == rows[i].bypasses, "row %zu: %d bypasses", i, lines.bypasses);
		for (int b = 0; possible && b < lines.bypasses; b++)
			EXPECT(lines.bypass[b].place == rows[i].bypass[b].place &&
				       lines.bypass[b].direction == rows[i].bypass[b].direction &&
				       lines.bypass[b].side == rows[i].bypass[b].side,
			       "row %zu: bypass %d of %d %d goes by %d", i, b, lines.bypass[b].place,
			       lines.bypass[b].direction, lines.bypass[b].side);
		torus_lines_free(&lines);
		sites.node[0] = -1;
		EXPECT(torus_lines_find(&lines, &sites, &possible) && !possible, "row %zu: there is a hole", i);
		torus_sites_free(&sites);
	}
}

int main(void)
{
	check_examples();
	check_lines();
	for (int i = 0; i < 2000; i++) {
		make_machine();
		try_box();
		try_product();
		try_subset();
		torus_sites_free(&machine);
	}
	return unit_failures > 0;
}
