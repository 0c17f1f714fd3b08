/* SPDX-License-Identifier: BSD-3-Clause */
/* What becomes of the cables of a topology while the job runs. */
#include <stdlib.h>

#include "topology.h"
#include "rte/rte.h"

/*
 * Of the usual rate, what a cable is taken to carry that is dead. Its neighbours still reach each other where the kernel has other routes, so
 * it is not nothing: trees avoid it as long as there is one without it.
 */
#define DETOUR 1e-3F
#define SHARED 0.5F /* and what is left of each cable of the way round, which has messages of its own */

static size_t link_number(const struct torus_topology *topology, int place, int direction)
{
	return (size_t)place * (size_t)(2 * topology->sites.shape.axes) + (size_t)direction;
}

static float *floats_of_links(const struct torus_topology *topology, const float *from)
{
	size_t links = link_number(topology, topology->sites.shape.places, 0);
	float *list = malloc(links * sizeof *list);

	if (!list)
		rte_die(NULL, "no memory for the cables of a team of %d nodes", topology->sites.nodes);
	for (size_t l = 0; l < links; l++)
		list[l] = from ? from[l] : 1;
	return list;
}

float torus_topology_seen(const struct torus_topology *topology, int place, int direction)
{
	return topology->seen ? topology->seen[link_number(topology, place, direction)] : 1;
}

float torus_topology_share(const struct torus_topology *topology, int place, int direction)
{
	int next = torus_neighbour(&topology->sites.shape, place, direction);
	float here = torus_topology_seen(topology, place, direction),
	      there = torus_topology_seen(topology, next, direction ^ 1);

	return here < there ? here : there;
}

void torus_topology_see(struct torus_topology *topology, int place, int direction, float share)
{
	size_t link = link_number(topology, place, direction);
	int next = torus_neighbour(&topology->sites.shape, place, direction);
	size_t back = link_number(topology, next, direction ^ 1);

	if (!topology->seen) {
		topology->seen = floats_of_links(topology, NULL);
		topology->at_start = floats_of_links(topology, topology->sites.share);
		if (!topology->sites.share)
			topology->sites.share = floats_of_links(topology, NULL);
	}
	topology->seen[link] = share;
	share = torus_topology_share(topology, place, direction);
	share = share > DETOUR ? share : DETOUR;
	share = share < topology->at_start[link] ? share : topology->at_start[link];
	topology->sites.share[link] = topology->sites.share[back] = share;
	topology->changes++;
	torus_topology_forget_trees(topology);
	torus_topology_forget_cut(topology);
	topology->whole = !torus_sites_flawed(&topology->sites);
}

static void *cut_allocate(int count)
{
	void *memory = malloc((size_t)count * sizeof(int));

	if (!memory)
		rte_die(NULL, "no memory for the torus of a team of %d nodes", count);
	return memory;
}

/* The place in the cut torus of one in the whole torus. */
static int place_in_cut(const struct torus_shape *shape, const int *first, int place)
{
	int coordinates[TORUS_AXES];

	torus_coordinates(shape, place, coordinates);
	for (int a = 0; a < shape->axes; a++)
		if (first[a] >= 0)
			coordinates[a] = (coordinates[a] - first[a] + shape->axis[a].size) % shape->axis[a].size;
	return torus_place_at(shape, coordinates);
}

/* Axes keep their sizes, so places have the same strides. */
static struct torus_topology *make_cut(const struct torus_topology *topology, const int *first)
{
	const struct torus_sites *sites = &topology->sites;
	struct torus_topology *cut = calloc(1, sizeof *cut);

	if (!cut)
		rte_die(NULL, "no memory for the torus of a team of %d nodes", sites->nodes);
	cut->sites.shape = sites->shape;
	for (int a = 0; a < sites->shape.axes; a++)
		cut->sites.shape.axis[a].ring = sites->shape.axis[a].ring && first[a] < 0;
	cut->sites.nodes = sites->nodes;
	cut->sites.place = cut_allocate(sites->nodes);
	cut->sites.node = cut_allocate(sites->shape.places);
	cut->pe = cut_allocate(sites->shape.places);
	for (int p = 0; p < sites->shape.places; p++) {
		int place = place_in_cut(&sites->shape, first, p);

		cut->sites.node[place] = sites->node[p];
		cut->sites.place[sites->node[p]] = place;
		cut->pe[place] = topology->pe[p];
	}
	cut->me = place_in_cut(&sites->shape, first, topology->me);
	cut->whole = true;
	cut->costs = topology->costs;
	return cut;
}

const struct torus_topology *torus_topology_links(const struct torus_topology *topology)
{
	struct torus_topology *changing = (struct torus_topology *)(uintptr_t)topology;
	int first[TORUS_AXES];

	if (topology->whole)
		return topology;
	if (!topology->cut_tried && torus_sites_cut(&topology->sites, first))
		changing->cut = make_cut(topology, first);
	changing->cut_tried = true;
	return topology->cut;
}

void torus_topology_forget_cut(struct torus_topology *topology)
{
	torus_topology_free(topology->cut);
	topology->cut = NULL;
	topology->cut_tried = false;
}

struct torus_costs torus_topology_route_costs(const struct torus_topology *topology)
{
	struct torus_costs costs = topology->costs;
	float least = 1;

	for (size_t l = 0; topology->sites.share && l < link_number(topology, topology->sites.shape.places, 0); l++) {
		float share = topology->sites.share[l] > DETOUR ? topology->sites.share[l] : SHARED;

		least = share < least ? share : least;
	}
	costs.rate *= (double)least;
	return costs;
}
