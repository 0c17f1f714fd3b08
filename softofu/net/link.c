/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Links: what the two ends do so that every packet arrives once, whole and in order, and only where
 * there is room. The protocol is in docs/protocols/softofu-link.md. Here the ends call each other;
 * softofu/net/wires.c puts a socket between.
 */
#include <string.h>

#include "softofu/net/crc.h"
#include "softofu/net/state.h"

enum { ANSWER_BYTES = 32, TRIES = 64 };

/* An answer is late after this many round-trip times. */
enum { PATIENCE = 8 };

void net_copy(struct net_slot *to, const struct net_slot *from)
{
	memcpy(to, from, (size_t)net_wire_bytes(&from->packet));
}

static struct net_port *port_of(const struct net *net, const struct net_link *link)
{
	return net_port(net, net_link_number(net, link->from, 0) / net->directions * net->ports + link->direction);
}

/* --- The sending end --- */

int64_t net_link_room(const struct net *net, const struct net_link *link, int channel)
{
	uint32_t n = link->used[channel];
	int64_t freed;

	if (link->next - link->acknowledged == (uint32_t)net->settings.window || link->limit[channel] == n)
		return NET_NEVER;
	if (link->span != NET_HERE)
		return 0;
	freed = *net_freed_at(net, net_slot_number(net, link->to, net_input_of_link(link->enters, channel), n));
	return freed ? freed + net->hop_time : 0; /* 0: it was never used */
}

/*
 * Stamps a packet that starts over the link now. Its last byte cannot leave before the time at
 * which it came.
 */
static int64_t stamp(struct net *net, struct net_link *link, struct net_packet *packet, int64_t now)
{
	int64_t takes = net_time(net->link_pace, packet->length + net->settings.envelope);
	int64_t end = net_later(now + takes, packet->tail);

	net_add(&link->count.busy, takes);
	port_of(net, link)->free_at = end;
	packet->head = now + net->hop_time;
	packet->tail = end + net->hop_time;
	packet->header_check = net_crc(packet, offsetof(struct net_packet, header_check));
	return end;
}

/*
 * Moves the next packet into the window, from the input that net_choose selects. Returns false if
 * no packet is ready before *due.
 */
static bool load_next_packet(struct net *net, struct net_link *link, int64_t now, int64_t *due)
{
	int number = net_choose(net, link->from, link->direction, due);
	struct net_slot *slot = net_window(net, net_link_number(net, link->from, link->direction), link->next);
	struct net_input *input;

	if (number < 0 || *due > now)
		return false;
	input = net_input(net, link->from, number);
	net_copy(slot, net_slot(net, net_slot_number(net, link->from, number, input->freed)));
	slot->packet.sequence = link->next++;
	slot->packet.channel = (uint8_t)input->channel;
	slot->packet.hops++;
	link->used[input->channel]++;
	net_add(&link->count.waited, now - input->head);
	port_of(net, link)->served = number;
	net_leave(net, link->from, number, stamp(net, link, &slot->packet, now));
	return true;
}

/* Over a link whose other end is here. */
static void transmit(struct net *net, struct net_link *link)
{
	struct net_slot *slot = net_window(net, net_link_number(net, link->from, link->direction), link->resend++),
			wire;
	int64_t there = slot->packet.tail;
	enum net_answer answer = NET_NO_ANSWER;

	net_add(&link->count.sent, 1);
	switch (net_fate(net, link, net_wire_bytes(&slot->packet))) {
	case NET_GOOD: answer = net_receive(net, link, slot); break;
	case NET_DAMAGED:
		net_copy(&wire, slot);
		net_damage(net, &wire);
		answer = net_receive(net, link, &wire);
		break;
	case NET_VANISHED: break;
	}
	if (answer != NET_NO_ANSWER && net_fate(net, link, ANSWER_BYTES) == NET_GOOD)
		net_handle_answer(net, link, answer, link->expected, there + net->hop_time);
	else if (link->deadline == NET_NEVER)
		link->deadline = there + PATIENCE * (net->hop_time + net_time(net->link_pace, sizeof wire));
}

void net_serve_link(struct net *net, int node, int direction, int64_t now)
{
	struct net_link *link = net_link(net, net_link_number(net, node, direction));
	struct net_port *port = port_of(net, link);
	int number = net_port_number(net, node, direction);
	int64_t due = net_later(link->resume, port->free_at);

	if (link->span == NET_HERE && now >= link->deadline)
		net_go_back(net, link, now);
	if (link->span == NET_HERE && link->resend != link->next) {
		if (now < due) {
			net_schedule(net, number, due);
			return;
		}
		stamp(net, link, &net_window(net, net_link_number(net, node, direction), link->resend)->packet, now);
	} else if (!load_next_packet(net, link, now, &due)) {
		due = due < link->deadline ? due : link->deadline;
		if (due != NET_NEVER)
			net_schedule(net, number, due);
		return;
	}
	if (link->span == NET_HERE)
		transmit(net, link);
	net_schedule(net, number, port->free_at);
}

void net_go_back(struct net *net, struct net_link *link, int64_t when)
{
	char text[NET_PROBLEM];

	link->resend = link->acknowledged;
	link->resume = when;
	link->deadline = NET_NEVER;
	if (++link->failures > TRIES) {
		link->cut = true;
		net_fail(net, "the link %.180s is lost: nothing gets through, after %d tries",
			 net_link_text(net, link, text), TRIES);
	}
}

void net_handle_answer(struct net *net, struct net_link *link, enum net_answer answer, uint32_t expected, int64_t when)
{
	uint32_t more = expected - link->acknowledged, sent = link->next - link->acknowledged;

	if (more > 0 && more <= sent) {
		if (link->resend - link->acknowledged < more)
			link->resend = expected;
		link->acknowledged = expected;
		link->failures = 0;
		link->deadline = NET_NEVER;
	}
	if (answer == NET_REFUSED)
		net_go_back(net, link, when);
	net_schedule(net, net_port_number(net, link->from, link->direction), port_of(net, link)->free_at);
}

/* --- The receiving end --- */

static bool payload_is_whole(const struct net_slot *slot)
{
	struct net_footer footer;

	memcpy(&footer, slot->rest + slot->packet.length, sizeof footer);
	return footer.mark == NET_MARK && footer.payload_check == net_crc(slot->rest, slot->packet.length);
}

static bool has_good_header(const struct net_packet *packet)
{
	return packet->header_check == net_crc(packet, offsetof(struct net_packet, header_check)) &&
	       packet->length <= NET_PAYLOAD && packet->channel < NET_CHANNELS;
}

static enum net_answer refuse_packet(struct net_link *link)
{
	net_add(&link->count.refused, 1);
	link->asked = true;
	return NET_REFUSED;
}

static void store_packet(struct net *net, struct net_link *link, const struct net_slot *slot)
{
	int number = net_input_of_link(link->enters, slot->packet.channel);
	struct net_input *input = net_input(net, link->to, number);

	if (input->filled - input->freed == (uint32_t)net->settings.buffers) {
		char text[NET_PROBLEM];

		net_fail(net, "the link %.160s brought a packet without credit", net_link_text(net, link, text));
		return;
	}
	net_copy(net_slot(net, net_slot_number(net, link->to, number, input->filled)), slot);
	if (input->filled++ == input->freed)
		net_show_first(net, link->to, number);
	net_add(&link->count.packets, 1);
	net_add(&link->count.bytes, slot->packet.length);
}

/*
 * Refuses a gap once. A damaged header does not even say which packet it was, so it counts as a
 * gap. If the packet is lost again after the refusal, the sender repeats it when its timeout ends.
 */
enum net_answer net_receive(struct net *net, struct net_link *link, const struct net_slot *slot)
{
	bool good = has_good_header(&slot->packet);
	uint32_t ahead = slot->packet.sequence - link->expected;

	if (good && ahead > UINT32_MAX / 2) {
		net_add(&link->count.doubled, 1);
		return NET_ACCEPTED;
	}
	if (!good || ahead > 0) {
		if (!link->asked)
			return refuse_packet(link);
		net_add(&link->count.refused, 1);
		return NET_NO_ANSWER;
	}
	if (!payload_is_whole(slot))
		return refuse_packet(link);
	link->expected++;
	link->asked = false;
	store_packet(net, link, slot);
	return NET_ACCEPTED;
}
