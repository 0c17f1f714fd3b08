/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_SOFTOFU_TRAFFIC_H
#define TESTS_SOFTOFU_TRAFFIC_H

#include "softofu/net/net.h"

/*
 * Random messages over a network, in one process, and a look at every packet that arrives: none may be lost, doubled, torn,
 * or overtake another of its flow.
 *
 * flow     messages from one TNI to one door
 * taker    now and then a door is left alone for a while, so that packets pile up back to where they come from
 */
struct traffic {
	uint64_t packets; /* to be sent, at least */
	uint64_t seed;
	int largest; /* message, bytes */
	bool shy;    /* takers refuse requests now and then */

	uint64_t messages, sent, arrived; /* sent and arrived: packets */
	uint64_t bytes;
	const char *fault; /* what was wrong with a packet; NULL: nothing */
	int cycle;	   /* buffers that wait for each other; 0: all arrived, or it stood still for another reason */
	char text[4096];   /* which */
	bool stuck;
};

/* Returns whether all arrived and was right. */
bool traffic_run(struct traffic *traffic, struct net *net);

/* A network of these settings in fresh memory; NULL: problem. */
struct net *traffic_network(const struct net_settings *settings, char problem[NET_PROBLEM]);
void traffic_free(struct net *net);

#endif
