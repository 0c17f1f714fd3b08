/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_ALLTOALL_H
#define TORUS_ALLTOALL_H

#include "tree_collective.h"

/*
 * All-to-all on a torus, dimension by dimension: along each axis a node sends each other node of its line one message, with all
 * that is for the places of that coordinate. So it sends as many messages as its lines have other nodes in all, not as many
 * as there are nodes; each block travels as many messages as there are axes. For what is small.
 *
 * Each message comes into a window of its receiver's, which has one for each axis and each node of the line there, and a word
 * behind it. There are two sets of windows, used alternately by the number of the exchange. A node that sends for the next but one
 * along a line has received the next one's messages from all nodes of that line, and each of them sent that after it had read all
 * windows of the first. So no node asks for permission.
 */
struct torus_exchange {
	const struct torus_topology *topology;
	uint64_t number; /* of the exchanges in this area, from 1 */
	struct torus_area *area;
	const char *from; /* by node, what is for it: bytes each, from_step apart */
	char *to;	  /* by node, what is from it, to_step apart */
	size_t bytes, from_step, to_step;
	const char *routine;
};

/* Call on node leaders only. The bytes are no more than torus_exchange_most. */
void torus_exchange(const struct torus_exchange *exchange);

/* Bytes for each node at a time; 0: there are no windows for this torus. */
size_t torus_exchange_most(const struct torus_topology *topology);

#endif
