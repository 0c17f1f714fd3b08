/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_TOPOLOGY_H
#define TORUS_TOPOLOGY_H

#include "comms/core/comms.h"
#include "comms/torus/model.h"
#include "comms/torus/ring_schedule.h"
#include "comms/torus/sites.h"

/*
 * The nodes of a group where they fill a box of the job's torus: a torus, or a mesh, of their own. Nodes are those of the
 * group, in its order. There may be holes, and cables that are dead or slow, if trees lead around them: then the
 * topology is not whole, and only trees are for it.
 */
struct torus_topology {
	struct torus_sites sites;
	int me;	 /* my node's place */
	int *pe; /* of the PE that stands for the node at a place, -1: a hole */
	bool whole;
	struct torus_costs costs;
	struct torus_disjoint_trees **disjoint; /* by root, those that were searched for; see torus_topology_disjoint_trees */
	/* By way, on a whole topology when it was asked for (torus_topology_schedule): what goes out that way, and what comes in from there. */
	int most_steps, n_steps_out[TORUS_DIRECTIONS], n_steps_in[TORUS_DIRECTIONS];
	struct torus_ring_step *steps_out[TORUS_DIRECTIONS], *steps_in[TORUS_DIRECTIONS];
	/* The returns of these: what goes out comes in again, in another order. */
	struct torus_ring_step *reverse_in[TORUS_DIRECTIONS], *reverse_out[TORUS_DIRECTIONS];
};

/* NULL: they fill no box, or are only one. */
struct torus_topology *torus_topology_make(struct comms_group *group);
void torus_topology_free(struct torus_topology *topology);

/* Trees from a place found by search, once for each root; NULL: the torus is too large for that. All members find the same. */
const struct torus_disjoint_trees *torus_topology_disjoint_trees(const struct torus_topology *topology, int root);

/*
 * The best trees for a task on this topology, of one kind or (TORUS_TREES_ANY) of all. A search for more trees than arithmetic gives, on a
 * whole topology, is only for what is large, or asked for. The task's disjoint trees are filled in.
 */
#define TORUS_TREES_ANY (-1)
struct torus_tree_choice torus_topology_trees(const struct torus_topology *topology, int kind, struct torus_task *task);

/* The lists of what is passed on to neighbours and comes from them. False: the topology is not whole, or one is longer than that. */
bool torus_topology_schedule(const struct torus_topology *topology, int most);
/* The same, with those of the returns. */
bool torus_topology_reverse_schedule(const struct torus_topology *topology, int most);

/* The place from which the others are nearest, or one near it that has a node. */
int torus_topology_middle(const struct torus_topology *topology);

#endif
