/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_PORTS_H
#define RTE_PORTS_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The network ports of this host that may have a cable to another host: no loopback, bridge, part
 * of a bridge, or tunnel.
 */
struct port {
	char name[IF_NAMESIZE];
	unsigned index;
	char hardware[18]; /* "02:60:00:00:00:64" */
	bool carrier;	   /* up, and the other end answers */
	bool infiniband;   /* no Ethernet */
	/*
	 * Has an address in a network of more than two hosts, so it leads to a switch rather than a
	 * cable.
	 */
	bool network;
	bool address;	/* has an IPv4 address */
	bool can_probe; /* has a usable link-local IPv6 address */
	bool waits;	/* has one that is not usable yet */
	int speed;	/* Mbit/s, 0: not known */
};

/* Returns the number of ports, up to `most`. */
int ports_list(struct port *port, int most);

/*
 * Does this host look like one that is cabled to others: at least two ports that have a carrier and
 * are in no network, or one such port of Ethernet beside a network? Takes microseconds.
 */
bool ports_cabled(void);

/*
 * An FNV-1a hash that changes when this host or its container restarts, gains or loses a port, the
 * carrier of a port changes, or forwarding is switched. Start from PORTS_NO_STATE.
 */
uint64_t ports_state(void);
uint64_t ports_hash(uint64_t so_far, const char *text);
#define PORTS_NO_STATE 14695981039346656037u

#endif
