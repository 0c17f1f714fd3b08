/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searches for a deadlock. A full buffer waits for the next buffer on the route of its first packet
 * if that one is full, too. Each buffer waits for at most one other, so following them either ends
 * or finds a cycle.
 */
#include <stdlib.h>
#include <string.h>

#include "softofu/net/state.h"

/*
 * The buffer, as a link and a channel, that the first packet of an input waits for; -1: for none.
 */
static int waits_for(const struct net *net, int node, const struct net_input *input)
{
	const struct net_link *link;

	if (input->port < 0 || input->port >= net->directions)
		return -1;
	link = net_link(net, net_link_number(net, node, input->port));
	if (link->span != NET_HERE || link->limit[input->channel] != link->used[input->channel])
		return -1;
	return net_link_number(net, node, input->port) * NET_CHANNELS + input->channel;
}

static int next_buffer(const struct net *net, int buffer)
{
	const struct net_link *link = net_link(net, buffer / NET_CHANNELS);

	if (link->to < 0)
		return -1;
	return waits_for(net, link->to,
			 net_input(net, link->to, net_input_of_link(link->enters, buffer % NET_CHANNELS)));
}

static size_t name_buffer(const struct net *net, int buffer, const char *before, char *text, size_t room)
{
	const struct net_link *link = net_link(net, buffer / NET_CHANNELS);
	char place[NET_TEXT];
	int length =
		snprintf(text, room, "%s%s %s lane %d", before, net_place_text(&net->settings.shape, link->from, place),
			 net_direction_name(link->direction), buffer % NET_LANES);

	return (size_t)length < room ? (size_t)length : room;
}

static int count_cycle(const struct net *net, int first, char *text, size_t room)
{
	int count = 0, buffer = first;

	do {
		size_t length = name_buffer(net, buffer, count ? " -> " : "", text, room);

		text += length;
		room -= length;
		buffer = next_buffer(net, buffer);
		count++;
	} while (buffer != first);
	return count;
}

int net_find_cycle(struct net *net, char *text, size_t room)
{
	int buffers = net->settings.shape.places * net->directions * NET_CHANNELS, count = 0;
	int *seen = calloc((size_t)buffers, sizeof *seen);

	if (room > 0)
		text[0] = '\0';
	if (!seen)
		return 0;
	if (!net_lock(net)) {
		free(seen);
		return 0;
	}
	for (int first = 0; first < buffers && !count; first++) {
		int buffer = first;

		while (buffer >= 0 && !seen[buffer]) {
			seen[buffer] = first + 1;
			buffer = next_buffer(net, buffer);
		}
		if (buffer >= 0 && seen[buffer] == first + 1)
			count = count_cycle(net, buffer, text, room);
	}
	net_unlock(net);
	free(seen);
	return count;
}
