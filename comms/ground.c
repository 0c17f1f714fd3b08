/* SPDX-License-Identifier: BSD-3-Clause */
#include "ground.h"

#include <stdlib.h>

#include "job.h"
#include "rte/rte.h"

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		rte_die(NULL, "no memory for the torus of a team of %zu nodes", count);
	return memory;
}

/* The PEs that stand for the nodes of a group. */
static const struct comms_group *leaders_of(struct comms_group *group)
{
	comms_group_see(group);
	return group->levels ? &group->levels->leaders : group;
}

static void fill(struct torus_ground *ground, const struct torus_job *job, const struct comms_group *leaders, int my_node)
{
	int nodes = leaders->size, *places = allocate((size_t)nodes, sizeof *places);
	struct torus_box box;

	for (int n = 0; n < nodes; n++)
		places[n] = torus_job_place(job, comms_group_pe(leaders, n));
	if (!torus_sites_some(&ground->sites, &box, &job->sites.shape, places, nodes))
		rte_die(NULL, "no memory for the torus of a team of %d nodes", nodes);
	free(places);
	ground->pe = allocate((size_t)nodes, sizeof *ground->pe);
	for (int n = 0; n < nodes && ground->sites.shape.places == nodes; n++)
		ground->pe[ground->sites.place[n]] = comms_group_pe(leaders, n);
	ground->me = ground->sites.place[my_node];
	ground->costs = torus_costs_usual;
}

struct torus_ground *torus_ground_make(struct comms_group *group)
{
	const struct comms_group *leaders = leaders_of(group);
	struct torus_ground *ground;

	if (leaders->size < 2 || group->on_node)
		return NULL;
	ground = allocate(1, sizeof *ground);
	fill(ground, comms_torus(), leaders, group->levels ? group->levels->my_node : group->me);
	if (ground->sites.shape.places == leaders->size)
		return ground;
	torus_ground_free(ground);
	return NULL;
}

void torus_ground_free(struct torus_ground *ground)
{
	if (!ground)
		return;
	torus_sites_free(&ground->sites);
	free(ground->pe);
	free(ground);
}
