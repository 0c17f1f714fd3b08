/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_ALLTOALL_H
#define TORUS_ALLTOALL_H

#include "tree_collective.h"

/*
 * All-to-all on a torus, dimension by dimension, for small data: along each axis a node sends each
 * other node of its line one message, with all data for the places of that coordinate. A node sends
 * one message for each other node on its lines, instead of one for each node of the torus; a block
 * travels as many messages as there are axes.
 *
 * A message arrives in a window of the receiver, which has one for each axis and each node of the
 * line, and a word behind it. Two sets of windows alternate with the number of the exchange. A node
 * that sends for exchange n + 2 along a line has received the messages of exchange n + 1 from all
 * nodes of that line. Each of them had read all windows of exchange n before it sent those. So no
 * node asks for permission.
 */
struct torus_exchange {
	const struct torus_topology *topology;
	uint64_t number; /* of the exchange in this area, from 1 */
	struct torus_area *area;
	const char *from; /* by node, the data for it: `bytes` each, from_step apart */
	char *to;	  /* by node, the data from it, to_step apart */
	size_t bytes, from_step, to_step;
	const char *routine;
};

/* Call on node leaders only, with at most torus_exchange_most bytes. */
void torus_exchange(const struct torus_exchange *exchange);

/* Largest number of bytes for each node at a time; 0: there are no windows for this torus. */
size_t torus_exchange_most(const struct torus_topology *topology);

#endif
