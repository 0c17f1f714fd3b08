/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routers. The first packet of each input wants one port. A due port serves the input that has been
 * ready longest, among those that want the port and can be served. Paths from inputs to ports are
 * wider than a link, as in a chip: packets that waited together may leave an input together through
 * different ports.
 */
#include "softofu/net/state.h"

/*
 * In a ring, packets start in lane 0 and change to lane 1 when they cross the dateline, the link
 * between the ends of the ring. No packet crosses it twice. So the buffers of a ring have an order
 * in each lane, and packets only move up in it.
 */
static int lane_on(const struct net *net, int node, int direction, int from_input, int lane)
{
	const struct net_axis *axis = &net->settings.shape.axis[direction / 2];
	int at = net_coordinates(net, node)[direction / 2];

	if (net->settings.lanes == 1)
		return 0;
	if (at == (direction % 2 ? 0 : axis->size - 1))
		return 1;
	if (from_input < net->directions * NET_CHANNELS && from_input / NET_CHANNELS / 2 == direction / 2)
		return lane;
	return 0;
}

static void set_wants(struct net_port *port, uint64_t wants)
{
	atomic_store_explicit(&port->wants, wants, memory_order_relaxed);
}

void net_show_first(struct net *net, int node, int number)
{
	struct net_input *input = net_input(net, node, number);
	const struct net_packet *packet;
	int direction, port;

	if (input->filled == input->freed) {
		input->port = -1;
		return;
	}
	packet = &net_slot(net, net_slot_number(net, node, number, input->freed))->packet;
	direction = net_next_direction(net, node, (int)packet->to, packet->down);
	input->head = packet->head;
	input->port = direction >= 0 ? direction : net->directions + packet->to_tni;
	if (direction >= 0)
		input->channel = packet->channel / NET_LANES * NET_LANES +
				 lane_on(net, node, direction, number, packet->channel % NET_LANES);
	port = net_port_number(net, node, input->port);
	set_wants(net_port(net, port), net_wants(net_port(net, port)) | 1ull << number);
	net_schedule(net, port, input->head);
}

void net_leave(struct net *net, int node, int number, int64_t end)
{
	struct net_input *input = net_input(net, node, number);
	struct net_port *port = net_port(net, net_port_number(net, node, input->port));

	set_wants(port, net_wants(port) & ~(1ull << number));
	*net_freed_at(net, net_slot_number(net, node, number, input->freed)) = end;
	input->freed++;
	if (number < net->directions * NET_CHANNELS) {
		int direction = number / NET_CHANNELS, back = net_link(net, net_link_number(net, node, direction))->to;
		struct net_link *link = net_link(net, net_link_number(net, back, direction ^ 1));

		if (link->span == NET_HERE) {
			link->limit[number % NET_CHANNELS] = input->freed + (uint32_t)net->settings.buffers;
			net_schedule(net, net_port_number(net, back, direction ^ 1), end + net->hop_time);
		}
	}
	net_show_first(net, node, number);
}

/* The time since which there is room for the first packet of an input behind the port. */
static int64_t room_behind(const struct net *net, int node, int port, int number)
{
	const struct net_input *input = net_input(net, node, number);

	if (port < net->directions)
		return net_link_room(net, net_link(net, net_link_number(net, node, port)), input->channel);
	return net_receive_has_room(net, &net_slot(net, net_slot_number(net, node, number, input->freed))->packet)
		       ? 0
		       : NET_NEVER;
}

int net_choose(struct net *net, int node, int port, int64_t *due)
{
	const struct net_port *entry = net_port(net, net_port_number(net, node, port));
	uint64_t high = ~0ull << entry->served << 1, wants[2] = {net_wants(entry) & high, net_wants(entry) & ~high};
	int best = -1;

	*due = NET_NEVER;
	/* Inputs after the one served last win a tie. */
	for (int part = 0; part < 2; part++)
		for (uint64_t left = wants[part]; left; left &= left - 1) {
			int number = __builtin_ctzll(left);
			int64_t room = room_behind(net, node, port, number), ready;

			if (room == NET_NEVER)
				continue;
			ready = net_later(net_later(room, entry->free_at), net_input(net, node, number)->head);
			if (ready < *due) {
				*due = ready;
				best = number;
			}
		}
	return best;
}

static void serve_port(struct net *net, int number, int64_t now)
{
	int node = number / net->ports, port = number % net->ports;

	if (port < net->directions)
		net_serve_link(net, node, port, now);
	else
		net_serve_tni(net, node, port - net->directions, now);
}

enum { LOCK_AFTER = 64 };

int net_step(struct net *net, int most)
{
	static _Thread_local unsigned idle;
	int steps = 0, port = 0;
	int64_t due;

	/*
	 * An idle network leaves the lock alone, except every LOCK_AFTER calls to notice a holder
	 * that died.
	 */
	if (atomic_load_explicit(&net->agenda_length, memory_order_relaxed) == 0 && ++idle % LOCK_AFTER)
		return net_is_broken(net) ? -1 : 0;
	if (!net_try_lock(net))
		return net_trouble(net) ? -1 : 0;
	while (steps < most && !net_is_broken(net) && (port = net_earliest(net, &due)) >= 0) {
		net->now = net_later(net->now, due);
		serve_port(net, port, due);
		steps++;
	}
	net_unlock(net);
	return net_is_broken(net) ? -1 : steps;
}
