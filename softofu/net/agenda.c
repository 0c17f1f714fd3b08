/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The agenda: a binary heap of the numbers of ports, by the time they are due. Seats count from 1.
 */
#include "softofu/net/state.h"

static int length_of(const struct net *net)
{
	return atomic_load_explicit((_Atomic int *)(uintptr_t)&net->agenda_length, memory_order_relaxed);
}

static void set_length(struct net *net, int length)
{
	atomic_store_explicit(&net->agenda_length, length, memory_order_relaxed);
}

static void sit(struct net *net, int32_t *seats, int seat, int port)
{
	seats[seat] = port;
	net_port(net, port)->seat = seat;
}

static void move_up(struct net *net, int32_t *seats, int seat, int port)
{
	int64_t due = net_port(net, port)->due;

	while (seat > 1 && net_port(net, seats[seat / 2])->due > due) {
		sit(net, seats, seat, seats[seat / 2]);
		seat /= 2;
	}
	sit(net, seats, seat, port);
}

static void move_down(struct net *net, int32_t *seats, int seat, int port)
{
	int64_t due = net_port(net, port)->due;
	int length = length_of(net);

	for (;;) {
		int below = 2 * seat;

		if (below < length && net_port(net, seats[below + 1])->due < net_port(net, seats[below])->due)
			below++;
		if (below > length || net_port(net, seats[below])->due >= due)
			break;
		sit(net, seats, seat, seats[below]);
		seat = below;
	}
	sit(net, seats, seat, port);
}

void net_schedule(struct net *net, int port, int64_t due)
{
	int32_t *seats = net_part(net, net->agenda);
	struct net_port *entry = net_port(net, port);

	if (entry->seat && entry->due <= due)
		return;
	entry->due = due;
	if (!entry->seat) {
		set_length(net, length_of(net) + 1);
		entry->seat = length_of(net);
	}
	move_up(net, seats, entry->seat, port);
}

int net_earliest(struct net *net, int64_t *due)
{
	int32_t *seats = net_part(net, net->agenda);
	int first, last, length = length_of(net);

	if (length == 0)
		return -1;
	first = seats[1];
	last = seats[length];
	set_length(net, length - 1);
	*due = net_port(net, first)->due;
	net_port(net, first)->seat = 0;
	if (length > 1)
		move_down(net, seats, 1, last);
	return first;
}
