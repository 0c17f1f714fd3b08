/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_SETTINGS_H
#define SOFTOFU_NET_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "comms/torus/shape.h"

enum { NET_PROBLEM = TORUS_PROBLEM, NET_LOST = 16 };

/*
 * through   a packet goes from the sender's hands to the door: no routers, no faults, no clock, no lock
 * packets   hop by hop, with credits, checks and modelled time
 */
enum net_mode { NET_THROUGH, NET_PACKETS };

/* A cable that is cut: both directions, by one of them. after: packets that it still carries; 0: cut from the start. */
struct net_cut {
	int place, way;
	uint64_t after;
};

struct net_settings {
	struct torus_shape shape;
	enum net_mode mode;
	int tnis, cqs; /* of a node, of a TNI */
	int buffers;   /* packets that a channel of a link holds */
	int queue;     /* packets that wait in a TNI to be sent, for each class */
	int door;      /* packets that wait at a door */
	int window;    /* packets that a link keeps until they are acknowledged */
	int lanes;     /* 2, or 1 to see why it must be 2 */

	/* The clock. Rates are in GB/s, which is bytes in a nanosecond, times in ns. */
	double link_rate, tni_rate;
	double hop_time;  /* of a router and the cable behind it */
	double send_time; /* from the NIC being told to the first byte at the router */
	double take_time; /* from the last byte at the TNI to the NIC knowing */
	int envelope;	  /* bytes that a packet takes on a link besides its payload */

	/* Faults. */
	double packet_errors; /* share of packets, and of answers to them, that a link damages or loses */
	double bit_errors;    /* share of bits */
	uint64_t seed;
	int cuts;
	struct net_cut cut[NET_LOST];
};

/* Everything but the shape, which is one node, as TofuD has it. */
void net_settings_default(struct net_settings *settings);

/*
 * Changes one setting by its name. cut=1,0,0:x+ or cut=1,0,0:x+@5000 wants the shape to be set already. False: problem says
 * what is wrong.
 */
bool net_settings_set(struct net_settings *settings, const char *name, const char *value, char problem[NET_PROBLEM]);

/* "preset=apenet,errors=1e-4,cut=1,0,0:x+;0,0,0:y-": several, in this order. */
bool net_settings_read(struct net_settings *settings, const char *text, char problem[NET_PROBLEM]);

/* Whether they make sense together. */
bool net_settings_check(const struct net_settings *settings, char problem[NET_PROBLEM]);

#endif
