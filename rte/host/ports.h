/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_PORTS_H
#define RTE_PORTS_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The network ports of this host that may have a cable to another host: no loopback, no bridge and nothing that is part of one, no
 * tunnel.
 */
struct port {
	char name[IF_NAMESIZE];
	unsigned index;
	char hardware[18]; /* "02:60:00:00:00:64" */
	bool carrier;	   /* up, and the other end is there */
	bool network;	   /* has an address of a network of more than two hosts: rather a switch than a cable */
	bool can_probe;	   /* has an IPv6 address of the link that may be used */
	bool waits;	   /* has one that may soon be used */
	int speed;	   /* Mbit/s, 0: not known */
};

/* Returns how many there are, at most most. */
int ports_list(struct port *port, int most);

/* Does this host look like one of a torus: two ports or more that have a carrier and are in no network? Takes microseconds. */
bool ports_cabled(void);

/*
 * A number that changes when this host or its container starts anew, gets or loses a port, or the carrier of one of its ports changes. It is
 * made by FNV-1a, from PORTS_NO_STATE.
 */
uint64_t ports_state(void);
uint64_t ports_hash(uint64_t so_far, const char *text);
#define PORTS_NO_STATE 14695981039346656037u

#endif
