/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_ROUTES_H
#define TORUS_ROUTES_H

#include "sites.h"

/*
 * Routes for hosts that forward for each other. A host sees only a packet's destination, so a route
 * is a function of the current place and the destination: dimension order, and the shortest path
 * where that would lead over a hole or a dead or slow cable. A slow cable counts as several cables.
 *
 * A channel cycle: packets of several routes each hold one link and wait for the next, round a
 * ring. Networks that stop a sender when a queue is full can deadlock there. Rings of four and more
 * have such cycles when packets take the shorter direction.
 *
 * cautious   no cycles: the cable between the ends of a ring is used only as the first step along
 *            it. Some routes are longer
 */
int torus_forward(const struct torus_shape *shape, bool cautious, int at, int to);

struct torus_routes {
	long pairs, reached; /* from every node to every other; and those that can be reached */
	int from, to;	     /* the first pair that cannot, by number of node */
	long around;	     /* pairs whose route is not in dimension order */
	long hops;	     /* of the pairs that can be reached; and of the longest route */
	int longest;
	/* The next direction, by destination node times places plus place; -1: none. */
	signed char *next;
	int cycle;	 /* number of links in a channel cycle, 0: none */
	int *places;	 /* where each link of it begins */
	int *directions; /* and its direction */
};

/* Finds and follows every route. Returns false if there is no memory. */
bool torus_routes_check(struct torus_routes *routes, const struct torus_sites *sites, bool cautious);
void torus_routes_free(struct torus_routes *routes);

/*
 * The routes for counting costs. NULL with found true: dimension order is right, because no cable
 * is dead or slow, or because some nodes cannot be reached over the remaining cables, so that
 * messages use other ones. Found false: no memory.
 */
const struct torus_routes *torus_routes_round(struct torus_routes *routes, const struct torus_sites *sites,
					      bool *found);

#endif
