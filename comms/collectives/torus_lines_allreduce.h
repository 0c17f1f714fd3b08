/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_LINES_ALLREDUCE_H
#define TORUS_LINES_ALLREDUCE_H

#include "tree_collective.h"

/*
 * All-reduce on a torus axis by axis, for little data: along each axis the data of all nodes of a
 * line goes from neighbour to neighbour, on a ring half-way round in both directions, and each node
 * combines it in the order of coordinates. So all nodes get the same bits, in as few rounds as the
 * torus is wide. On a ring of four they exchange with one neighbour, and then what both have with
 * the other.
 *
 * Data arrives in the windows of torus_alltoall.h, one for each node of the line, with the flags of
 * that node behind it, and its numbers. A node that sends for number n + 2 along a line has
 * received the data of number n + 1 of all nodes of the line, who had read their windows of number
 * n before they sent it, some of it in a neighbour's sum. So no node asks for permission.
 *
 * A node returns when it has the data of all others, which may still combine then. So each reads
 * its own data once, before it sends any: a collective that follows at once may write to the source
 * of a node that is not as far.
 */
struct torus_lines_allreduce {
	const struct torus_topology *topology;
	uint64_t number; /* of the first exchange in this area: of each piece one */
	struct torus_area *area;
	char *dest;
	const char *source; /* this node's data; may be dest */
	size_t bytes;
	torus_combine *combine;
	size_t element; /* bytes; pieces are whole elements */
	const char *routine;
};

/* Call on node leaders only. On return dest has the result. */
void torus_lines_allreduce(const struct torus_lines_allreduce *allreduce);

/* Bytes of a piece at most; 0: there are no windows for this torus. */
size_t torus_lines_allreduce_most(const struct torus_topology *topology);

#endif
