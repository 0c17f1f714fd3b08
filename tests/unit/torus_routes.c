/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes of hosts that forward: against packets sent one by one, and cycles of links against a plain search for them.
 */
#include "comms/torus/routes.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

#define MOST 120

static char text[TORUS_TEXT];

struct tally {
	long pairs, reached, hops;
	int longest;
	bool cycle;
};

/* Takes away links that no route leaves for another link that is left; if all go, there is no cycle. */
static bool has_cycle(const struct torus_shape *shape, const char *wants)
{
	int ways = 2 * shape->axes, links = shape->places * ways, gone = 1, left = links;
	char *is_gone = calloc((size_t)links, 1);

	while (gone > 0) {
		gone = 0;
		for (int l = 0; l < links; l++) {
			bool waits = false;

			for (int w = 0; w < ways && !is_gone[l]; w++)
				if (wants[l * TORUS_WAYS + w])
					waits = waits || !is_gone[torus_neighbour(shape, l / ways, l % ways) * ways + w];
			if (!waits && !is_gone[l]) {
				is_gone[l] = 1;
				gone++;
			}
		}
		left -= gone;
	}
	free(is_gone);
	return left > 0;
}

static struct tally send_all(const struct torus_sites *sites, bool cautious)
{
	const struct torus_shape *shape = &sites->shape;
	char *wants = calloc((size_t)shape->places * TORUS_WAYS * TORUS_WAYS, 1);
	struct tally tally = {0};

	for (int a = 0; a < sites->nodes; a++)
		for (int b = 0; b < sites->nodes; b++) {
			int at = sites->place[a], to = sites->place[b], steps = 0, before = -1, path[MOST * 2];

			while (at != to && sites->node[at] >= 0 && steps < MOST) {
				int way = torus_forward(shape, cautious, at, to);

				path[steps++] = at * 2 * shape->axes + way;
				at = torus_neighbour(shape, at, way);
			}
			tally.pairs += a != b;
			if (a == b || at != to)
				continue;
			tally.reached++;
			tally.hops += steps;
			tally.longest = steps > tally.longest ? steps : tally.longest;
			for (int s = 0; s < steps; before = path[s++])
				if (before >= 0)
					wants[before * TORUS_WAYS + path[s] % (2 * shape->axes)] = 1;
		}
	tally.cycle = has_cycle(shape, wants);
	free(wants);
	return tally;
}

static void check_sites(const struct torus_sites *sites, bool cautious)
{
	struct tally tally = send_all(sites, cautious);
	struct torus_routes routes;

	EXPECT(torus_routes_check(&routes, sites, cautious), "memory");
	EXPECT(routes.pairs == tally.pairs && routes.reached == tally.reached && routes.hops == tally.hops &&
		       routes.longest == tally.longest,
	       "%s: %ld of %ld pairs, %ld hops, longest %d; counted %ld of %ld, %ld, %d", torus_shape_text(&sites->shape, text),
	       routes.reached, routes.pairs, routes.hops, routes.longest, tally.reached, tally.pairs, tally.hops,
	       tally.longest);
	EXPECT((routes.cycle > 0) == tally.cycle, "%s: a cycle of %d links", torus_shape_text(&sites->shape, text),
	       routes.cycle);
	EXPECT((routes.hole >= 0) == (routes.reached < routes.pairs), "a pair that is not reached is named");
	EXPECT(routes.hole < 0 || sites->node[routes.hole] < 0, "and the hole in its way is one");
	EXPECT(!cautious || !routes.cycle, "%s: cautious, but with a cycle", torus_shape_text(&sites->shape, text));
	for (int i = 0; i < routes.cycle; i++)
		EXPECT(torus_neighbour(&sites->shape, routes.places[i], routes.ways[i]) == routes.places[(i + 1) % routes.cycle],
		       "the links of a cycle follow each other");
	torus_routes_free(&routes);
}

static void check_random(void)
{
	for (int i = 0; i < 600; i++) {
		struct torus_shape machine;
		struct torus_sites sites;
		struct torus_box box;
		int places[MOST], count = 0, holes = tori_lot(3) == 0;

		tori_shape(&machine, MOST);
		for (int p = 0; p < machine.places; p++)
			if (!holes || tori_lot(8))
				places[count++] = p;
		if (!count)
			continue;
		EXPECT(torus_sites_some(&sites, &box, &machine, places, count), "memory");
		check_sites(&sites, false);
		check_sites(&sites, true);
		torus_sites_free(&sites);
	}
}

/* A cycle is there if and only if a ring has four or more; cautious routes have none and reach all. */
static void check_rings(void)
{
	static const struct {
		const char *shape;
		bool cycle;
	} rows[] = {
		{"3x3x3", false}, {"4", true}, {"3x4", true}, {"4m", false}, {"9mx9m", false}, {"2dx2d", false}, {"5x3", true},
		{"2x2x2", false}, {"8x8", true}, {"1", false},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct torus_shape shape;
		struct torus_sites sites;
		struct torus_routes routes;

		tori_read(&shape, rows[i].shape);
		EXPECT(torus_sites_all(&sites, &shape), "memory");
		EXPECT(torus_routes_check(&routes, &sites, false), "memory");
		EXPECT((routes.cycle > 0) == rows[i].cycle, "%s", rows[i].shape);
		torus_routes_free(&routes);
		EXPECT(torus_routes_check(&routes, &sites, true), "memory");
		EXPECT(!routes.cycle && routes.reached == routes.pairs, "%s, cautious", rows[i].shape);
		torus_routes_free(&routes);
		torus_sites_free(&sites);
	}
}

int main(void)
{
	check_random();
	check_rings();
	return unit_failures > 0;
}
