/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_H
#define SOFTOFU_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "softofu/net/counts.h"
#include "softofu/net/packet.h"
#include "softofu/net/net_settings.h"

/*
 * A torus network in memory: the routers of all nodes of a grid and the links between them. Nodes
 * need no process.
 *
 * receive queue  packets that have arrived for one command queue (CQ) and class: a node, a TNI, a
 *                CQ and a class
 * class          requests and replies have separate buffers on the whole route, so that a NIC that
 *                must send a reply before it can accept the next request does not block replies
 * receiver       callback of a NIC that handles an arrived packet. It must accept a reply at once.
 *                It may leave a request in the queue until there is room for the reply.
 *
 * All state is in one piece of memory without pointers, so that each process of a host can map it
 * anywhere. Any process may run the network (net_step); a lock in the state lets one at a time.
 * Only one process at a time may take from a receive queue.
 *
 * When a call fails, net_trouble() has the line that says why. A failed network stays failed, and
 * the job must end.
 */
struct net;

/*
 * Bytes of memory for a network of these settings; 0, with the reason in problem, if they are
 * wrong.
 */
size_t net_bytes(const struct net_settings *settings, char problem[NET_PROBLEM]);

/*
 * Creates a network in memory of that size, which must be zero and aligned to NET_ALIGN. Returns
 * false with the reason in problem.
 */
bool net_create(struct net *net, const struct net_settings *settings, char problem[NET_PROBLEM]);
void net_destroy(struct net *net);

const struct net_settings *net_settings(const struct net *net);

/*
 * Injects as many packets of a message as there is room for. done: bytes that earlier calls took,
 * which net_inject increases. Data begins with byte done. Returns 1 if all of it is in, 0 to call
 * again later with the rest, -1 if the network failed.
 */
int net_inject(struct net *net, const struct net_message *message, const void *data, uint64_t *done);

/*
 * Moves packets, at most so many times. Returns how often a packet moved; 0 if none can or another
 * process runs the network; -1 if the network failed. Without routers (NET_THROUGH) there is
 * nothing to do.
 */
int net_step(struct net *net, int most);

/*
 * Returns false to leave the packet, and those behind it, in the queue. Data is valid during the
 * call only.
 */
typedef bool net_receiver(void *context, const struct net_packet *packet, const void *data);

/*
 * Passes at most so many packets of a receive queue to the receiver. Returns how many, or -1 if the
 * network failed.
 */
int net_take(struct net *net, const struct net_address *at, int class, int most, net_receiver *receiver, void *context);

/* Whether a receive queue has a packet. Cheap: takes no lock. */
bool net_waiting(const struct net *net, const struct net_address *at, int class);

/* Packets that have been injected and have not reached a receive queue. */
uint64_t net_underway(struct net *net);

/* The reason why calls fail; NULL if they do not. */
const char *net_trouble(const struct net *net);

/*
 * Searches for packets that wait for each other in a cycle, which two lanes exclude. Returns the
 * length of the cycle; text names its buffers in order as far as there is room.
 */
int net_find_cycle(struct net *net, char *text, size_t room);

/*
 * The latest arrival of a packet in modelled time, picoseconds; then routes, counters, and a text
 * of the counters.
 */
int64_t net_clock(const struct net *net);
int net_hops(const struct net *net, int from, int to);
void net_count_link(const struct net *net, int place, int direction, struct net_link_count *count);
void net_count_tni(const struct net *net, int place, int tni, struct net_tni_count *count);
void net_count_all(const struct net *net, struct net_link_count *count);
void net_report(const struct net *net, FILE *file);

#endif
