/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_WIRES_H
#define SOFTOFU_NET_WIRES_H

#include "softofu/net/net.h"

/*
 * Links between hosts. Each host has a network of its own in memory, with the same settings, but only some of the nodes live
 * there. A link between nodes of two hosts has one end in each; between them is a TCP connection, one for each pair of
 * hosts. One process of each host, and one thread at a time, has the wires and moves what is on them.
 *
 * Frames and what the ends say to each other: docs/protocols/softofu-link.md.
 */
struct net_wires;

enum { NET_TOKEN = 32, NET_HOST = 64 };

/* Secret of the job: only who shows it is let in. */
struct net_party {
	int hosts, me;
	const int *host_of; /* each node's host */
	unsigned char token[NET_TOKEN];
};

struct net_host {
	char address[NET_HOST]; /* as digits */
	int port;
};

/*
 * Before anybody sends: cuts the network up and listens at one of our addresses. NULL: problem. The port was chosen by the
 * system; the others have to be told it.
 */
struct net_wires *net_wires_open(struct net *net, const struct net_party *party, const char *address,
				 char problem[NET_PROBLEM]);
int net_wires_port(const struct net_wires *wires);

/* Meets the hosts that we have links to; hosts has one entry for each. False: problem; not after so many seconds. */
bool net_wires_join(struct net_wires *wires, const struct net_host *hosts, double seconds, char problem[NET_PROBLEM]);

/* Sends and receives what there is, without waiting. Returns how many frames; -1: failed. */
int net_wires_move(struct net_wires *wires);

/* Waits until something comes, or so many milliseconds. */
void net_wires_sleep(struct net_wires *wires, int milliseconds);

/* Says goodbye: to the others it is no fault then that the connection ends, unless they have something for us. */
void net_wires_close(struct net_wires *wires);

#endif
