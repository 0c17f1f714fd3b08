/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FJMPI_PLAN_MEMBERS_H
#define FJMPI_PLAN_MEMBERS_H

#include <stdbool.h>
#include "fjmpi_plans.h"
#include "softofu/net/net_shape.h"

struct plan_ids;

enum { PLAN_ROUNDS = 32 }; /* most rounds of a barrier */

/*
 * Ranks of a communicator on the torus. Their order is that of a path through the box of nodes
 * around them, which goes from neighbour to neighbour where all nodes of the box have a rank; then
 * trees and barriers follow the axes of the box. Elsewhere they follow the order.
 *
 * node      number of a node with ranks, in the order
 * leader    rank that communicates for its node in trees and barriers: the root, or the first in
 *           the order
 */
struct plan_members {
	int ranks, nodes, root;
	int *order, *position; /* rank at a position; position of a rank */
	int *node;	       /* of a rank */
	int *leader;	       /* of a node */
	bool whole;	       /* every node of the box has a rank */
	struct net_shape box;
	int *place, *node_at; /* of a node in the box; node at a place, if whole */
};

/* Returns -1 if there is no memory, or the ids tell no place. */
int plan_members_find(struct plan_members *members, const struct plan_ids *ids, const struct fjmpi_plan_call *call);
void plan_members_free(struct plan_members *members);

/* Trees on the box that have no link in common; 1 elsewhere. */
int plan_members_trees(const struct plan_members *members);
/* -1 for the root. */
int plan_members_parent(const struct plan_members *members, int tree, int rank);
/*
 * All children of a rank in the first trees, in the order of ranks; list has room for all ranks.
 * Returns how many.
 */
int plan_members_children(const struct plan_members *members, int trees, int rank, int *list);
/*
 * Nodes that a node notifies in a barrier, by round, and those that notify it. Returns the number
 * of rounds.
 */
int plan_members_rounds(const struct plan_members *members, int node, int to[PLAN_ROUNDS], int from[PLAN_ROUNDS]);

#endif
