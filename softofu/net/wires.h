/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_WIRES_H
#define SOFTOFU_NET_WIRES_H

#include "softofu/net/net.h"

/*
 * Links between hosts. Each host has its own network in memory, with the same settings, but owns
 * only some of the nodes. A link between nodes of two hosts has one end on each; one TCP connection
 * for each pair of hosts carries all their links. One process of each host, and one thread at a
 * time, owns the wires and moves data on them.
 *
 * Frames and the protocol between the ends: docs/protocols/softofu-link.md.
 */
struct net_wires;

enum { NET_TOKEN = 32, NET_HOST = 64 };

/* The hosts of the job, and its secret; connections without the secret are closed. */
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
 * Divides the network among the hosts and listens at one of our addresses, before anybody sends.
 * Returns NULL with the reason in problem. The system chooses the port; the caller passes it to the
 * other hosts.
 */
struct net_wires *net_wires_open(struct net *net, const struct net_party *party, const char *address,
				 char problem[NET_PROBLEM]);
int net_wires_port(const struct net_wires *wires);

/*
 * Connects to the hosts that we have links to; hosts has one entry for each. Returns false with the
 * reason in problem, at the latest after so many seconds.
 */
bool net_wires_join(struct net_wires *wires, const struct net_host *hosts, double seconds, char problem[NET_PROBLEM]);

/* Sends and receives without waiting. Returns the number of frames, or -1 if the network failed. */
int net_wires_move(struct net_wires *wires);

/* Waits for data, at most so many milliseconds. */
void net_wires_sleep(struct net_wires *wires, int milliseconds);

/*
 * Announces the end of this host. Other hosts then accept the end of the connection, unless they
 * still have packets for us.
 */
void net_wires_close(struct net_wires *wires);

#endif
