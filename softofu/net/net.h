/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NET_H
#define SOFTOFU_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "softofu/net/counts.h"
#include "softofu/net/packet.h"
#include "softofu/net/settings.h"

/*
 * A torus network in memory: the routers of all nodes of a box and the links between them, with or without processes.
 *
 * door     where packets for one command queue (CQ) arrive: a node, a TNI, a CQ, and the class of the packets
 * class    requests and replies have buffers of their own all the way, so that a NIC that cannot take a request before its
 *          reply to the last one has left stops nobody's replies
 * taker    what a NIC does with a packet that has arrived. It must take a reply at once. It may leave a request where it is
 *          until there is room for the reply.
 *
 * All of the state is in one piece of memory and holds no pointers, so that the processes of a host can map it anywhere. Any
 * of them may run the network (net_step); a lock in the state lets one at a time. Only one may take from a door.
 *
 * Where a call fails, net_trouble() has the line that says why. A network that has failed stays so: the job is to end.
 */
struct net;

/* Memory for a network of these settings; 0: problem says what is wrong with them. */
size_t net_bytes(const struct net_settings *settings, char problem[NET_PROBLEM]);

/* In memory of that size, all zero and aligned to NET_ALIGN. False: problem. */
bool net_create(struct net *net, const struct net_settings *settings, char problem[NET_PROBLEM]);
void net_destroy(struct net *net);

const struct net_settings *net_settings(const struct net *net);

/*
 * Hands in as many packets of a message as there is room for. done: how many bytes earlier calls took; net_inject counts it
 * up. Data begins with byte done. Returns 1: all of it is in; 0: call again later with the rest; -1: failed.
 */
int net_inject(struct net *net, const struct net_message *message, const void *data, uint64_t *done);

/*
 * Lets packets move, at most so many times. Returns how often one did; 0: none can, or another process is at it; -1: failed.
 * Without routers (NET_THROUGH) there is nothing to do.
 */
int net_step(struct net *net, int most);

/* False: it cannot take the packet now; the packet stays, and those behind it. Data is valid during the call only. */
typedef bool net_taker(void *context, const struct net_packet *packet, const void *data);

/* Hands over what has arrived at a door, at most so many packets; returns how many, -1: failed. */
int net_take(struct net *net, const struct net_address *at, int class, int most, net_taker *taker, void *context);

/* Whether something waits at a door. Cheap: no lock. */
bool net_waiting(const struct net *net, const struct net_address *at, int class);

/* How many packets are between a net_inject and a door. */
uint64_t net_underway(struct net *net);

/* Why calls fail; NULL: they do not. */
const char *net_trouble(const struct net *net);

/*
 * Looks for packets that wait for each other in a ring, which cannot be with two lanes. Returns how many do; text, if room
 * allows, names their buffers one after the other.
 */
int net_find_cycle(struct net *net, char *text, size_t room);

/* Modelled time in picoseconds: the latest at which a packet arrived. Routes, counters and text of them: */
int64_t net_clock(const struct net *net);
int net_hops(const struct net *net, int from, int to);
void net_count_link(const struct net *net, int place, int way, struct net_link_count *count);
void net_count_tni(const struct net *net, int place, int tni, struct net_tni_count *count);
void net_count_all(const struct net *net, struct net_link_count *count);
void net_report(const struct net *net, FILE *file);

#endif
