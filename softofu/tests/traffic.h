/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_TESTS_TRAFFIC_H
#define SOFTOFU_TESTS_TRAFFIC_H

#include "softofu/net/net.h"

/*
 * Random messages over a network, in one process, with a check of every packet that arrives: none
 * may be lost, doubled, torn, or overtake another of its flow.
 *
 * flow      messages from one TNI to one receive queue
 * receiver  now and then it leaves a receive queue alone for a while, so that packets queue up back
 *           to their source
 */
struct traffic {
	uint64_t packets; /* to be sent, at least */
	uint64_t seed;
	int largest; /* message, bytes */
	bool shy;    /* receivers refuse requests now and then */

	uint64_t messages, sent, arrived; /* sent and arrived: packets */
	uint64_t bytes;
	const char *fault; /* what was wrong with a packet; NULL: nothing */
	/*
	 * Buffers that wait for each other; 0: all arrived, or it stood still for another reason.
	 */
	int cycle;
	char text[4096]; /* which */
	bool stuck;
};

/* Returns whether all arrived and was right. */
bool traffic_run(struct traffic *traffic, struct net *net);

/* A network of these settings in fresh memory; NULL: problem. */
struct net *traffic_network(const struct net_settings *settings, char problem[NET_PROBLEM]);
void traffic_free(struct net *net);

#endif
