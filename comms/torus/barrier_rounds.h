/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_BARRIER_ROUNDS_H
#define TORUS_BARRIER_ROUNDS_H

#include "sites.h"

/*
 * A barrier in rounds that follows the torus: along each axis in turn, each node of a line notifies
 * the node 1, 2, 4 ... further on. So no notification goes further than half a ring. Rounds over
 * the nodes in order, wherever they are, may need one round less in all, but their notifications
 * cross many cables.
 */
enum { TORUS_ROUNDS = 32 };

/* The places that a place notifies, by round; returns the number of rounds. */
int torus_barrier_rounds(const struct torus_shape *shape, int place, int notified[TORUS_ROUNDS]);

/* Is it faster than rounds over the nodes in order, if a round takes as long as this many hops? */
bool torus_barrier_pays(const struct torus_sites *sites, double hops_of_a_round);

#endif
