/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology.h"

#include <stdlib.h>

#include "groups.h"
#include "comms/nodes/job_torus.h"
#include "comms/nodes/costs.h"
#include "rte/rte.h"

/*
 * On a torus without holes and dead cables, torus_topology_trees searches for disjoint trees only
 * for messages of at least SEARCHED_FOR bytes on at most SEARCHED_ON places. For others the trees
 * that trees.h computes by formula are good enough.
 */
#define SEARCHED_FOR (256UL << 10)
#define SEARCHED_ON 512

static void *topology_allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		rte_die(NULL, "no memory for the torus of a team of %zu nodes", count);
	return memory;
}

/* The node leaders of a group. */
static const struct comms_group *leaders_of(struct comms_group *group)
{
	comms_group_prepare(group);
	return group->levels ? &group->levels->leaders : group;
}

static void fill_topology(struct torus_topology *topology, const struct torus_job *job,
			  const struct comms_group *leaders, int my_node)
{
	int nodes = leaders->size, *places = topology_allocate((size_t)nodes, sizeof *places);

	for (int n = 0; n < nodes; n++)
		places[n] = torus_job_place(job, comms_group_pe(leaders, n));
	if (!torus_sites_of_team(&topology->sites, &job->sites, places, nodes))
		rte_die(NULL, "no memory for the torus of a team of %d nodes", nodes);
	free(places);
	topology->pe = topology_allocate((size_t)topology->sites.shape.places, sizeof *topology->pe);
	for (int p = 0; p < topology->sites.shape.places; p++)
		topology->pe[p] = topology->sites.node[p] < 0 ? -1 : comms_group_pe(leaders, topology->sites.node[p]);
	topology->me = topology->sites.place[my_node];
	topology->whole = !torus_sites_flawed(&topology->sites);
	topology->costs = *comms_costs_between_nodes();
}

/*
 * Is there a route from each node to every other? A dead cable is dead in both directions, so
 * testing one root is enough.
 */
static bool is_connected(struct torus_topology *topology)
{
	const struct torus_disjoint_trees *disjoint = torus_topology_disjoint_trees(topology, topology->sites.place[0]);

	return disjoint && disjoint->trees > 0;
}

struct torus_topology *torus_topology_make(struct comms_group *group)
{
	const struct comms_group *leaders = leaders_of(group);
	struct torus_topology *topology;

	if (leaders->size < 2 || group->on_node)
		return NULL;
	topology = topology_allocate(1, sizeof *topology);
	fill_topology(topology, comms_ensure_torus(), leaders, group->levels ? group->levels->my_node : group->me);
	if (topology->whole || is_connected(topology))
		return topology;
	torus_topology_free(topology);
	return NULL;
}

const struct torus_disjoint_trees *torus_topology_disjoint_trees(struct torus_topology *topology, int root)
{
	const struct torus_shape *shape = &topology->sites.shape;

	if (shape->places > TORUS_DISJOINT_PLACES)
		return NULL;
	if (!topology->disjoint)
		topology->disjoint = topology_allocate((size_t)shape->places, sizeof(struct torus_disjoint_trees *));
	if (!topology->disjoint[root]) {
		topology->disjoint[root] = topology_allocate(1, sizeof(struct torus_disjoint_trees));
		if (!torus_disjoint_trees_best(topology->disjoint[root], &topology->sites, root))
			rte_die(NULL, "no memory for the trees of a team of %d nodes", topology->sites.nodes);
	}
	return topology->disjoint[root];
}

/* Rings beside meshes, or pairs with one cable: a search may find more trees than the formulas. */
static bool is_mixed(const struct torus_shape *shape)
{
	int rings = 0, others = 0;

	for (int a = 0; a < shape->axes; a++) {
		rings += shape->axis[a].size > 1 && shape->axis[a].ring;
		others += shape->axis[a].size > 1 && !shape->axis[a].ring;
	}
	return rings > 0 && others > 0;
}

struct torus_tree_choice torus_topology_trees(struct torus_topology *topology, int kind, struct torus_task *task)
{
	const struct torus_shape *shape = &topology->sites.shape;
	struct torus_costs costs = topology->costs;
	bool worth_it =
		!task->up_first && task->bytes >= SEARCHED_FOR && shape->places <= SEARCHED_ON && is_mixed(shape);

	task->damaged = !topology->whole;
	if (task->damaged || kind == TORUS_TREES_DISJOINT || (kind == TORUS_TREES_ANY && worth_it))
		task->disjoint = torus_topology_disjoint_trees(topology, task->root);
	if (task->damaged && task->disjoint)
		costs.rate *= (double)task->disjoint->share;
	if (kind != TORUS_TREES_ANY)
		return torus_choose_segment(shape, (enum torus_trees)kind, task, &costs);
	return torus_choose_trees(shape, task, &costs);
}

typedef int list_maker(const struct torus_shape *shape, int place, int direction, struct torus_ring_step *list);

static struct torus_ring_step *list_made(list_maker *make, const struct torus_shape *shape, int place, int direction,
					 int *count)
{
	struct torus_ring_step *list;

	*count = make(shape, place, direction, NULL);
	list = topology_allocate((size_t)*count + 1, sizeof *list);
	make(shape, place, direction, list);
	return list;
}

/* The steps that leave here in that direction, and those that arrive from there. */
static void list_both(struct torus_topology *topology, list_maker *make, int direction, struct torus_ring_step **out,
		      struct torus_ring_step **in)
{
	const struct torus_shape *shape = &topology->sites.shape;
	int next = shape->axis[direction / 2].size > 1 ? torus_neighbour(shape, topology->me, direction) : -1;

	if (next < 0)
		return;
	*out = list_made(make, shape, topology->me, direction, &topology->n_steps_out[direction]);
	*in = list_made(make, shape, next, direction ^ 1, &topology->n_steps_in[direction]);
}

bool torus_topology_schedule(struct torus_topology *topology, int most)
{
	const struct torus_shape *shape = &topology->sites.shape;

	if (!topology->whole || shape->places > most)
		return false;
	if (topology->most_steps > 0)
		return topology->most_steps <= most;
	topology->most_steps = torus_ring_schedule_most(shape);
	for (int direction = 0; direction < 2 * shape->axes && topology->most_steps <= most; direction++)
		list_both(topology, torus_ring_schedule, direction, &topology->steps_out[direction],
			  &topology->steps_in[direction]);
	return topology->most_steps <= most;
}

bool torus_topology_reverse_schedule(struct torus_topology *topology, int most)
{

	if (!torus_topology_schedule(topology, most))
		return false;
	for (int direction = 0; direction < 2 * topology->sites.shape.axes; direction++)
		if (!topology->reverse_in[direction])
			list_both(topology, torus_ring_reverse_schedule, direction, &topology->reverse_in[direction],
				  &topology->reverse_out[direction]);
	return true;
}

int torus_topology_middle(const struct torus_topology *topology)
{
	const struct torus_shape *shape = &topology->sites.shape;
	int middle = torus_middle(shape), best = topology->sites.place[0];

	for (int n = 0; n < topology->sites.nodes; n++)
		if (torus_hops(shape, topology->sites.place[n], middle) < torus_hops(shape, best, middle))
			best = topology->sites.place[n];
	return best;
}

void torus_topology_forget_trees(struct torus_topology *topology)
{
	for (int p = 0; topology->disjoint && p < topology->sites.shape.places; p++)
		if (topology->disjoint[p]) {
			torus_disjoint_trees_free(topology->disjoint[p]);
			free(topology->disjoint[p]);
		}
	free(topology->disjoint);
	topology->disjoint = NULL;
}

void torus_topology_free(struct torus_topology *topology)
{
	if (!topology)
		return;
	torus_topology_forget_trees(topology);
	torus_topology_forget_lines(topology);
	for (int direction = 0; direction < TORUS_DIRECTIONS; direction++) {
		free(topology->steps_out[direction]);
		free(topology->steps_in[direction]);
		free(topology->reverse_in[direction]);
		free(topology->reverse_out[direction]);
	}
	torus_sites_free(&topology->sites);
	free(topology->seen);
	free(topology->at_start);
	free(topology->pe);
	free(topology);
}
