/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Doors: queues from many to one, without a lock. Who enters claims the next room by counting up `entered`, fills it, and
 * then says so by the room's turn (release); the taker sees the turn (acquire) before it looks into the room. It frees the
 * room by the turn of the next round.
 */
#include <string.h>

#include "softofu/net/state.h"

static size_t door_number(const struct net *net, int node, int tni, int cq, int class)
{
	size_t tnis = (size_t)net->settings.tnis, cqs = (size_t)net->settings.cqs;

	return (((size_t)node * tnis + (size_t)tni) * cqs + (size_t)cq) * NET_CLASSES + (size_t) class;
}

static struct net_door *door_of(const struct net *net, size_t number)
{
	return (struct net_door *)net_part(net, net->doors) + number;
}

static struct net_room *room_of(const struct net *net, size_t door, uint64_t n)
{
	size_t depth = (size_t)net->settings.door;

	return (struct net_room *)net_part(net, net->rooms) + door * depth + n % depth;
}

static uint64_t turn_of(const struct net *net, uint64_t n)
{
	return 2 * (n / (uint64_t)net->settings.door);
}

static size_t door_of_packet(const struct net *net, const struct net_packet *packet)
{
	return door_number(net, (int)packet->to, packet->to_tni, packet->to_cq, packet->channel / NET_LANES);
}

/* Who then enters acquires. */
bool net_door_room(const struct net *net, const struct net_packet *packet)
{
	size_t door = door_of_packet(net, packet);
	uint64_t n = atomic_load_explicit(&door_of(net, door)->entered, memory_order_relaxed);

	return atomic_load_explicit(&room_of(net, door, n)->turn, memory_order_relaxed) == turn_of(net, n);
}

bool net_enter(struct net *net, const struct net_packet *packet, const void *data)
{
	size_t number = door_of_packet(net, packet);
	struct net_door *door = door_of(net, number);
	uint64_t n = atomic_load_explicit(&door->entered, memory_order_relaxed);
	struct net_room *room;

	for (;;) {
		uint64_t turn;

		room = room_of(net, number, n);
		turn = atomic_load_explicit(&room->turn, memory_order_acquire);
		if (turn < turn_of(net, n))
			return false;
		if (turn > turn_of(net, n))
			n = atomic_load_explicit(&door->entered, memory_order_relaxed);
		else if (atomic_compare_exchange_weak_explicit(&door->entered, &n, n + 1, memory_order_relaxed,
							       memory_order_relaxed))
			break;
	}
	room->slot.packet = *packet;
	memcpy(room->slot.rest, data, packet->length);
	atomic_store_explicit(&room->turn, turn_of(net, n) + 1, memory_order_release);
	return true;
}

bool net_waiting(const struct net *net, const struct net_address *at, int class)
{
	size_t number = door_number(net, at->node, at->tni, at->cq, class);
	uint64_t n = atomic_load_explicit(&door_of(net, number)->left, memory_order_relaxed);

	return atomic_load_explicit(&room_of(net, number, n)->turn, memory_order_acquire) == turn_of(net, n) + 1;
}

/* The TNI may have found the door full, and packets want to go out to it. False: failed. */
static bool wake_tni(struct net *net, const struct net_address *at)
{
	int port = net_port_number(net, at->node, net->ways + at->tni);

	atomic_thread_fence(memory_order_seq_cst);
	if (!net_wants(net_port(net, port)))
		return true;
	if (!net_lock(net))
		return false;
	net_hasten(net, port, net->now);
	net_unlock(net);
	return true;
}

int net_take(struct net *net, const struct net_address *at, int class, int most, net_taker *taker, void *context)
{
	size_t number = door_number(net, at->node, at->tni, at->cq, class);
	struct net_door *door = door_of(net, number);
	int taken = 0;

	while (taken < most && net_waiting(net, at, class)) {
		uint64_t n = atomic_load_explicit(&door->left, memory_order_relaxed);
		struct net_room *room = room_of(net, number, n);

		if (!taker(context, &room->slot.packet, room->slot.rest))
			break;
		atomic_store_explicit(&door->left, n + 1, memory_order_relaxed);
		atomic_store_explicit(&room->turn, turn_of(net, n) + 2, memory_order_release);
		taken++;
	}
	if (taken > 0 && net->settings.mode == NET_PACKETS && !wake_tni(net, at))
		return -1;
	return net_is_broken(net) ? -1 : taken;
}
