/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUS_TNI_H
#define TORUS_TNI_H

#include "shape.h"

/*
 * Assigns messages to TNIs. All nodes do the same: the PEs of a node are a tile of a larger grid,
 * and in a step each sends a message in every direction, to a PE of its own tile or of the next
 * node's.
 *
 * slot     a PE of the tile and a direction: the message that it sends there and the one that it
 *          receives from there. Both use the TNI of the slot, so the traffic to and from one
 *          neighbour shares a queue
 * volume   of the messages in one direction
 */
struct torus_step {
	int dims;
	int tile[TORUS_AXES];
	int pes;
	double volume[TORUS_DIRECTIONS]; /* MB */
	int tnis;
	double tni_rate, link_rate; /* GB/s */
	/* GB/s of messages inside the node that bypass the TNIs; 0: they do not. */
	double memory_rate;
};

enum torus_assign { TORUS_BY_DIRECTION, TORUS_ROUND_ROBIN, TORUS_BEST };

struct torus_assignment {
	int slots;
	/* Of each slot, PE after PE, direction after direction; -1: bypasses the TNIs. */
	int *tni;
	double *out, *in;    /* volume through each TNI */
	double link, memory; /* volume over the busiest link, and inside the node past the TNIs */
	double sum, leaving; /* volume of all messages, and of those that leave the node */
	double microseconds; /* of a step: the time of the busiest TNI, link or memory */
	const char *bound;   /* which of them: "TNIs", "links" or "memory" */
	bool proven;	     /* no assignment takes less */
};

/* Computes what follows from dims and tile. Returns false with the reason in `problem`. */
bool torus_step_complete(struct torus_step *step, char problem[TORUS_PROBLEM]);

/*
 * The PE of the tile that receives the message of a slot; if the message leaves the node, a PE of
 * the neighbour's tile.
 */
int torus_step_target(const struct torus_step *step, int pe, int direction, bool *leaves);

/* Returns false if there is no memory. */
bool torus_assign(struct torus_assignment *assignment, const struct torus_step *step, enum torus_assign how);
void torus_assignment_free(struct torus_assignment *assignment);

/* GB/s of this volume in the time of the step. */
double torus_step_rate(const struct torus_assignment *assignment, double volume);

#endif
