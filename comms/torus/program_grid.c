/* SPDX-License-Identifier: BSD-3-Clause */
#include "program_grid.h"

#include <stdlib.h>
#include <string.h>

#include "routes.h"

void torus_grid_complete(struct torus_grid *grid)
{
	grid->cells = 1;
	for (int i = 0; i < grid->dims; i++)
		grid->cells *= grid->size[i];
}

bool torus_grid_read(struct torus_grid *grid, const char *text, char problem[TORUS_PROBLEM])
{
	const char *at = text;
	long cells = 1;

	memset(grid, 0, sizeof *grid);
	for (;;) {
		int *size = &grid->size[grid->dims];
		char mark;

		if (grid->dims == TORUS_AXES)
			return torus_refuse(problem, "%.60s: more than six dimensions; give one to six, as in 8x8mx4",
					    text);
		if (!torus_read_size(&at, "m", size, &mark))
			return torus_refuse(problem,
					    "%.60s: not a grid; give sizes from 1 with x between, as in 8x8mx4", text);
		cells *= *size;
		if (cells > 4L * TORUS_PLACES)
			return torus_refuse(problem, "%.60s: more than 67108864 PEs", text);
		grid->wraps[grid->dims++] = mark != 'm';
		if (!*at)
			break;
		if (*at++ != 'x')
			return torus_refuse(
				problem, "%.60s: not a grid; after a size comes m (does not wrap) or x, as in 8x8mx4",
				text);
	}
	grid->cells = (int)cells;
	return true;
}

int torus_grid_neighbour(const struct torus_grid *grid, int cell, int dim, int step)
{
	int stride = 1, at, size = grid->size[dim];

	for (int i = grid->dims - 1; i > dim; i--)
		stride *= grid->size[i];
	at = cell / stride % size;
	if (size == 1)
		return -1;
	if (at + step >= 0 && at + step < size)
		return cell + step * stride;
	return grid->wraps[dim] ? cell - step * (size - 1) * stride : -1;
}

/* Coordinates of all places, so that routes need no division. */
static int *all_coordinates(const struct torus_shape *shape)
{
	int *table = malloc((size_t)shape->places * (size_t)shape->axes * sizeof *table);

	for (int p = 0; table && p < shape->places; p++)
		torus_coordinates(shape, p, &table[(size_t)p * (size_t)shape->axes]);
	return table;
}

struct traffic {
	const struct torus_shape *shape;
	const int *table;
	/* Of each link: place times directions, plus direction. */
	long *load;
	const struct torus_sites *sites;   /* only with routes */
	const struct torus_routes *routes; /* NULL: dimension order */
};

static int send_round(struct traffic *traffic, int from, int to, long weight)
{
	const struct torus_shape *shape = traffic->shape;
	const signed char *next = &traffic->routes->next[(size_t)traffic->sites->node[to] * (size_t)shape->places];
	int hops = 0;

	for (int at = from; at != to; at = torus_neighbour(shape, at, next[at]), hops++)
		traffic->load[(size_t)at * (size_t)(2 * shape->axes) + (size_t)next[at]] +=
			(long)((double)weight / (double)torus_sites_share(traffic->sites, at, next[at]) + 0.5);
	return hops;
}

/* Adds a message to all links of its route; returns their number. */
static int route_message(struct traffic *traffic, int from, int to, long weight)
{
	const struct torus_shape *shape = traffic->shape;
	const int *a = &traffic->table[(size_t)from * (size_t)shape->axes];
	const int *b = &traffic->table[(size_t)to * (size_t)shape->axes];
	int hops = 0, at = from;

	if (traffic->routes)
		return send_round(traffic, from, to, weight);
	for (int x = 0; x < shape->axes; x++) {
		int steps = torus_steps(&shape->axis[x], a[x], b[x]), down = steps < 0;
		int left = down ? -steps : steps, c = a[x], end = down ? 0 : shape->axis[x].size - 1;
		int stride = down ? -shape->stride[x] : shape->stride[x];

		for (hops += left; left > 0; left--) {
			traffic->load[(size_t)at * (size_t)(2 * shape->axes) + (size_t)(2 * x + down)] += weight;
			at += c == end ? -stride * (shape->axis[x].size - 1) : stride;
			c = c == end ? shape->axis[x].size - 1 - end : c + (down ? -1 : 1);
		}
	}
	return hops;
}

static void count_message(struct torus_cost *cost, int hops, long weight)
{
	cost->messages += weight;
	cost->hops += hops * weight;
	cost->by_hops[hops] += weight;
	if (hops > cost->longest)
		cost->longest = hops;
}

static void send_all(struct torus_cost *cost, struct traffic *traffic, const struct torus_grid *grid, const int *place,
		     const long *weight)
{
	for (int cell = 0; cell < grid->cells; cell++)
		for (int i = 0; i < grid->dims; i++) {
			int next = torus_grid_neighbour(grid, cell, i, 1);
			long w = weight ? weight[i] : 1;

			if (next < 0)
				continue;
			count_message(cost, route_message(traffic, place[cell], place[next], w), w);
			count_message(cost, route_message(traffic, place[next], place[cell], w), w);
		}
}

static bool find_cost(struct torus_cost *cost, struct traffic traffic, const struct torus_grid *grid, const int *place,
		      const long *weight)
{
	const struct torus_shape *shape = traffic.shape;
	size_t links = (size_t)shape->places * 2 * (size_t)shape->axes;
	int *table = all_coordinates(shape), longest = torus_diameter(shape);

	if (traffic.routes && traffic.routes->longest > longest)
		longest = traffic.routes->longest;
	traffic.table = table;
	traffic.load = calloc(links, sizeof(long));
	memset(cost, 0, sizeof *cost);
	cost->n_by_hops = longest + 1;
	cost->by_hops = calloc((size_t)cost->n_by_hops, sizeof *cost->by_hops);
	if (table && traffic.load && cost->by_hops) {
		send_all(cost, &traffic, grid, place, weight);
		for (size_t l = 0; l < links; l++)
			if (traffic.load[l] > cost->worst)
				cost->worst = traffic.load[l];
	} else {
		torus_cost_free(cost);
	}
	free(table);
	free(traffic.load);
	return cost->by_hops != NULL;
}

bool torus_cost_find(struct torus_cost *cost, const struct torus_shape *shape, const struct torus_grid *grid,
		     const int *place, const long *weight)
{
	return find_cost(cost, (struct traffic){.shape = shape}, grid, place, weight);
}

bool torus_cost_round(struct torus_cost *cost, const struct torus_sites *sites, const struct torus_routes *routes,
		      const struct torus_grid *grid, const int *place, const long *weight)
{
	return find_cost(cost, (struct traffic){.shape = &sites->shape, .sites = sites, .routes = routes}, grid, place,
			 weight);
}

void torus_cost_free(struct torus_cost *cost)
{
	free(cost->by_hops);
	cost->by_hops = NULL;
}

bool torus_cost_bears(const struct torus_cost *cost, const struct torus_cost *other)
{
	return cost->hops <= other->hops && cost->longest <= other->longest && cost->worst <= other->worst;
}
