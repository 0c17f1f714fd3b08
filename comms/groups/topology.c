/* SPDX-License-Identifier: BSD-3-Clause */
#include "topology.h"

#include <stdlib.h>

#include "groups.h"
#include "comms/topology/job_torus.h"
#include "rte/rte.h"

#define SEARCHED_FOR (256UL << 10) /* bytes; for less, trees by arithmetic are enough */
#define SEARCHED_ON 512		   /* places */

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
	if (!torus_sites_some(&ground->sites, &box, &job->sites.shape, places, nodes) ||
	    !torus_sites_inherit(&ground->sites, &box, &job->sites))
		rte_die(NULL, "no memory for the torus of a team of %d nodes", nodes);
	free(places);
	ground->pe = allocate((size_t)ground->sites.shape.places, sizeof *ground->pe);
	for (int p = 0; p < ground->sites.shape.places; p++)
		ground->pe[p] = ground->sites.node[p] < 0 ? -1 : comms_group_pe(leaders, ground->sites.node[p]);
	ground->me = ground->sites.place[my_node];
	ground->whole = !torus_sites_flawed(&ground->sites);
	ground->costs = torus_costs_usual;
}

/* Is there a way from each node to each other? A cable that is dead is so in both directions, so one root stands for all. */
static bool is_connected(const struct torus_ground *ground)
{
	const struct torus_packing *packing = torus_ground_packing(ground, ground->sites.place[0]);

	return packing && packing->trees > 0;
}

struct torus_ground *torus_ground_make(struct comms_group *group)
{
	const struct comms_group *leaders = leaders_of(group);
	struct torus_ground *ground;

	if (leaders->size < 2 || group->on_node)
		return NULL;
	ground = allocate(1, sizeof *ground);
	fill(ground, comms_torus(), leaders, group->levels ? group->levels->my_node : group->me);
	if (ground->whole || is_connected(ground))
		return ground;
	torus_ground_free(ground);
	return NULL;
}

const struct torus_packing *torus_ground_packing(const struct torus_ground *ground, int root)
{
	const struct torus_shape *shape = &ground->sites.shape;
	struct torus_ground *changing = (struct torus_ground *)(uintptr_t)ground;

	if (shape->places > TORUS_PACKED_PLACES)
		return NULL;
	if (!ground->packing)
		changing->packing = allocate((size_t)shape->places, sizeof(struct torus_packing *));
	if (!ground->packing[root]) {
		ground->packing[root] = allocate(1, sizeof(struct torus_packing));
		if (!torus_packing_best(ground->packing[root], &ground->sites, root))
			rte_die(NULL, "no memory for the trees of a team of %d nodes", ground->sites.nodes);
	}
	return ground->packing[root];
}

/* Rings beside meshes, or pairs with one cable: there may be more trees than arithmetic finds. */
static bool is_mixed(const struct torus_shape *shape)
{
	int rings = 0, others = 0;

	for (int a = 0; a < shape->axes; a++) {
		rings += shape->axis[a].size > 1 && shape->axis[a].ring;
		others += shape->axis[a].size > 1 && !shape->axis[a].ring;
	}
	return rings > 0 && others > 0;
}

struct torus_forest torus_ground_trees(const struct torus_ground *ground, int kind, struct torus_task *task)
{
	const struct torus_shape *shape = &ground->sites.shape;
	struct torus_costs costs = ground->costs;
	bool worth_it = !task->up_first && task->bytes >= SEARCHED_FOR && shape->places <= SEARCHED_ON && is_mixed(shape);

	task->damaged = !ground->whole;
	if (task->damaged || kind == TORUS_TREES_PACKED || (kind == TORUS_TREES_ANY && worth_it))
		task->packing = torus_ground_packing(ground, task->root);
	if (task->damaged && task->packing)
		costs.rate *= (double)task->packing->share;
	if (kind != TORUS_TREES_ANY)
		return torus_choose_segment(shape, (enum torus_trees)kind, task, &costs);
	return torus_choose_trees(shape, task, &costs);
}

typedef int list_maker(const struct torus_shape *shape, int place, int way, struct torus_pass *list);

static struct torus_pass *list_made(list_maker *make, const struct torus_shape *shape, int place, int way, int *count)
{
	struct torus_pass *list;

	*count = make(shape, place, way, NULL);
	list = allocate((size_t)*count + 1, sizeof *list);
	make(shape, place, way, list);
	return list;
}

/* What goes out from here that way, and what comes in from there. */
static void list_both(const struct torus_ground *ground, list_maker *make, int way, struct torus_pass **out, struct torus_pass **in)
{
	const struct torus_shape *shape = &ground->sites.shape;
	struct torus_ground *changing = (struct torus_ground *)(uintptr_t)ground;
	int next = shape->axis[way / 2].size > 1 ? torus_neighbour(shape, ground->me, way) : -1;

	if (next < 0)
		return;
	*out = list_made(make, shape, ground->me, way, &changing->n_passes_out[way]);
	*in = list_made(make, shape, next, way ^ 1, &changing->n_passes_in[way]);
}

bool torus_ground_passes(const struct torus_ground *ground, int most)
{
	const struct torus_shape *shape = &ground->sites.shape;
	struct torus_ground *changing = (struct torus_ground *)(uintptr_t)ground;

	if (!ground->whole || shape->places > most)
		return false;
	if (ground->most_passes > 0)
		return ground->most_passes <= most;
	changing->most_passes = torus_pass_most(shape);
	for (int way = 0; way < 2 * shape->axes && ground->most_passes <= most; way++)
		list_both(ground, torus_pass_list, way, &changing->passes_out[way], &changing->passes_in[way]);
	return ground->most_passes <= most;
}

bool torus_ground_returns(const struct torus_ground *ground, int most)
{
	struct torus_ground *changing = (struct torus_ground *)(uintptr_t)ground;

	if (!torus_ground_passes(ground, most))
		return false;
	for (int way = 0; way < 2 * ground->sites.shape.axes; way++)
		if (!ground->returns_in[way])
			list_both(ground, torus_return_list, way, &changing->returns_in[way], &changing->returns_out[way]);
	return true;
}

int torus_ground_middle(const struct torus_ground *ground)
{
	const struct torus_shape *shape = &ground->sites.shape;
	int middle = torus_middle(shape), best = ground->sites.place[0];

	for (int n = 0; n < ground->sites.nodes; n++)
		if (torus_hops(shape, ground->sites.place[n], middle) < torus_hops(shape, best, middle))
			best = ground->sites.place[n];
	return best;
}

void torus_ground_free(struct torus_ground *ground)
{
	if (!ground)
		return;
	for (int p = 0; ground->packing && p < ground->sites.shape.places; p++)
		if (ground->packing[p]) {
			torus_packing_free(ground->packing[p]);
			free(ground->packing[p]);
		}
	free(ground->packing);
	for (int way = 0; way < TORUS_WAYS; way++) {
		free(ground->passes_out[way]);
		free(ground->passes_in[way]);
		free(ground->returns_in[way]);
		free(ground->returns_out[way]);
	}
	torus_sites_free(&ground->sites);
	free(ground->pe);
	free(ground);
}
