/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_SESSIONS_H
#define COMMS_SESSIONS_H

#include "comms/core/comms.h"

/*
 * Data that a NIC with session-mode queues sends and forwards without a processor, when a packet
 * has arrived. First, down trees.
 *
 * tree     the part of this PE in a tree: it receives data from its parent and sends it to its
 *          children
 * word     of a PE and a tree: the number of the last run whose data has come down the tree
 * ready    before data moves, all PEs report that they are ready, each after its children, along
 *          the first tree and also by the NICs
 */
#define COMMS_SESSION_TREES 12
#define COMMS_SESSION_CHILDREN 15 /* a packet releases no more commands */
#define COMMS_SESSION_SEGMENTS 64 /* of a tree's data: each is one command per child */

struct comms_session_child {
	int pe;
	uint64_t queue;		/* its queue for the tree */
	_Atomic uint64_t *word; /* by its address here, as all words of other PEs */
	int lets_go;		/* commands that a packet releases there, as that PE reported */
};

struct comms_session_tree {
	bool is_root;
	char *dest;
	const char *source; /* at the root; others send on what is in dest */
	size_t bytes, segment;
	_Atomic uint64_t *word; /* of this PE */
	int children;
	struct comms_session_child child[COMMS_SESSION_CHILDREN];
};

struct comms_readiness {
	int children, parent; /* PE; -1: the root */
	uint64_t queue;	      /* the parent's */
};

/*
 * What a PE publishes for the others: its queue for each tree, and behind them the queue for
 * reports of readiness; lets_go: for each tree, how many prepared commands of its queue a packet
 * from the parent must release.
 */
struct comms_session_shown {
	uint64_t queue[COMMS_SESSION_TREES + 1];
	uint8_t lets_go[COMMS_SESSION_TREES];
};

/*
 * Data between pairs: a PE's data goes when all its targets are ready. Behind each block goes a
 * word that becomes the number of the run.
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
