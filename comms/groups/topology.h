/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_GROUND_H
#define TORUS_GROUND_H

#include "comms/core/comms.h"
#include "comms/torus/model.h"
#include "comms/torus/passes.h"
#include "comms/torus/sites.h"

/*
 * The nodes of a group where they fill a box of the job's torus: a torus, or a mesh, of their own. Nodes are those of the
 * group, in its order. There may be holes, and cables that are dead or slow, if trees lead around them: then the
 * ground is not whole, and only trees are for it.
 */
struct torus_ground {
	struct torus_sites sites;
	int me;	 /* my node's place */
	int *pe; /* of the PE that stands for the node at a place, -1: a hole */
	bool whole;
	struct torus_costs costs;
	struct torus_packing **packing; /* by root, those that were searched for; see torus_ground_packing */
	/* By way, on a whole ground when it was asked for (torus_ground_passes): what goes out that way, and what comes in from there. */
	int most_passes, n_passes_out[TORUS_WAYS], n_passes_in[TORUS_WAYS];
	struct torus_pass *passes_out[TORUS_WAYS], *passes_in[TORUS_WAYS];
	/* The returns of these: what goes out comes in again, in another order. */
	struct torus_pass *returns_in[TORUS_WAYS], *returns_out[TORUS_WAYS];
};

/* NULL: they fill no box, or are only one. */
struct torus_ground *torus_ground_make(struct comms_group *group);
void torus_ground_free(struct torus_ground *ground);

/* Trees from a place found by search, once for each root; NULL: the torus is too large for that. All members find the same. */
const struct torus_packing *torus_ground_packing(const struct torus_ground *ground, int root);

/*
 * The best trees for a task on this ground, of one kind or (TORUS_TREES_ANY) of all. A search for more trees than arithmetic gives, on a
 * whole ground, is only for what is large, or asked for. The task's packing is filled in.
 */
#define TORUS_TREES_ANY (-1)
struct torus_forest torus_ground_trees(const struct torus_ground *ground, int kind, struct torus_task *task);

/* The lists of what is passed on to neighbours and comes from them. False: the ground is not whole, or one is longer than that. */
bool torus_ground_passes(const struct torus_ground *ground, int most);
/* The same, with those of the returns. */
bool torus_ground_returns(const struct torus_ground *ground, int most);

/* The place from which the others are nearest, or one near it that has a node. */
int torus_ground_middle(const struct torus_ground *ground);

#endif
