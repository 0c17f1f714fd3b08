/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_ROUTES_H
#define TORUS_ROUTES_H

#include "sites.h"

/*
 * Routes for hosts that forward for each other. A host knows only where a packet goes, so a route is a function of where
 * it is and where it goes: in dimension order, and the shortest path from where that would lead over a hole, or a cable that
 * is dead or slow. A slow cable counts as the more cables.
 *
 * A channel cycle: packets of several routes hold one link each and want the next, round a ring. Networks that stop a sender
 * when a queue is full can stop for good there. Rings of four and more have such cycles when packets take the shorter direction.
 *
 * cautious   no cycles: the cable between the ends of a ring is used only as the first step along it. Some routes are longer.
 */
int torus_forward(const struct torus_shape *shape, bool cautious, int at, int to);

struct torus_routes {
	long pairs, reached; /* from every node to every other */
	int from, to;	     /* the first pair that is not, by number of node */
	long around;	     /* pairs whose route is not in dimension order */
	long hops;	     /* of the pairs that are reached, and the longest */
	int longest;
	signed char *next; /* the next direction, by number of the node it goes to times places plus place; -1: none */
	int cycle;	   /* links in a channel cycle, 0: there is none */
	int *places;	   /* where each of them begins */
	int *directions;   /* and its direction */
};

/* Finds and follows every route. False: no memory. */
bool torus_routes_check(struct torus_routes *routes, const struct torus_sites *sites, bool cautious);
void torus_routes_free(struct torus_routes *routes);

/*
 * The routes to count costs by: NULL, and found true, where dimension order is right, because no cable is dead or slow, or where some nodes
 * cannot be reached over what is left, so that messages use something else than these cables. Found false: no memory.
 */
const struct torus_routes *torus_routes_round(struct torus_routes *routes, const struct torus_sites *sites,
					      bool *found);

#endif
