/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_NET_SETTINGS_H
#define SOFTOFU_NET_NET_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "softofu/net/net_shape.h"

enum { NET_LOST = 16 };

/*
 * through   a packet goes from the sender directly to the receive queue: no routers, faults, clock
 *           or lock
 * packets   hop by hop, with credits, checks and modelled time
 */
enum net_mode { NET_THROUGH, NET_PACKETS };

/*
 * A cable that is cut, in both directions; one of them names it. after: packets that it still
 * carries; 0: cut from the start.
 */
struct net_cut {
	int place, direction;
	uint64_t after;
};

struct net_settings {
	struct net_shape shape;
	enum net_mode mode;
	int tnis, cqs;	   /* of a node, of a TNI */
	int buffers;	   /* packets that a channel of a link holds */
	int queue;	   /* packets that wait in a TNI to be sent, for each class */
	int receive_queue; /* packets that wait in a receive queue */
	int window;	   /* packets that a link keeps until they are acknowledged */
	int lanes;	   /* 2, or 1 to see why it must be 2 */

	/* The clock. Rates are in GB/s, which is bytes in a nanosecond, times in ns. */
	double link_rate, tni_rate;
	double hop_time;  /* of a router and the cable behind it */
	double send_time; /* from the post to the NIC until the first byte is at the router */
	double take_time; /* from the last byte at the TNI until the NIC knows */
	/* Of a process, between reading notices and sending; softofu-replay alone charges it. */
	double software_time;
	int envelope; /* bytes that a packet takes on a link besides its payload */

	/* Faults. */
	/* Share of packets, and of answers to them, that a link damages or loses. */
	double packet_errors;
	double bit_errors; /* share of bits */
	uint64_t seed;
	int cuts;
	struct net_cut cut[NET_LOST];
};

/* Sets everything to the values of TofuD, and the shape to one node. */
void net_settings_default(struct net_settings *settings);

/*
 * Changes one setting by its name. cut=1,0,0:x+ and cut=1,0,0:x+@5000 need the shape to be set
 * before. Returns false with the reason in problem.
 */
bool net_settings_set(struct net_settings *settings, const char *name, const char *value, char problem[NET_PROBLEM]);

/* "preset=apenet,errors=1e-4,cut=1,0,0:x+;0,0,0:y-": several, in this order. */
bool net_settings_read(struct net_settings *settings, const char *text, char problem[NET_PROBLEM]);

/* Checks that the settings fit together. Returns false with the reason in problem. */
bool net_settings_check(const struct net_settings *settings, char problem[NET_PROBLEM]);

#endif
