/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_BARRIER_ROUNDS_H
#define TORUS_BARRIER_ROUNDS_H

#include "sites.h"

/*
 * A barrier in rounds that follows the torus: along each axis in turn the nodes of a line synchronise, each notifying the one 1, 2, 4 ...
 * further on. So no word goes further than along half a ring. There may be a round more in all than where nodes are
 * counted through, whatever their places; in return words of those go over many cables.
 */
enum { TORUS_ROUNDS = 32 };

/* The places that a place notifies, by round; returns how many rounds there are. */
int torus_barrier_rounds(const struct torus_shape *shape, int place, int notified[TORUS_ROUNDS]);

/* Does it take less time than rounds over the nodes in order, where a round takes as long as so many hops? */
bool torus_barrier_pays(const struct torus_sites *sites, double hops_of_a_round);

#endif
