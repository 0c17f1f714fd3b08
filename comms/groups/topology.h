/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_TOPOLOGY_H
#define TORUS_TOPOLOGY_H

#include "comms/core/comms.h"
#include "comms/torus/lines.h"
#include "comms/torus/model.h"
#include "comms/torus/ring_schedule.h"
#include "comms/torus/sites.h"

/*
 * The topology of a group's nodes that fill a box of the job's torus, or every so many-th plane of one (torus_sites_of_team): a torus, or a
 * mesh, of their own. Nodes are those of the group, in its order. There may be holes, and cables that are dead or slow, if trees lead
 * around them: then the topology is not whole, and only trees can use it.
 */
struct torus_topology {
	struct torus_sites sites;
	int me;	 /* my node's place */
	int *pe; /* the leader of the node at a place, -1: a hole */
	bool whole;
	struct torus_costs costs;		/* measured, if they could be */
	struct torus_disjoint_trees **disjoint; /* by root, for roots that a search was made for */
	/* By link, as sites.share: what the node at its beginning sees of the cable now, and what was known at the start; NULL: no change yet. */
	float *seen, *at_start;
	int changes;		   /* how often that has changed */
	struct torus_lines *lines; /* see torus_topology_has_links */
	bool lines_tried;
	/* By direction, after torus_topology_schedule: steps that send in that direction, and steps that receive from there. */
	int most_steps, n_steps_out[TORUS_DIRECTIONS], n_steps_in[TORUS_DIRECTIONS];
	struct torus_ring_step *steps_out[TORUS_DIRECTIONS], *steps_in[TORUS_DIRECTIONS];
	/* The same steps backwards, in another order, after torus_topology_reverse_schedule. */
	struct torus_ring_step *reverse_in[TORUS_DIRECTIONS], *reverse_out[TORUS_DIRECTIONS];
};

/* NULL: there is only one node, or there are holes, or dead cables, and no links of the nodes' own lead around them to all. */
struct torus_topology *torus_topology_make(struct comms_group *group);
void torus_topology_free(struct torus_topology *topology);

/* Disjoint trees from a place, found by one search for each root. NULL: the torus is too large for a search. All members find the same trees. */
const struct torus_disjoint_trees *torus_topology_disjoint_trees(struct torus_topology *topology, int root);

/*
 * The best trees for a task, of one kind or (TORUS_TREES_ANY) of all. On a whole topology it searches for more trees than arithmetic gives
 * only for large messages, or if that kind was asked for. Fills in the task's disjoint trees.
 */
#define TORUS_TREES_ANY (-1)
struct torus_tree_choice torus_topology_trees(struct torus_topology *topology, int kind, struct torus_task *task);

/* Makes the steps of the ring schedule. False: the topology is not whole, or a list is longer than that. */
bool torus_topology_schedule(struct torus_topology *topology, int most);
/* The same, with the steps backwards. */
bool torus_topology_reverse_schedule(struct torus_topology *topology, int most);

/*
 * Can schedules from neighbour to neighbour do without the links that are dead or slow? lines is then how, NULL: there is none, until
 * torus_topology_see.
 */
bool torus_topology_has_links(struct torus_topology *topology);

/*
 * The node at a place sees a cable of its own carry this share of the usual rate: 0, it is dead, to 1. All members call this alike. Trees that
 * were found before are gone. The second returns what that node saw last, the third the less of what both ends saw.
 */
void torus_topology_see(struct torus_topology *topology, int place, int direction, float share);
float torus_topology_seen(const struct torus_topology *topology, int place, int direction);
float torus_topology_share(const struct torus_topology *topology, int place, int direction);
void torus_topology_forget_trees(struct torus_topology *topology);
void torus_topology_forget_lines(struct torus_topology *topology);

/* What messages cost that follow routes, over any cable: the slowest one is in the way of some. */
struct torus_costs torus_topology_route_costs(const struct torus_topology *topology);

/* The place from which the others are nearest, or one near it that has a node. */
int torus_topology_middle(const struct torus_topology *topology);

#endif
