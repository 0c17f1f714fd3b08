/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_TESTS_WORKER_H
#define SOFTOFU_TESTS_WORKER_H

#include <stdatomic.h>

#include "softofu/net/net.h"
#include "softofu/net/wires.h"

/*
 * One of several workers that send random messages to each other over one network, each from and to
 * nodes of its own. Worker w sends to the receive queues of CQ w, so a packet at the wrong place is
 * noticed.
 */
enum { WORKERS = 4, WORKER_MESSAGES = 1500, WORKER_LARGEST = 5000, WORKER_PATTERN = 1 << 14 };

/* State that the workers share besides the network. */
struct worker_board {
	_Atomic uint64_t sent, arrived; /* packets */
	_Atomic int senders;		/* that have not finished */
	_Atomic int faults;
};

struct worker {
	struct net *net;
	struct net_wires *wires; /* or NULL */
	struct worker_board *board;
	int me;
	const int *owner; /* of each node */

	uint64_t random_state;
	unsigned char pattern[WORKER_PATTERN];
	struct net_message message;
	uint64_t done;
	int left;
};

/* Runs until all workers have sent everything and all of it has arrived. */
void worker_run(struct worker *worker);

#endif
