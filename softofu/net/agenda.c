/* SPDX-License-Identifier: BSD-3-Clause */
/* The agenda: a binary heap of the numbers of ports, by the time they are due. Seats count from 1. */
#include "softofu/net/state.h"

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

	for (;;) {
		int below = 2 * seat;

		if (below < net->agenda_length &&
		    net_port(net, seats[below + 1])->due < net_port(net, seats[below])->due)
			below++;
		if (below > net->agenda_length || net_port(net, seats[below])->due >= due)
			break;
		sit(net, seats, seat, seats[below]);
		seat = below;
	}
	sit(net, seats, seat, port);
}

void net_hasten(struct net *net, int port, int64_t due)
{
	int32_t *seats = net_part(net, net->agenda);
	struct net_port *entry = net_port(net, port);

	if (entry->seat && entry->due <= due)
		return;
	entry->due = due;
	move_up(net, seats, entry->seat ? entry->seat : ++net->agenda_length, port);
}

int net_earliest(struct net *net, int64_t *due)
{
	int32_t *seats = net_part(net, net->agenda);
	int first, last;

	if (net->agenda_length == 0)
		return -1;
	first = seats[1];
	last = seats[net->agenda_length--];
	*due = net_port(net, first)->due;
	net_port(net, first)->seat = 0;
	if (net->agenda_length > 0)
		move_down(net, seats, 1, last);
	return first;
}
