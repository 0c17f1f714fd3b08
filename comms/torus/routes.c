/* SPDX-License-Identifier: BSD-3-Clause */
#include "routes.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int cautious_steps(const struct torus_axis *axis, int from, int to)
{
	int inside = to - from, last = axis->size - 1;

	if (!axis->ring || axis->size < 4)
		return torus_steps(axis, from, to);
	if (from == last && 1 + to < last - to)
		return 1 + to;
	if (from == 0 && 1 + last - to < to)
		return -(1 + last - to);
	return inside;
}

int torus_forward(const struct torus_shape *shape, bool cautious, int at, int to)
{
	for (int a = 0; a < shape->axes; a++) {
		int from = torus_coordinate(shape, at, a), goal = torus_coordinate(shape, to, a);
		int steps = cautious ? cautious_steps(&shape->axis[a], from, goal)
				     : torus_steps(&shape->axis[a], from, goal);

		if (steps)
			return 2 * a + (steps < 0);
	}
	return -1;
}

/*
 * after: for each link, a bit for every direction in which a route leaves it. The other arrays are
 * for one goal and indexed by place: the routes to a goal form a tree.
 */
struct walk {
	const struct torus_sites *sites;
	bool cautious;
	uint16_t *after;
	signed char *next;
	int *hops; /* 0: unknown, or at the goal */
	/* Hops, with slow cables counted as several; above 0: not in dimension order. */
	float *cost;
};

/*
 * Does dimension order lead from a place to the goal over intact cables only? Marks all places of
 * the route.
 */
static bool is_whole(struct walk *walk, int place, int goal)
{
	const struct torus_sites *sites = walk->sites;
	int count = 0, at = place;
	bool whole = true;

	while (whole && at != goal && walk->hops[at] == 0 && walk->cost[at] == 0) {
		whole = torus_sites_share(sites, at, walk->next[at]) == 1;
		at = torus_neighbour(&sites->shape, at, walk->next[at]);
		count++;
	}
	whole = whole && walk->cost[at] == 0;
	for (int left = count + (whole ? walk->hops[at] : 0), p = place; count > 0; count--, left--) {
		if (whole)
			walk->hops[p] = left;
		else
			walk->cost[p] = INFINITY;
		p = torus_neighbour(&sites->shape, p, walk->next[p]);
	}
	return place == goal || walk->cost[place] == 0;
}

/* Gives a place without a route over intact cables the best one through its neighbours. */
static bool improve_route(struct walk *walk, int place, int goal)
{
	const struct torus_sites *sites = walk->sites;
	bool better = false;

	for (int direction = 0; direction < 2 * sites->shape.axes; direction++) {
		float share = torus_sites_share(sites, place, direction), cost;
		int next;

		if (share == 0)
			continue;
		next = torus_neighbour(&sites->shape, place, direction);
		cost = walk->cost[next] > 0 ? walk->cost[next] : (float)walk->hops[next];
		if (next != goal && cost == 0)
			continue;
		if (cost + 1 / share < walk->cost[place]) {
			walk->cost[place] = cost + 1 / share;
			walk->next[place] = (signed char)direction;
			better = true;
		}
	}
	return better;
}

/* Finds the next direction to a goal from each node's place. */
static void find_directions(struct walk *walk, int goal)
{
	const struct torus_sites *sites = walk->sites;
	const struct torus_shape *shape = &sites->shape;
	bool all_whole = true, better;

	memset(walk->hops, 0, (size_t)shape->places * sizeof *walk->hops);
	memset(walk->cost, 0, (size_t)shape->places * sizeof *walk->cost);
	for (int p = 0; p < shape->places; p++)
		walk->next[p] = (signed char)torus_forward(shape, walk->cautious, p, goal);
	for (int n = 0; n < sites->nodes; n++)
		all_whole = is_whole(walk, sites->place[n], goal) && all_whole;
	if (all_whole)
		return;
	do {
		better = false;
		for (int n = 0; n < sites->nodes; n++)
			if (walk->cost[sites->place[n]] > 0)
				better = improve_route(walk, sites->place[n], goal) || better;
	} while (better);
}

static int count_hops(const struct walk *walk, int place, int goal)
{
	int hops = 0;

	while (place != goal && walk->hops[place] == 0) {
		place = torus_neighbour(&walk->sites->shape, place, walk->next[place]);
		hops++;
	}
	return hops + walk->hops[place];
}

static void follow_to(struct walk *walk, struct torus_routes *routes, int goal)
{
	const struct torus_sites *sites = walk->sites;
	const struct torus_shape *shape = &sites->shape;
	int to = sites->node[goal];

	walk->next = &routes->next[(size_t)to * (size_t)shape->places];
	find_directions(walk, goal);
	for (int n = 0; n < sites->nodes; n++) {
		int place = sites->place[n], hops, second;

		if (place == goal)
			continue;
		routes->pairs++;
		if (isinf(walk->cost[place])) {
			walk->next[place] = -1;
			if (routes->from < 0) {
				routes->from = n;
				routes->to = to;
			}
			continue;
		}
		hops = count_hops(walk, place, goal);
		routes->reached++;
		routes->around += walk->cost[place] > 0;
		routes->hops += hops;
		routes->longest = hops > routes->longest ? hops : routes->longest;
		second = torus_neighbour(shape, place, walk->next[place]);
		if (second != goal)
			walk->after[place * 2 * shape->axes + walk->next[place]] |=
				(uint16_t)(1u << walk->next[second]);
	}
}

/*
 * Depth-first search for a cycle of links. Colours: 0 not seen, 1 on the path, 2 done. Returns
 * false if there is no memory.
 */
static bool find_cycle(struct torus_routes *routes, const struct walk *walk)
{
	const struct torus_shape *shape = &walk->sites->shape;
	int directions = 2 * shape->axes, links = shape->places * directions;
	unsigned char *colour = calloc((size_t)links, 1), *tried = calloc((size_t)links, 1);
	int *stack = malloc((size_t)links * sizeof *stack), depth = 0, start = 0;
	bool good = colour && tried && stack;

	for (int first = 0; good && first < links && !routes->cycle; first++) {
		if (colour[first])
			continue;
		stack[depth++] = first;
		colour[first] = 1;
		while (depth > 0 && !routes->cycle) {
			int link = stack[depth - 1], direction = tried[link]++, next;

			if (direction == directions) {
				colour[link] = 2;
				depth--;
				continue;
			}
			if (!(walk->after[link] >> direction & 1))
				continue;
			next = torus_neighbour(shape, link / directions, link % directions) * directions + direction;
			if (colour[next] == 1) {
				for (start = depth - 1; stack[start] != next; start--)
					;
				routes->cycle = depth - start;
			} else if (!colour[next]) {
				colour[next] = 1;
				stack[depth++] = next;
			}
		}
	}
	for (int i = 0; i < routes->cycle; i++) {
		routes->places[i] = stack[start + i] / directions;
		routes->directions[i] = stack[start + i] % directions;
	}
	free(colour);
	free(tried);
	free(stack);
	return good;
}

bool torus_routes_check(struct torus_routes *routes, const struct torus_sites *sites, bool cautious)
{
	size_t places = (size_t)sites->shape.places, links = places * 2 * (size_t)sites->shape.axes;
	struct walk walk = {.sites = sites,
			    .cautious = cautious,
			    .after = calloc(links, sizeof *walk.after),
			    .hops = malloc(places * sizeof *walk.hops),
			    .cost = malloc(places * sizeof *walk.cost)};
	bool good;

	*routes = (struct torus_routes){.from = -1, .to = -1};
	routes->next = malloc((size_t)sites->nodes * places);
	routes->places = malloc(links * sizeof *routes->places);
	routes->directions = malloc(links * sizeof *routes->directions);
	good = walk.after && walk.hops && walk.cost && routes->next && routes->places && routes->directions;
	for (int n = 0; good && n < sites->nodes; n++)
		follow_to(&walk, routes, sites->place[n]);
	good = good && find_cycle(routes, &walk);
	free(walk.after);
	free(walk.hops);
	free(walk.cost);
	if (!good)
		torus_routes_free(routes);
	return good;
}

void torus_routes_free(struct torus_routes *routes)
{
	free(routes->next);
	free(routes->places);
	free(routes->directions);
	routes->next = NULL;
	routes->places = routes->directions = NULL;
}

const struct torus_routes *torus_routes_round(struct torus_routes *routes, const struct torus_sites *sites, bool *found)
{
	*routes = (struct torus_routes){.from = -1, .to = -1};
	*found = !sites->share || torus_routes_check(routes, sites, false);
	return *found && sites->share && routes->reached == routes->pairs ? routes : NULL;
}
