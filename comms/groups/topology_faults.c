/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a topology's cables while the job runs. */
#include <stdlib.h>

#include "topology.h"
#include "rte/rte.h"

/*
 * Share of the usual rate that a dead cable is assumed to carry. It is not zero, because its nodes
 * still reach each other if the kernel has other routes; trees avoid it if any tree can.
 */
#define DETOUR 1e-3F
/* And the remaining share of each cable of the detour, which also carries its own messages. */
#define SHARED 0.5F

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
	torus_topology_forget_lines(topology);
	topology->whole = !torus_sites_flawed(&topology->sites);
}

bool torus_topology_has_links(struct torus_topology *topology)
{
	bool possible;

	if (!topology->whole && !topology->lines_tried) {
		topology->lines_tried = true;
		topology->lines = malloc(sizeof *topology->lines);
		if (!topology->lines || !torus_lines_find(topology->lines, &topology->sites, &possible))
			rte_die(NULL, "no memory for the torus of a team of %d nodes", topology->sites.nodes);
		if (!possible) {
			free(topology->lines);
			topology->lines = NULL;
		}
	}
	return topology->whole || topology->lines;
}

void torus_topology_forget_lines(struct torus_topology *topology)
{
	if (topology->lines)
		torus_lines_free(topology->lines);
	free(topology->lines);
	topology->lines = NULL;
	topology->lines_tried = false;
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
