/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_TESTS_FLOWS_H
#define SOFTOFU_TESTS_FLOWS_H

#include "softofu/net/net.h"

/*
 * Messages over a network with the clock in view, in one process. A TNI sends the messages of a
 * command queue (CQ) one after the other, and serves its CQs that have messages in order, a packet
 * each.
 */
struct flows;

/*
 * Called for each message that has come whole, at its modelled time (picoseconds); it may post
 * more.
 */
typedef void flows_arrived(struct flows *flows, const struct net_packet *last, void *context);

struct flows *flows_start(const char *shape, const char *settings, flows_arrived *arrived, void *context);
struct net *flows_net(struct flows *flows);

struct flows_message {
	int from, from_tni, from_cq, to, to_tni;
	uint32_t bytes;
	int64_t time;
	uint64_t tag; /* comes along in the note */
};

void flows_post(struct flows *flows, const struct flows_message *message);
uint64_t flows_tag(const struct net_packet *packet);

/*
 * Until nothing moves any more. Returns the modelled time of the last arrival in nanoseconds; below
 * 0: something is wrong.
 */
double flows_finish(struct flows *flows);
void flows_free(struct flows *flows);

#endif
