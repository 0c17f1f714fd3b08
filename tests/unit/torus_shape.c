/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comms/torus: shapes, routes, boxes and shape files. Distances are held against a search over the
 * cables, boxes against trying them all, for thousands of random shapes.
 */
#include <stdlib.h>
#include <string.h>

#include "comms/torus/file.h"
#include "comms/torus/sites.h"
#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

#define MOST 300

static char problem[TORUS_PROBLEM], text[TORUS_TEXT];

static void check_texts(void)
{
	static const char *const same[] = {"1",	    "7",   "4x4x2", "4x4mx2", "2d", "2dx2x2d", "24x23mx24x2x3x2",
					   "1x1x1", "3mx3"};
	static const struct {
		const char *given, *canonical; /* NULL: refused */
	} rows[] = {
		{"4rx2m", "4x2"},
		{"2r", "2"},
		{"1m", "1"},
		{"016", "16"},
		{"", NULL},
		{"x", NULL},
		{"4x", NULL},
		{"x4", NULL},
		{"4xx4", NULL},
		{"0", NULL},
		{"4x0", NULL},
		{"-4", NULL},
		{"4 x4", NULL},
		{"3d", NULL},
		{"1d", NULL},
		{"4mm", NULL},
		{"4q", NULL},
		{"1x1x1x1x1x1x1", NULL},
		{"4097x4096", NULL},
		{"99999999999999999999", NULL},
		{"4096x4096", "4096x4096"},
	};
	struct torus_shape shape;

	for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
		EXPECT(torus_shape_read(&shape, same[i], problem) && !strcmp(torus_shape_text(&shape, text), same[i]),
		       "\"%s\" became \"%s\"", same[i], text);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool good = torus_shape_read(&shape, rows[i].given, problem);

		EXPECT(good == (rows[i].canonical != NULL), "\"%s\"", rows[i].given);
		EXPECT(good || (strlen(problem) > 10 && !strchr(problem, '\n')), "\"%s\": %s", rows[i].given, problem);
		EXPECT(!good || !strcmp(torus_shape_text(&shape, text), rows[i].canonical), "\"%s\" became \"%s\"",
		       rows[i].given, text);
	}
}

static void search(const struct torus_shape *shape, int from, int *distance)
{
	int queue[MOST], head = 0, tail = 0;

	for (int p = 0; p < shape->places; p++)
		distance[p] = -1;
	distance[from] = 0;
	queue[tail++] = from;
	while (head < tail) {
		int at = queue[head++];

		for (int direction = 0; direction < 2 * shape->axes; direction++) {
			int next = torus_neighbour(shape, at, direction);

			if (next >= 0 && distance[next] < 0) {
				distance[next] = distance[at] + 1;
				queue[tail++] = next;
			}
		}
	}
}

static int count_links(const struct torus_shape *shape)
{
	int links = 0;

	for (int a = 0; a < shape->axes; a++) {
		int size = shape->axis[a].size;

		links += shape->places / size * 2 * (size == 1 ? 0 : shape->axis[a].ring ? size : size - 1);
	}
	return links;
}

static void check_cables(const struct torus_shape *shape)
{
	int links = 0;

	for (int p = 0; p < shape->places; p++)
		for (int direction = 0; direction < 2 * shape->axes; direction++) {
			int next = torus_neighbour(shape, p, direction);

			if (next < 0 || shape->axis[direction / 2].size == 1)
				continue;
			links++;
			EXPECT(next != p && torus_neighbour(shape, next, direction ^ 1) == p, "%s: %d by %s and back",
			       torus_shape_text(shape, text), p, torus_direction_name(direction));
		}
	EXPECT(links == count_links(shape), "%s has %d links", torus_shape_text(shape, text), links);
}

static void check_routes(const struct torus_shape *shape)
{
	int distance[MOST], from = tori_random(shape->places), farthest = 0;

	search(shape, from, distance);
	for (int to = 0; to < shape->places; to++) {
		int at = from, steps = 0, axis = 0;

		EXPECT(distance[to] == torus_hops(shape, from, to), "%s: %d to %d: %d hops, in truth %d",
		       torus_shape_text(shape, text), from, to, torus_hops(shape, from, to), distance[to]);
		farthest = distance[to] > farthest ? distance[to] : farthest;
		for (int direction; (direction = torus_next(shape, at, to)) >= 0 && steps <= distance[to]; steps++) {
			EXPECT(direction / 2 >= axis, "%s: %d to %d goes back to an axis",
			       torus_shape_text(shape, text), from, to);
			axis = direction / 2;
			at = torus_neighbour(shape, at, direction);
		}
		EXPECT(at == to && steps == distance[to], "%s: the route from %d to %d", torus_shape_text(shape, text),
		       from, to);
	}
	EXPECT(farthest <= torus_diameter(shape), "%s: diameter", torus_shape_text(shape, text));
}

static void check_random_shapes(void)
{
	for (int i = 0; i < 3000; i++) {
		struct torus_shape shape, again;
		int c[TORUS_AXES];

		tori_shape(&shape, MOST);
		EXPECT(torus_shape_read(&again, torus_shape_text(&shape, text), problem), "%s", problem);
		EXPECT(!memcmp(&shape, &again, sizeof shape), "%s is not the same again", text);
		for (int p = 0; p < shape.places; p++) {
			torus_coordinates(&shape, p, c);
			EXPECT(torus_place_at(&shape, c) == p, "%s: place %d", torus_shape_text(&shape, text), p);
		}
		check_cables(&shape);
		check_routes(&shape);
	}
}

/* The least extent with which some origin covers what is used, by trying all. */
static int least_extent(const struct torus_axis *axis, const bool *used)
{
	for (int extent = 1; extent < axis->size; extent++)
		for (int origin = 0; origin < (axis->ring ? axis->size : axis->size - extent + 1); origin++) {
			bool covered = true;

			for (int c = 0; c < axis->size; c++)
				covered = covered && (!used[c] || (c - origin + axis->size) % axis->size < extent);
			if (covered)
				return extent;
		}
	return axis->size;
}

static void check_box(const struct torus_shape *machine, const int *places, int count)
{
	struct torus_sites sites;
	struct torus_box box;

	EXPECT(torus_sites_some(&sites, &box, machine, places, count), "memory");
	for (int a = 0; a < machine->axes; a++) {
		bool used[16] = {false};

		for (int i = 0; i < count; i++)
			used[torus_coordinate(machine, places[i], a)] = true;
		EXPECT(box.extent[a] == least_extent(&machine->axis[a], used), "%s, axis %d: extent %d",
		       torus_shape_text(machine, text), a, box.extent[a]);
		EXPECT(sites.shape.axis[a].ring == (machine->axis[a].ring && box.extent[a] == machine->axis[a].size),
		       "%s, axis %d: a ring is closed only where it is whole", torus_shape_text(machine, text), a);
	}
	for (int i = 0; i < count; i++) {
		int inside = sites.place[i];

		EXPECT(inside >= 0 && inside < sites.shape.places && sites.node[inside] == i, "node %d", i);
		EXPECT(torus_box_outside(&box, machine, &sites.shape, inside) == places[i], "node %d and back", i);
	}
	torus_sites_free(&sites);
}

/* Boxes at random places, which may wrap, with and without holes. */
static void check_random_boxes(void)
{
	for (int i = 0; i < 3000; i++) {
		struct torus_shape machine;
		int places[MOST], count = 0, origin[TORUS_AXES], extent[TORUS_AXES], holes = tori_random(4);

		tori_shape(&machine, MOST);
		for (int a = 0; a < machine.axes; a++) {
			origin[a] = tori_random(machine.axis[a].size);
			extent[a] = 1 + tori_random(machine.axis[a].size);
		}
		for (int p = 0; p < machine.places; p++) {
			bool inside = true;

			for (int a = 0; a < machine.axes; a++)
				inside = inside &&
					 (torus_coordinate(&machine, p, a) - origin[a] + machine.axis[a].size) %
							 machine.axis[a].size <
						 extent[a];
			if (inside && (!holes || tori_random(4) >= holes))
				places[count++] = p;
		}
		if (count)
			check_box(&machine, places, count);
	}
}

/*
 * The case of the notes of a real machine: 14, 15, 0, 1 of 16 is a box of 4 at 14, not one of 16 at
 * 0.
 */
static void check_wrapping_box(void)
{
	struct torus_shape machine;
	struct torus_box box;
	int places[] = {14, 15, 0, 1};

	tori_read(&machine, "16");
	torus_box_find(&box, &machine, places, 4);
	EXPECT(box.origin[0] == 14 && box.extent[0] == 4 && torus_box_wraps(&box, &machine, 0), "origin %d, extent %d",
	       box.origin[0], box.extent[0]);
	tori_read(&machine, "16m");
	torus_box_find(&box, &machine, places, 4);
	EXPECT(box.origin[0] == 0 && box.extent[0] == 16, "a mesh cannot wrap");
}

/* Where both directions round a ring are equally long, routes go up. */
static void check_halves(void)
{
	for (int size = 2; size <= 8; size += 2) {
		struct torus_axis ring = {size, true};

		for (int c = 0; c < size; c++)
			EXPECT(torus_steps(&ring, c, (c + size / 2) % size) == size / 2,
			       "half round a ring of %d from %d", size, c);
	}
}

static void check_guesses(void)
{
	static const struct {
		int nodes, axes;
		const char *shape;
	} rows[] = {
		{1, 3, "1"},	  {2, 3, "2"},	      {7, 3, "7"},	     {8, 3, "2x2x2"},
		{12, 3, "3x2x2"}, {27, 3, "3x3x3"},   {64, 3, "4x4x4"},	     {64, 2, "8x8"},
		{60, 3, "5x4x3"}, {97, 3, "97"},      {1000, 3, "10x10x10"}, {158976, 3, "54x64x46"},
		{30, 1, "30"},	  {16, 4, "2x2x2x2"}, {36, 3, "4x3x3"},
	};
	struct torus_shape shape;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		torus_shape_guess(&shape, rows[i].nodes, rows[i].axes);
		EXPECT(shape.places == rows[i].nodes, "%d nodes became %d", rows[i].nodes, shape.places);
		if (rows[i].nodes != 158976)
			EXPECT(!strcmp(torus_shape_text(&shape, text), rows[i].shape), "%d nodes: %s", rows[i].nodes,
			       text);
	}
}

static void check_files(void)
{
	static const struct {
		const char *text;
		int hosts;	     /* -1: refused */
		const char *problem; /* its beginning */
	} rows[] = {
		{"shape 2x2\nhost a 0,0\nhost b 0,1\n", 2, NULL},
		{"# a machine\n\n  shape 3  # a ring\r\npes 4\nhosts n##\n", 3, NULL},
		{"shape 2\nhost a 0\nhost b 1", 2, NULL},
		{"", -1, "it has no shape; it needs"},
		{"shape 2x2\n", -1, "it has no host; it needs"},
		{"host a 0\n", -1, "line 1: host: no shape yet"},
		{"shape 2x2\nhost a 0,2\n", -1, "line 2: 0,2: outside of 2x2; along axis y coordinates go to 1"},
		{"shape 2x2\nhost a 0\n", -1, "line 2: 0: not a place of 2x2; give 2 coordinates"},
		{"shape 2x2\nhost a 0,1,1\n", -1, "line 2: 0,1,1: not a place"},
		{"shape 2x2\nhost a 0,-1\n", -1, "line 2: 0,-1: not a place"},
		{"shape 2x2\nhost a 0,0\nhost b 0,0\n", -1, "line 3: host b: a is at 0,0 already"},
		{"shape 2x2\nhost a 0,0\nhost a 0,1\n", -1, "host a is there twice"},
		{"shape 2x2\nshape 3\n", -1, "line 2: a second shape"},
		{"shape 2y2\n", -1, "line 1: shape 2y2: not a shape"},
		{"shape 2x2\nhost a\n", -1, "line 2: host: it takes a name and coordinates"},
		{"shape 2x2\nhost a 0,0 b\n", -1, "line 2: host: it takes"},
		{"shape 2x2\nhosts n\n", -1, "line 2: hosts n: not a pattern"},
		{"shape 2x2\nhosts n#n#\n", -1, "line 2: hosts n#n#: not a pattern"},
		{"shape 2x2\npes 0\n", -1, "line 2: pes 0: not a number"},
		{"shape 2x2\nhots a 0,0\n", -1, "line 2: hots: no such statement"},
		{"shape 4\nhosts n#\ndead n1\ndead n2 x+\nslow 2.5 0 x-\nslow 4 n3\n", 3, NULL},
		{"shape 2x2\nhosts n#\ndead\n", -1, "line 3: dead: it takes a host and perhaps a direction"},
		{"shape 2x2\nhosts n#\nslow 4\n", -1, "line 3: slow: it takes a number, a host"},
		{"dead a\n", -1, "line 1: dead: no shape yet"},
		{"shape 2x2\nhosts n#\ndead n4\n", -1, "line 3: n4: no such host up to here"},
		{"shape 2x2\nhosts n#\ndead 0,2\n", -1, "line 3: 0,2: outside of 2x2"},
		{"shape 2x2\nhosts n#\ndead n1 z+\n", -1, "line 3: z+: not a direction; give one of x+ to y-"},
		{"shape 2x2\nhosts n#\ndead n1 y+\n", -1, "line 3: y+: no cable leaves 0,1 in this direction"},
		{"shape 2x1\nhosts n#\ndead n1 y+\n", -1, "line 3: y+: no cable leaves 1,0 in this direction"},
		{"shape 2x2\nhost a 0,0\ndead 0,1\n", -1, "line 3: dead 0,1: no host is there"},
		{"shape 2x2\nhosts n#\nslow 1 n1\n", -1, "line 3: slow 1: not a factor"},
		{"shape 2x2\nhosts n#\nslow nan n1\n", -1, "line 3: slow nan: not a factor"},
		{"shape 2\nhosts n#\ndead n0\ndead n1\n", -1, "all its hosts are dead"},
		{"shape 3\nhosts n#\ncable n0 a n1 b\ncable n1 a n2 b\ncable 2 a n0 b\n", 3, NULL},
		{"cable a x b y\n", -1, "line 1: cable: no shape yet"},
		{"shape 2\nhosts n#\ncable n0 a n1\n", -1, "line 3: cable: it takes two hosts, each with its port"},
		{"shape 2\nhosts n#\ncable n0 a n1 b c\n", -1, "line 3: cable: it takes two hosts"},
		{"shape 2\nhosts n#\ncable n0 a n2 b\n", -1, "line 3: n2: no such host up to here"},
		{"shape 2\nhost a 0\ncable a x 1 y\n", -1, "line 3: cable at 1: no host is there up to here"},
		{"shape 2\nhosts n#\ncable n0 a n1 b23456789012345 # most\n", 2, NULL},
		{"shape 2\nhosts n#\ncable n0 a n1 b234567890123456\n", -1,
		 "line 3: cable: port b234567890123456: the name of an interface has at most 15 letters"},
		{"shape 2\nhosts n#\ncable n0 a n0 a\n", -1, "line 3: cable: both of its ends, a and a, are at n0"},
		{"shape 2\nhosts n#\ncable n0 a n0 b\n", -1, "line 3: cable: both of its ends, a and b, are at n0"},
		{"shape 3\nhosts n#\ncable n0 a n1 b\ncable n2 b n1 b\n", -1,
		 "line 4: cable: n1 b is the end of another cable already"},
		{"shape 2\nhost a 0\ndead a\nhost b 0\n", -1, "line 4: host b: a is at 0 already"},
	};
	struct torus_file file;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		bool good = torus_file_read(&file, rows[i].text, problem);

		EXPECT(good == (rows[i].hosts >= 0), "file %zu", i);
		EXPECT(good || !strncmp(problem, rows[i].problem, strlen(rows[i].problem)), "file %zu: %s", i, problem);
		EXPECT(!good || file.hosts == rows[i].hosts, "file %zu: %d hosts", i, file.hosts);
		if (good)
			torus_file_free(&file);
	}
	EXPECT(torus_file_read(&file, rows[1].text, problem), "%s", problem);
	EXPECT(file.pes == 4 && !strcmp(file.name[2], "n02") && file.place[2] == 2, "a pattern");
	torus_file_free(&file);
}

/* Both cables of a pair, a diagonal, and the cable of a host that is dead. */
static void check_own_cables(void)
{
	const char *lines = "shape 4\nhosts n#\ncable n3 p0 n1 p2\ncable n0 x n1 y\ncable n2 p1 n3 p2\n"
			    "cable n2 p0 n3 p1\ndead n0\n";
	static const struct torus_cable expected[] = {{{2, 0}, {"p0", "p2"}},
						      {{1, 2}, {"p1", "p2"}},
						      {{1, 2}, {"p0", "p1"}}};
	struct torus_file file;

	EXPECT(torus_file_read(&file, lines, problem), "%s", problem);
	EXPECT(file.hosts == 3 && file.dead == 1, "%d hosts", file.hosts);
	EXPECT(file.cables == 3, "%d cables of hosts that are not dead", file.cables);
	for (int c = 0; c < file.cables; c++)
		for (int end = 0; end < 2; end++)
			EXPECT(file.cable[c].host[end] == expected[c].host[end] &&
				       !strcmp(file.cable[c].port[end], expected[c].port[end]),
			       "cable %d ends at %s %s", c, file.name[file.cable[c].host[end]],
			       file.cable[c].port[end]);
	torus_file_free(&file);
	EXPECT(!file.cables && !file.cable, "freed");
}

static float share_at(const struct torus_sites *sites, const struct torus_box *box, const struct torus_shape *machine,
		      int place, int direction)
{
	return torus_sites_share(sites, torus_box_inside(box, machine, &sites->shape, place), direction);
}

/*
 * A box that goes over the end of a ring of eight, from 6 to 1: what is wrong inside of it is
 * known, at both ends.
 */
static void check_flaws(void)
{
	const char *lines =
		"shape 8x3\nhost a 6,0\nhost b 7,0\nhost c 0,0\nhost d 1,0\nhost e 7,1\nhost f 0,1\nhost g 0,2\n"
		"dead b x+\nslow 4 c y+\nslow 2 f y-\nslow 3 d x+\ndead e\ndead 3,0 x+\ndead d x+\n";
	struct torus_sites sites;
	struct torus_file file;
	struct torus_box box;

	EXPECT(torus_file_read(&file, lines, problem), "%s", problem);
	EXPECT(file.hosts == 6 && file.dead == 1 && !strcmp(file.dead_name[0], "e") && !strcmp(file.name[4], "f") &&
		       file.place[4] == 1,
	       "a dead host is none");
	EXPECT(torus_sites_some(&sites, &box, &file.shape, file.place, file.hosts), "memory");
	EXPECT(torus_sites_mark(&sites, &box, &file.shape, file.flaw, file.flaws), "memory");
	EXPECT(!strcmp(torus_shape_text(&sites.shape, text), "4mx3"), "the box is %s", text);
	EXPECT(share_at(&sites, &box, &file.shape, 21, 0) == 0 && share_at(&sites, &box, &file.shape, 0, 1) == 0,
	       "dead, in both directions");
	EXPECT(share_at(&sites, &box, &file.shape, 18, 0) == 1 && share_at(&sites, &box, &file.shape, 0, 0) == 1,
	       "whole");
	EXPECT(share_at(&sites, &box, &file.shape, 0, 2) == 0.25 && share_at(&sites, &box, &file.shape, 1, 3) == 0.25,
	       "of two flaws the worse one");
	EXPECT(share_at(&sites, &box, &file.shape, 1, 1) == 0, "nothing goes where a host is dead");
	EXPECT(share_at(&sites, &box, &file.shape, 3, 0) == 0, "nor out of the box");
	EXPECT(share_at(&sites, &box, &file.shape, 0, 3) == 1, "round a ring");
	torus_sites_free(&sites);
	torus_file_free(&file);
}

int main(void)
{
	check_texts();
	check_random_shapes();
	check_random_boxes();
	check_wrapping_box();
	check_halves();
	check_guesses();
	check_files();
	check_own_cables();
	check_flaws();
	return unit_failures > 0;
}
