/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef BENCH_SIMULATE_LATTICE_H
#define BENCH_SIMULATE_LATTICE_H

#include "comms/torus/program_grid.h"
#include "simulate.h"

enum lattice_order {
	LATTICE_PLACED, /* by the library's placement (comms/torus/place.h) */
	LATTICE_ROWS,	/* PE after PE, node after node along the rows of the torus */
	LATTICE_RANDOM	/* node after node, and the nodes anywhere */
};

/*
 * An iteration of a lattice code: each PE has a box of the lattice, sends its faces to its neighbours along each dimension of the grid of PEs,
 * computes, and adds with all others, as often as there are sums.
 */
struct lattice {
	struct torus_shape shape;
	struct torus_grid grid;	 /* of PEs */
	struct torus_grid local; /* sites of a PE */
	enum lattice_order order;
	unsigned long seed; /* of the random order */
	double face;	    /* bytes of a site of a face */
	double site;	    /* bytes that the computation of a site reads and writes in memory */
	double memory;	    /* bytes a second of a node's memory, which its PEs share */
	double computes;    /* seconds in an iteration; below 0: site and memory tell */
	double sum;	    /* bytes of a sum */
	long sums;
};

struct lattice_times {
	double exchange, computation, sums; /* seconds; of the node that ends last */
	double hops;			    /* of a message between nodes, on average */
	int longest;
	int most; /* messages over the busiest link */
};

/* Ends the program if the grid does not fit the shape, or the local lattice the grid. */
struct lattice_times lattice_iteration(const struct lattice *lattice, const struct network *network);

/* The messages of the exchange between nodes, as a schedule in which none waits. */
void lattice_faces(const struct lattice *lattice, struct schedule *schedule);

#endif
