/* SPDX-License-Identifier: BSD-3-Clause */
#include "disjoint_trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool torus_sites_flawed(const struct torus_sites *sites)
{
	const struct torus_shape *shape = &sites->shape;

	if (sites->nodes < shape->places)
		return true;
	for (int p = 0; sites->share && p < shape->places; p++)
		for (int direction = 0; direction < 2 * shape->axes; direction++)
			if (shape->axis[direction / 2].size > 1 && torus_neighbour(shape, p, direction) >= 0 &&
			    torus_sites_share(sites, p, direction) < 1)
				return true;
	return false;
}

bool torus_links_of(struct torus_links *links, const struct torus_sites *sites, float least)
{
	const struct torus_shape *shape = &sites->shape;

	links->sites = sites;
	links->usable = calloc((size_t)shape->places * TORUS_DIRECTIONS, sizeof *links->usable);
	if (!links->usable)
		return false;
	for (int p = 0; p < shape->places; p++)
		for (int direction = 0; direction < 2 * shape->axes; direction++) {
			float share = torus_sites_share(sites, p, direction);

			links->usable[p * TORUS_DIRECTIONS + direction] = share > 0 && share >= least;
		}
	return true;
}

void torus_links_free(struct torus_links *links)
{
	free(links->usable);
	links->usable = NULL;
}

/* A search for paths from the root (or a second source) to a place, over free links. */
struct search {
	const struct torus_shape *shape;
	int root;
	unsigned char *free; /* by link */
	unsigned char *flow; /* by link: a path found uses it */
	/*
	 * Links that ever had flow, for clearing it: at most the number of paths times the number
	 * of places.
	 */
	int *touched;
	int touches;
	int *queue;
	/*
	 * By place: the direction from it towards the end; -1: not reached; TORUS_DIRECTIONS and
	 * up: against the flow.
	 */
	signed char *by;
};

static void search_free(struct search *search)
{
	free(search->free);
	free(search->flow);
	free(search->touched);
	free(search->queue);
	free(search->by);
}

static bool search_begin(struct search *search, const struct torus_links *links, int root)
{
	const struct torus_shape *shape = &links->sites->shape;
	size_t places = (size_t)shape->places, all = places * TORUS_DIRECTIONS;

	*search = (struct search){.shape = shape, .root = root};
	search->free = malloc(all);
	search->flow = calloc(all, 1);
	search->touched = malloc(all * sizeof *search->touched);
	search->queue = malloc(places * sizeof *search->queue);
	search->by = malloc(places);
	if (!search->free || !search->flow || !search->touched || !search->queue || !search->by) {
		search_free(search);
		return false;
	}
	memcpy(search->free, links->usable, all);
	return true;
}

/*
 * One step of the search for an augmenting path, as in any algorithm for the maximum flow: can one
 * more path come from the neighbour in this direction to this place? It can over a link that
 * carries no path yet, or by cancelling a path that goes from this place to that neighbour. Returns
 * how (struct search: by), or -1, and the neighbour.
 */
static int direction_from(const struct search *search, int place, int direction, int *from)
{
	*from = search->shape->axis[direction / 2].size > 1 ? torus_neighbour(search->shape, place, direction) : -1;
	if (*from < 0 || search->by[*from] >= 0)
		return -1;
	if (search->free[*from * TORUS_DIRECTIONS + (direction ^ 1)] &&
	    !search->flow[*from * TORUS_DIRECTIONS + (direction ^ 1)])
		return direction ^ 1;
	return search->flow[place * TORUS_DIRECTIONS + direction] ? TORUS_DIRECTIONS + (direction ^ 1) : -1;
}

/* Searches backwards from the end until a source is found; -1: there is no further path. */
static int search_back(struct search *search, int source, int end)
{
	int first = 0, last = 0;

	memset(search->by, -1, (size_t)search->shape->places);
	search->by[end] = TORUS_DIRECTIONS + TORUS_DIRECTIONS;
	search->queue[last++] = end;
	while (first < last) {
		int place = search->queue[first++];

		for (int direction = 0; direction < 2 * search->shape->axes; direction++) {
			int from, by = direction_from(search, place, direction, &from);

			if (by < 0)
				continue;
			search->by[from] = (signed char)by;
			if (from == search->root || from == source)
				return from;
			search->queue[last++] = from;
		}
	}
	return -1;
}

static void send_along(struct search *search, int from, int end)
{
	while (from != end) {
		int by = search->by[from], direction = by % TORUS_DIRECTIONS,
		    next = torus_neighbour(search->shape, from, direction);
		int link = by < TORUS_DIRECTIONS ? from * TORUS_DIRECTIONS + direction
						 : next * TORUS_DIRECTIONS + (direction ^ 1);

		search->flow[link] = by < TORUS_DIRECTIONS;
		if (by < TORUS_DIRECTIONS)
			search->touched[search->touches++] = link;
		from = next;
	}
}

/* The number of link-disjoint paths to the end; the search stops at the wanted number. */
static int count_paths(struct search *search, int source, int end, int wanted)
{
	int paths = 0, from;

	search->touches = 0;
	while (paths < wanted && (from = search_back(search, source, end)) >= 0) {
		send_along(search, from, end);
		paths++;
	}
	while (search->touches > 0)
		search->flow[search->touched[--search->touches]] = 0;
	return paths;
}

int torus_disjoint_trees_most(const struct torus_links *links, int root)
{
	const struct torus_sites *sites = links->sites;
	struct search search;
	int most = 2 * sites->shape.axes;

	if (sites->shape.places > TORUS_DISJOINT_PLACES)
		return -1;
	if (sites->nodes < 2 || !search_begin(&search, links, root))
		return 0;
	for (int n = 0; n < sites->nodes && most > 0; n++)
		if (sites->place[n] != root)
			most = count_paths(&search, root, sites->place[n], most);
	search_free(&search);
	return most;
}

/* Grows a tree from links that leave enough paths for this many more trees; returns its depth. */
static int grow_tree(struct search *search, signed char *direction, int more, int rotation)
{
	const struct torus_shape *shape = search->shape;
	int *level = calloc((size_t)shape->places, sizeof *level),
	    *queue = malloc((size_t)shape->places * sizeof *queue);
	int first = 0, last = 0, deepest = -1, directions = 2 * shape->axes;

	if (level && queue)
		queue[last++] = search->root;
	while (first < last) {
		int from = queue[first++];

		deepest = level[from];
		for (int w = 0; w < directions; w++) {
			int out = (w + rotation) % directions, link = from * TORUS_DIRECTIONS + out,
			    next = torus_neighbour(shape, from, out);

			if (!search->free[link] || next == search->root || direction[next] >= 0)
				continue;
			search->free[link] = 0;
			if (count_paths(search, from, next, more) < more) {
				search->free[link] = 1;
				continue;
			}
			direction[next] = (signed char)out;
			level[next] = level[from] + 1;
			queue[last++] = next;
		}
	}
	free(level);
	free(queue);
	return deepest;
}

bool torus_disjoint_trees_find(struct torus_disjoint_trees *disjoint, const struct torus_links *links, int root,
			       int most)
{
	const struct torus_shape *shape = &links->sites->shape;
	int trees = torus_disjoint_trees_most(links, root);
	struct search search;

	*disjoint = (struct torus_disjoint_trees){.root = root, .share = 1};
	if (trees < 0)
		return false;
	disjoint->trees = trees < most ? trees : most;
	disjoint->direction = malloc((size_t)disjoint->trees * (size_t)shape->places + 1);
	if (!disjoint->direction || !search_begin(&search, links, root)) {
		torus_disjoint_trees_free(disjoint);
		return false;
	}
	memset(disjoint->direction, -1, (size_t)disjoint->trees * (size_t)shape->places);
	for (int t = 0; t < disjoint->trees; t++) {
		int depth = grow_tree(&search, disjoint->direction + (size_t)t * (size_t)shape->places,
				      disjoint->trees - t - 1, 2 * t + t / shape->axes);

		disjoint->depth = depth > disjoint->depth ? depth : disjoint->depth;
	}
	search_free(&search);
	return true;
}

/* The largest share of a link below this one, 0: none. */
static float next_share(const struct torus_sites *sites, float below)
{
	float next = 0;

	for (int p = 0; p < sites->shape.places; p++)
		for (int direction = 0; direction < 2 * sites->shape.axes; direction++) {
			float share = torus_sites_share(sites, p, direction);

			if (share < below && share > next)
				next = share;
		}
	return next;
}

bool torus_disjoint_trees_best(struct torus_disjoint_trees *disjoint, const struct torus_sites *sites, int root)
{
	float best = 0, share = next_share(sites, HUGE_VALF);
	struct torus_links links;
	int trees = 0;
	bool found;

	for (float least = share; least > 0; least = sites->share ? next_share(sites, least) : 0) {
		int most;

		if (!torus_links_of(&links, sites, least))
			return false;
		most = torus_disjoint_trees_most(&links, root);
		torus_links_free(&links);
		if (most < 0)
			return false;
		if ((float)most * least > best) {
			best = (float)most * least;
			share = least;
			trees = most;
		}
	}
	if (!torus_links_of(&links, sites, share))
		return false;
	found = torus_disjoint_trees_find(disjoint, &links, root, trees);
	disjoint->share = share;
	torus_links_free(&links);
	return found;
}

int torus_trees_left(const struct torus_sites *sites, int root)
{
	int by_arithmetic = 0;
	struct torus_disjoint_trees disjoint;

	for (enum torus_trees kind = TORUS_TREES_BOTH; kind <= TORUS_TREES_TWICE && !torus_sites_flawed(sites); kind++)
		if (torus_tree_count(&sites->shape, kind) > by_arithmetic)
			by_arithmetic = torus_tree_count(&sites->shape, kind);
	if (!torus_disjoint_trees_best(&disjoint, sites, root))
		return by_arithmetic;
	if (disjoint.trees > by_arithmetic)
		by_arithmetic = disjoint.trees;
	torus_disjoint_trees_free(&disjoint);
	return by_arithmetic;
}

void torus_disjoint_trees_free(struct torus_disjoint_trees *disjoint)
{
	free(disjoint->direction);
	disjoint->direction = NULL;
	disjoint->trees = 0;
}
