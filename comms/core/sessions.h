/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_SESSIONS_H
#define COMMS_SESSIONS_H

#include "comms/core/comms.h"

/*
 * Data that goes without a processor: a NIC with session-mode queues begins, and sends on, when something has come, alone. First, down trees.
 *
 * tree     what this PE does in a tree: it takes a part of the data from its parent and sends it to its children
 * word     of a PE and a tree: the number of the last run whose data has come down the tree
 * ready    before anything goes, all have reported that they are ready, each when its children have: along the first tree, also by the
 *          NICs
 */
#define COMMS_SESSION_TREES 12
#define COMMS_SESSION_CHILDREN 15 /* a packet lets no more go */
#define COMMS_SESSION_SEGMENTS 64 /* of a tree's part: each is written down once for each child */

struct comms_session_child {
	int pe;
	uint64_t queue;		/* the one it has for the tree */
	_Atomic uint64_t *word; /* by its address here, as all words of others */
	int lets_go;		/* as it has shown */
};

struct comms_session_tree {
	bool is_root;
	char *dest;
	const char *source; /* at the root; others send on what is in dest */
	size_t bytes, segment;
	_Atomic uint64_t *word; /* mine */
	int children;
	struct comms_session_child child[COMMS_SESSION_CHILDREN];
};

struct comms_readiness {
	int children, parent; /* PE; -1: the root */
	uint64_t queue;	      /* the parent's */
};

/* What others must know of a PE: its queues for the trees, then the one for readiness; and how many commands what comes down a tree lets go there. */
struct comms_session_shown {
	uint64_t queue[COMMS_SESSION_TREES + 1];
	uint8_t lets_go[COMMS_SESSION_TREES];
};

/*
 * Data between pairs: each PE's goes when all to whom it puts are ready, and behind each datum a word that becomes the number of the run.
 */
struct comms_edge_out {
	int pe;
	char *dest;
	const char *source;
	size_t bytes;
	_Atomic uint64_t *word; /* by its address here */
};
struct comms_edge_in {
	uint64_t ready_queue; /* of the PE that puts: receives a packet when this PE is ready */
};
struct comms_edges {
	struct comms_edge_out *out;
	struct comms_edge_in *in;
	int outs, ins;
};

struct comms_session;

#endif
