/* SPDX-License-Identifier: BSD-3-Clause */
#include "routes.h"

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
 * next: for one goal, the way on from every place. after: for each link, a bit for every way on which a route leaves it.
 * A goal's routes are a tree, so the number of hops of a place is that of the next plus one; it is remembered.
 */
struct walk {
	const struct torus_sites *sites;
	bool cautious;
	int *next, *hops;
	uint16_t *after;
};

/* Hops from a place to the goal, or -1 - p if p, in the way, has no host. */
static int hops_from(struct walk *walk, int place, int goal)
{
	int count = 0, at = place, result;

	while (at != goal && walk->hops[at] == 0 && walk->sites->node[at] >= 0) {
		at = torus_neighbour(&walk->sites->shape, at, walk->next[at]);
		count++;
	}
	if (walk->sites->node[at] < 0)
		result = -1 - at;
	else
		result = walk->hops[at];
	/* The same way again, to leave behind what was found out. */
	for (at = place; count > 0; count--) {
		if (result >= 0)
			walk->hops[at] = result + count;
		else
			walk->hops[at] = result;
		at = torus_neighbour(&walk->sites->shape, at, walk->next[at]);
	}
	return place == goal ? 0 : walk->hops[place];
}

static void follow_to(struct walk *walk, struct torus_routes *routes, int goal)
{
	const struct torus_sites *sites = walk->sites;
	const struct torus_shape *shape = &sites->shape;
	int to = sites->node[goal];

	memset(walk->hops, 0, (size_t)shape->places * sizeof *walk->hops);
	for (int p = 0; p < shape->places; p++)
		walk->next[p] = torus_forward(shape, walk->cautious, p, goal);
	for (int n = 0; n < sites->nodes; n++) {
		int place = sites->place[n], hops = hops_from(walk, place, goal), second;

		if (place == goal)
			continue;
		routes->pairs++;
		if (hops < 0) {
			if (routes->hole < 0) {
				routes->from = n;
				routes->to = to;
				routes->hole = -1 - hops;
			}
			continue;
		}
		routes->reached++;
		routes->hops += hops;
		routes->longest = hops > routes->longest ? hops : routes->longest;
		second = torus_neighbour(shape, place, walk->next[place]);
		if (second != goal)
			walk->after[place * 2 * shape->axes + walk->next[place]] |=
				(uint16_t)(1u << walk->next[second]);
	}
}

/* Looks for a cycle of links, depth first. Colours: 0 not seen, 1 on the way, 2 done. False: no memory. */
static bool find_cycle(struct torus_routes *routes, const struct walk *walk)
{
	const struct torus_shape *shape = &walk->sites->shape;
	int ways = 2 * shape->axes, links = shape->places * ways;
	unsigned char *colour = calloc((size_t)links, 1), *tried = calloc((size_t)links, 1);
	int *stack = malloc((size_t)links * sizeof *stack), depth = 0, start = 0;
	bool good = colour && tried && stack;

	for (int first = 0; good && first < links && !routes->cycle; first++) {
		if (colour[first])
			continue;
		stack[depth++] = first;
		colour[first] = 1;
		while (depth > 0 && !routes->cycle) {
			int link = stack[depth - 1], way = tried[link]++, next;

			if (way == ways) {
				colour[link] = 2;
				depth--;
				continue;
			}
			if (!(walk->after[link] >> way & 1))
				continue;
			next = torus_neighbour(shape, link / ways, link % ways) * ways + way;
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
		routes->places[i] = stack[start + i] / ways;
		routes->ways[i] = stack[start + i] % ways;
	}
	free(colour);
	free(tried);
	free(stack);
	return good;
}

bool torus_routes_check(struct torus_routes *routes, const struct torus_sites *sites, bool cautious)
{
	size_t places = (size_t)sites->shape.places, links = places * 2 * (size_t)sites->shape.axes;
	struct walk walk = {sites, cautious, malloc(places * sizeof(int)), malloc(places * sizeof(int)),
			    calloc(links, sizeof(uint16_t))};
	bool good;

	*routes = (struct torus_routes){.from = -1, .to = -1, .hole = -1};
	routes->places = malloc(links * sizeof *routes->places);
	routes->ways = malloc(links * sizeof *routes->ways);
	good = walk.next && walk.hops && walk.after && routes->places && routes->ways;
	for (int n = 0; good && n < sites->nodes; n++)
		follow_to(&walk, routes, sites->place[n]);
	good = good && find_cycle(routes, &walk);
	free(walk.next);
	free(walk.hops);
	free(walk.after);
	if (!good)
		torus_routes_free(routes);
	return good;
}

void torus_routes_free(struct torus_routes *routes)
{
	free(routes->places);
	free(routes->ways);
	routes->places = routes->ways = NULL;
}
