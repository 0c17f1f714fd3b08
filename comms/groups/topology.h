/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_TOPOLOGY_H
#define TORUS_TOPOLOGY_H

#include "comms/core/comms.h"
#include "comms/torus/lines.h"
#include "comms/torus/model.h"
#include "comms/torus/ring_schedule.h"
#include "comms/torus/sites.h"

/*
 * The topology of a group's nodes if they fill a box of the job's torus, or every n-th plane of one
 * (torus_sites_of_team): a torus or mesh of their own. Nodes are those of the group, in its order.
 * There may be holes, and dead or slow cables, if trees lead around them. The topology is then not
 * whole, and only trees can use it.
 */
struct torus_topology {
	struct torus_sites sites;
	int me;	 /* this node's place */
	int *pe; /* the leader of the node at a place, -1: a hole */
	bool whole;
	struct torus_costs costs;		/* measured if possible */
	struct torus_disjoint_trees **disjoint; /* by root, for roots that were searched */
	/*
	 * By link, as sites.share: its current state as seen by the node where it begins, and the
	 * state at the start; NULL: unchanged.
	 */
	float *seen, *at_start;
	int changes;		   /* number of changes */
	struct torus_lines *lines; /* see torus_topology_has_links */
	bool lines_tried;
	/*
	 * By direction, after torus_topology_schedule: the steps that send in that direction, and
	 * the steps that receive from there.
	 */
	int most_steps, n_steps_out[TORUS_DIRECTIONS], n_steps_in[TORUS_DIRECTIONS];
	struct torus_ring_step *steps_out[TORUS_DIRECTIONS], *steps_in[TORUS_DIRECTIONS];
	/* The same steps in reverse, in another order, after torus_topology_reverse_schedule. */
	struct torus_ring_step *reverse_in[TORUS_DIRECTIONS], *reverse_out[TORUS_DIRECTIONS];
};

/*
 * NULL: there is only one node, or holes or dead cables leave some node unreachable over the nodes'
 * own links.
 */
struct torus_topology *torus_topology_make(struct comms_group *group);
void torus_topology_free(struct torus_topology *topology);

/*
 * Disjoint trees from a place, searched once for each root. NULL: the torus is too large for a
 * search. All members find the same trees.
 */
const struct torus_disjoint_trees *torus_topology_disjoint_trees(struct torus_topology *topology, int root);

/*
 * The best trees for a task, of one kind or (TORUS_TREES_ANY) of all. On a whole topology it
 * searches for more trees than arithmetic gives only for large messages, or if the caller asks for
 * that kind. Fills in the task's disjoint trees.
 */
#define TORUS_TREES_ANY (-1)
struct torus_tree_choice torus_topology_trees(struct torus_topology *topology, int kind, struct torus_task *task);

/*
 * Computes the steps of the ring schedule. Returns false if the topology is not whole, or a list is
 * longer than the limit.
 */
bool torus_topology_schedule(struct torus_topology *topology, int most);
/* The same, with the steps reversed. */
bool torus_topology_reverse_schedule(struct torus_topology *topology, int most);

/*
 * Can schedules from neighbour to neighbour avoid the dead or slow links? `lines` then says how
 * (NULL: there are none to avoid), and is valid until torus_topology_see.
 */
bool torus_topology_has_links(struct torus_topology *topology);

/*
 * The node at a place sees its own cable carry this share of the usual rate: from 0, dead, to 1.
 * All members call this with the same values. Trees found before are freed. The second function
 * returns what that node saw last, the third the smaller of what both ends saw.
 */
void torus_topology_see(struct torus_topology *topology, int place, int direction, float share);
float torus_topology_seen(const struct torus_topology *topology, int place, int direction);
float torus_topology_share(const struct torus_topology *topology, int place, int direction);
void torus_topology_forget_trees(struct torus_topology *topology);
void torus_topology_forget_lines(struct torus_topology *topology);

/* Costs of messages that follow routes over any cable: the slowest cable is on the way of some. */
struct torus_costs torus_topology_route_costs(const struct torus_topology *topology);

/* The place nearest to all others; if it is a hole, a place near it that has a node. */
int torus_topology_middle(const struct torus_topology *topology);

#endif
