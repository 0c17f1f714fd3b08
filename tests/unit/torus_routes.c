/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes of hosts that forward: packets sent one by one arrive, in dimension order where no flaw is
 * on that route and else on the shortest route; cycles of links against a plain search for them.
 */
#include "comms/torus/routes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/tori.h"
#include "tests/lib/unit.h"

#define MOST 120

static char text[TORUS_TEXT];

struct tally {
	long pairs, reached, around, hops;
	int longest;
	bool cycle;
};

/*
 * Takes away links that no route leaves for another link that is left; if all go, there is no
 * cycle.
 */
static bool has_cycle(const struct torus_shape *shape, const char *wants)
{
	int directions = 2 * shape->axes, links = shape->places * directions, gone = 1, left = links;
	char *is_gone = calloc((size_t)links, 1);

	while (gone > 0) {
		gone = 0;
		for (int l = 0; l < links; l++) {
			bool waits = false;

			for (int w = 0; w < directions && !is_gone[l]; w++)
				if (wants[l * TORUS_DIRECTIONS + w])
					waits = waits ||
						!is_gone[torus_neighbour(shape, l / directions, l % directions) *
								 directions +
							 w];
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

static bool is_clear(const struct torus_sites *sites, bool cautious, int at, int to)
{
	while (at != to) {
		int direction = torus_forward(&sites->shape, cautious, at, to);

		if (torus_sites_share(sites, at, direction) < 1)
			return false;
		at = torus_neighbour(&sites->shape, at, direction);
	}
	return true;
}

/* What the cheapest route to a place costs, from everywhere: rounds until nothing gets cheaper. */
static void find_costs(const struct torus_sites *sites, int to, double *cost)
{
	bool better = true;

	for (int p = 0; p < sites->shape.places; p++)
		cost[p] = p == to ? 0 : INFINITY;
	while (better) {
		better = false;
		for (int l = 0; l < sites->shape.places * 2 * sites->shape.axes; l++) {
			int p = l / (2 * sites->shape.axes), direction = l % (2 * sites->shape.axes);
			double share = (double)torus_sites_share(sites, p, direction);
			double new =
				share > 0 ? cost[torus_neighbour(&sites->shape, p, direction)] + 1 / share : INFINITY;

			if (new < cost[p] - 1e-4) {
				cost[p] = new;
				better = true;
			}
		}
	}
}

/* Sends a packet and returns its hops, -1: it does not arrive. */
static int send_one(const struct torus_sites *sites, const struct torus_routes *routes, int from, int to, double *cost,
		    int path[MOST * 2])
{
	int at = from, hops = 0;

	*cost = 0;
	while (at != to && hops < MOST) {
		int direction = routes->next[sites->node[to] * sites->shape.places + at];

		if (direction < 0)
			return -1;
		EXPECT(torus_sites_share(sites, at, direction) > 0, "a packet over a cable that carries nothing");
		*cost += 1 / (double)torus_sites_share(sites, at, direction);
		path[hops++] = at * 2 * sites->shape.axes + direction;
		at = torus_neighbour(&sites->shape, at, direction);
	}
	EXPECT(at == to, "a packet goes in circles");
	return hops;
}

static struct tally send_all(const struct torus_sites *sites, const struct torus_routes *routes, bool cautious)
{
	const struct torus_shape *shape = &sites->shape;
	char *wants = calloc((size_t)shape->places * TORUS_DIRECTIONS * TORUS_DIRECTIONS, 1);
	double *cheapest = malloc((size_t)shape->places * sizeof *cheapest);
	struct tally tally = {0};

	for (int b = 0; b < sites->nodes; b++) {
		find_costs(sites, sites->place[b], cheapest);
		for (int a = 0; a < sites->nodes; a++) {
			int at = sites->place[a], to = sites->place[b], path[MOST * 2], hops;
			bool clear;
			double cost;

			if (a == b)
				continue;
			hops = send_one(sites, routes, at, to, &cost, path);
			tally.pairs++;
			EXPECT((hops < 0) == (bool)isinf(cheapest[at]), "%s: who can be reached is",
			       torus_shape_text(shape, text));
			if (hops < 0)
				continue;
			clear = is_clear(sites, cautious, at, to);
			tally.around += !clear;
			EXPECT(!clear || path[0] % (2 * shape->axes) == torus_forward(shape, cautious, at, to),
			       "in dimension order");
			EXPECT(cautious || cost < cheapest[at] + 1e-3, "%s: the shortest route",
			       torus_shape_text(shape, text));
			tally.reached++;
			tally.hops += hops;
			tally.longest = hops > tally.longest ? hops : tally.longest;
			for (int s = 1; s < hops; s++)
				wants[path[s - 1] * TORUS_DIRECTIONS + path[s] % (2 * shape->axes)] = 1;
		}
	}
	tally.cycle = has_cycle(shape, wants);
	free(cheapest);
	free(wants);
	return tally;
}

static void check_sites(const struct torus_sites *sites, bool cautious)
{
	struct torus_routes routes;
	struct tally tally;

	EXPECT(torus_routes_check(&routes, sites, cautious), "memory");
	tally = send_all(sites, &routes, cautious);
	EXPECT(routes.pairs == tally.pairs && routes.reached == tally.reached && routes.around == tally.around &&
		       routes.hops == tally.hops && routes.longest == tally.longest,
	       "%s: %ld of %ld pairs, %ld around, %ld hops, longest %d; counted %ld of %ld, %ld, %ld, %d",
	       torus_shape_text(&sites->shape, text), routes.reached, routes.pairs, routes.around, routes.hops,
	       routes.longest, tally.reached, tally.pairs, tally.around, tally.hops, tally.longest);
	EXPECT((routes.cycle > 0) == tally.cycle, "%s: a cycle of %d links", torus_shape_text(&sites->shape, text),
	       routes.cycle);
	EXPECT((routes.from >= 0) == (routes.reached < routes.pairs), "a pair that is not reached is named");
	EXPECT(!cautious || !routes.cycle || tally.around, "%s: cautious, but with a cycle",
	       torus_shape_text(&sites->shape, text));
	for (int i = 0; i < routes.cycle; i++)
		EXPECT(torus_neighbour(&sites->shape, routes.places[i], routes.directions[i]) ==
			       routes.places[(i + 1) % routes.cycle],
		       "the links of a cycle follow each other");
	torus_routes_free(&routes);
}

static void draw_flaws(struct torus_sites *sites, const struct torus_box *box, const struct torus_shape *machine)
{
	static const float shares[] = {0, 0, 0.5, 0.3F, 0.1F};
	struct torus_flaw flaw[8];
	int flaws = tori_random(9);

	for (int i = 0; i < flaws; i++) {
		int place = tori_random(machine->places), direction = tori_random(2 * machine->axes);

		flaw[i] = (struct torus_flaw){place, direction, shares[tori_random(5)]};
	}
	EXPECT(torus_sites_mark(sites, box, machine, flaw, flaws), "memory");
}

static void check_random(void)
{
	for (int i = 0; i < 150; i++) {
		struct torus_shape machine;
		struct torus_sites sites;
		struct torus_box box;
		int places[MOST], count = 0, holes = tori_random(3) == 0, flaws = tori_random(2);

		tori_shape(&machine, MOST);
		for (int p = 0; p < machine.places; p++)
			if (!holes || tori_random(8))
				places[count++] = p;
		if (!count)
			continue;
		EXPECT(torus_sites_some(&sites, &box, &machine, places, count), "memory");
		if (flaws)
			draw_flaws(&sites, &box, &machine);
		check_sites(&sites, false);
		check_sites(&sites, true);
		torus_sites_free(&sites);
	}
}

/*
 * A cycle is there if and only if a ring has four or more; cautious routes have none and reach all.
 */
static void check_rings(void)
{
	static const struct {
		const char *shape;
		bool cycle;
	} rows[] = {
		{"3x3x3", false}, {"4", true},	 {"3x4", true},	   {"4m", false}, {"9mx9m", false},
		{"2dx2d", false}, {"5x3", true}, {"2x2x2", false}, {"8x8", true}, {"1", false},
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
