/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_GROUND_H
#define TORUS_GROUND_H

#include "comms.h"
#include "torus/model.h"
#include "torus/sites.h"

/*
 * The nodes of a group where they fill a box of the job's torus: a torus, or a mesh, of their own. Nodes are those of the
 * group, in its order.
 */
struct torus_ground {
	struct torus_sites sites;
	int me;	 /* my node's place */
	int *pe; /* of the PE that stands for the node at a place */
	struct torus_costs costs;
};

/* NULL: they fill no box, or are only one. */
struct torus_ground *torus_ground_make(struct comms_group *group);
void torus_ground_free(struct torus_ground *ground);

#endif
