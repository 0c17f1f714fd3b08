/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TNIs. The sending TNI cuts a message into packets; the receiving TNI puts packets into a receive
 * queue.
 */
#include <string.h>

#include "softofu/net/crc.h"
#include "softofu/net/state.h"

static void make_packet(struct net_packet *packet, const struct net_message *message, uint64_t offset, uint8_t down)
{
	uint64_t left = message->bytes - offset;

	*packet = (struct net_packet){
		.length = (uint16_t)(left < NET_PAYLOAD ? left : NET_PAYLOAD),
		.channel = (uint8_t)(message->class * NET_LANES),
		.last = left <= NET_PAYLOAD,
		.from = (uint32_t)message->from.node,
		.to = (uint32_t)message->to.node,
		.from_tni = (uint8_t)message->from.tni,
		.to_tni = (uint8_t)message->to.tni,
		.from_cq = (uint8_t)message->from.cq,
		.to_cq = (uint8_t)message->to.cq,
		.offset = (uint32_t)offset,
		.bytes = message->bytes,
		.down = down,
		.head = message->time,
		.tail = message->time,
	};
	memcpy(packet->note, message->note, NET_NOTE);
}

static bool is_there(const struct net *net, const struct net_address *address)
{
	return address->node >= 0 && address->node < net->settings.shape.places && address->tni >= 0 &&
	       address->tni < net->settings.tnis && address->cq >= 0 && address->cq < net->settings.cqs;
}

/* --- Without routers --- */

static void count_through(struct net *net, const struct net_message *message, uint8_t down)
{
	uint64_t packets = message->bytes ? (message->bytes + NET_PAYLOAD - 1) / NET_PAYLOAD : 1;
	struct net_tni_count *sender = &net_tni(net, message->from.node, message->from.tni)->count;
	struct net_tni_count *receiver = &net_tni(net, message->to.node, message->to.tni)->count;
	int direction, at = message->from.node;

	net_add_shared(&sender->sent_packets, packets);
	net_add_shared(&sender->sent_bytes, message->bytes);
	net_add_shared(&receiver->taken_packets, packets);
	net_add_shared(&receiver->taken_bytes, message->bytes);
	while ((direction = net_next_direction(net, at, message->to.node, down)) >= 0) {
		struct net_link *link = net_link(net, net_link_number(net, at, direction));

		net_add_shared(&link->count.packets, packets);
		net_add_shared(&link->count.bytes, message->bytes);
		at = link->to;
	}
}

static int send_through(struct net *net, const struct net_message *message, const char *data, uint64_t *done)
{
	struct net_packet packet;
	uint8_t down;

	if (!net_plan(net, message->from.node, message->to.node, &down))
		return -1;
	do {
		make_packet(&packet, message, *done, down);
		if (!net_receive_append(net, &packet, data))
			return 0;
		data += packet.length;
		*done += packet.length;
	} while (!packet.last);
	count_through(net, message, down);
	return 1;
}

/* --- With them --- */

/* The TNI works on one packet at a time, and starts it only when there is room for it. */
static void start_packet(struct net *net, struct net_tni *tni, struct net_packet *packet, int64_t room)
{
	int64_t start = net_later(net_later(packet->head, tni->free_at), room);
	int64_t takes = net_time(net->tni_pace, packet->length);

	tni->free_at = start + takes;
	packet->head = start + net->send_time;
	packet->tail = packet->head + takes;
	net_add(&tni->count.sent_packets, 1);
	net_add(&tni->count.sent_bytes, packet->length);
	net_add(&tni->count.send_busy, takes);
}

static void close_slot(struct net_slot *slot)
{
	struct net_footer footer = {net_crc(slot->rest, slot->packet.length), NET_MARK};

	memcpy(slot->rest + slot->packet.length, &footer, sizeof footer);
}

static int send_packets(struct net *net, const struct net_message *message, const char *data, uint64_t *done)
{
	int node = message->from.node, number = net_input_of_tni(net, message->from.tni, (int)message->class);
	struct net_input *input = net_input(net, node, number);
	uint8_t down;

	if (!net_plan(net, node, message->to.node, &down))
		return -1;
	while (input->filled - input->freed < net_depth(net, number)) {
		size_t place = net_slot_number(net, node, number, input->filled);
		struct net_slot *slot = net_slot(net, place);

		make_packet(&slot->packet, message, *done, down);
		memcpy(slot->rest, data, slot->packet.length);
		close_slot(slot);
		start_packet(net, net_tni(net, node, message->from.tni), &slot->packet, *net_freed_at(net, place));
		data += slot->packet.length;
		*done += slot->packet.length;
		net->underway++;
		if (input->filled++ == input->freed)
			net_show_first(net, node, number);
		if (slot->packet.last)
			return 1;
	}
	return 0;
}

int net_inject(struct net *net, const struct net_message *message, const void *data, uint64_t *done)
{
	int result;

	if (net_is_broken(net))
		return -1;
	if (!is_there(net, &message->from) || !is_there(net, &message->to) || *done > message->bytes)
		return net_fail(net, "a message from node %d TNI %d to node %d TNI %d CQ %d: there is no such place",
				message->from.node, message->from.tni, message->to.node, message->to.tni,
				message->to.cq);
	if (((const uint16_t *)net_part(net, net->hosts))[message->from.node] != net->host)
		return net_fail(net, "a message from node %d, which is on another host", message->from.node);
	if (net->settings.mode == NET_THROUGH)
		return send_through(net, message, data, done);
	if (!net_lock(net))
		return -1;
	result = send_packets(net, message, data, done);
	net_unlock(net);
	return result;
}

void net_serve_tni(struct net *net, int node, int tni, int64_t now)
{
	int number = net_port_number(net, node, net->directions + tni), from;
	struct net_port *port = net_port(net, number);
	struct net_tni_count *count = &net_tni(net, node, tni)->count;
	struct net_packet packet;
	struct net_input *input;
	const struct net_slot *slot;
	int64_t due, takes;

	from = net_choose(net, node, net->directions + tni, &due);
	if (from < 0) {
		/*
		 * The receive queue is full. Either its receiver sees the waiting packet
		 * (net_take), or this check sees the entry that the receiver freed.
		 */
		atomic_thread_fence(memory_order_seq_cst);
		from = net_choose(net, node, net->directions + tni, &due);
	}
	if (from < 0 || due > now) {
		if (due != NET_NEVER)
			net_schedule(net, number, due);
		return;
	}
	input = net_input(net, node, from);
	slot = net_slot(net, net_slot_number(net, node, from, input->freed));
	packet = slot->packet;
	takes = net_time(net->tni_pace, packet.length);
	port->free_at = net_later(now + takes, packet.tail);
	port->served = from;
	packet.head = packet.tail = port->free_at + net->take_time;
	if (packet.tail > net->clock)
		net_add(&net->clock, packet.tail - net->clock);
	net_add(&count->taken_packets, 1);
	net_add(&count->taken_bytes, packet.length);
	net_add(&count->take_busy, takes);
	net_add(&count->waited, now - input->head);
	net->underway--;
	net_receive_append(net, &packet, slot->rest);
	net_leave(net, node, from, port->free_at);
	net_schedule(net, number, port->free_at);
}

uint64_t net_underway(struct net *net)
{
	uint64_t underway;

	if (!net_lock(net))
		return 0;
	underway = net->underway;
	net_unlock(net);
	return underway;
}
