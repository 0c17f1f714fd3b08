/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random faults of links. The same seed gives the same faults if the packets come in the same
 * order.
 */
#include <math.h>
#include <string.h>

#include "softofu/net/state.h"

uint64_t net_random(struct net *net)
{
	uint64_t mixed = net->random_state += 0x9e3779b97f4a7c15u;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebu;
	return mixed ^ mixed >> 31;
}

/* Above 0, at most 1. */
static double random_unit(struct net *net)
{
	return (double)((net_random(net) >> 11) + 1) * 0x1p-53;
}

/* Errors of bits come at distances that are distributed exponentially. */
static bool bit_fails(struct net *net, int bytes)
{
	bool fails = false;

	if (net->settings.bit_errors <= 0)
		return false;
	if (net->bits_to_error <= 0)
		net->bits_to_error = -log(random_unit(net)) / net->settings.bit_errors;
	for (net->bits_to_error -= 8.0 * bytes; net->bits_to_error <= 0; fails = true)
		net->bits_to_error += -log(random_unit(net)) / net->settings.bit_errors;
	return fails;
}

static void die(struct net *net, struct net_link *link)
{
	link->dead = true;
	net_link(net, net_link_number(net, link->to, link->enters))->dead = true;
}

enum net_fate net_fate(struct net *net, struct net_link *link, int bytes)
{
	enum net_fate fate = NET_GOOD;

	if (link->dies && !link->dead && link->carries-- == 0)
		die(net, link);
	if (link->dead)
		return NET_VANISHED;
	if (net->settings.packet_errors > 0 && random_unit(net) <= net->settings.packet_errors)
		fate = net_random(net) % 4 ? NET_DAMAGED : NET_VANISHED;
	else if (bit_fails(net, bytes))
		fate = NET_DAMAGED;
	net_add(&link->count.damaged, fate == NET_DAMAGED);
	net_add(&link->count.lost, fate == NET_VANISHED);
	return fate;
}

/* A burst of up to 32 bits, which the check always finds: shorter than the check, and not zero. */
void net_damage(struct net *net, struct net_slot *slot)
{
	size_t places = (size_t)net_wire_bytes(&slot->packet) - sizeof(uint32_t);
	unsigned char *at = (unsigned char *)slot + net_random(net) % places;
	uint32_t burst = (uint32_t)net_random(net) & (net_random(net) & 1 ? ~0u : 1u), word;

	memcpy(&word, at, sizeof word);
	word ^= burst | 1;
	memcpy(at, &word, sizeof word);
}
