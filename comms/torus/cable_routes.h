/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_CABLE_ROUTES_H
#define TORUS_CABLE_ROUTES_H

#include <stdbool.h>

/*
 * Shortest routes over cables between nodes that relay for each other. The cables need not form a
 * torus: a chain, or a torus with missing cables, works, too.
 *
 * A node relays a message to a neighbour that is one cable closer to the destination. Every node
 * computes the same distances, so a message never returns.
 *
 * rank  the order of a node's cables. Of several neighbours that are closer, a message goes to the
 *       first one. With ranks in the order of directions, routes in a torus are in dimension order,
 *       and half-way round a ring they leave in the + direction
 */
struct torus_cable_between {
	int node[2];
	int rank[2]; /* at each of them */
};

struct torus_cable_end {
	int cable; /* its number in the caller's list */
	int other; /* the node there */
	int rank;
};

struct torus_cables {
	int nodes;
	int *first; /* of each node, its first end; and the number of all ends */
	struct torus_cable_end *end;
};

/* Returns false if there is no memory. */
bool torus_cables_make(struct torus_cables *cables, int nodes, const struct torus_cable_between *between, int count);
void torus_cables_free(struct torus_cables *cables);

/*
 * Stores each node's distance from `to` in cables; -1: no cables lead there. queue: memory for as
 * many numbers. Returns the longest distance.
 */
int torus_cables_distances(const struct torus_cables *cables, int to, int *distance, int *queue);

/*
 * The end at `node` of the n-th cable (from 0) to its next node on the way to the node that these
 * are the distances from; NULL: there is none. Only cables to one node count: n > 0 finds a second
 * cable beside the first.
 */
const struct torus_cable_end *torus_cables_next(const struct torus_cables *cables, const int *distance, int node,
						int n);

#endif
