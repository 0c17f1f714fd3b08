/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes: one axis after the other. The direction around each ring is fixed when the packet starts
 * and travels with it. So a packet can take the long direction where a link of the short one is
 * cut, and no router on the route sends it back.
 */
#include <stdlib.h>
#include <string.h>

#include "softofu/net/state.h"

const char *net_link_text(const struct net *net, const struct net_link *link, char text[NET_PROBLEM])
{
	char from[NET_TEXT], to[NET_TEXT];

	snprintf(text, NET_PROBLEM, "%s from node %s to node %s", net_direction_name(link->direction),
		 net_place_text(&net->settings.shape, link->from, from),
		 net_place_text(&net->settings.shape, link->to, to));
	return text;
}

/* The first cut link along an axis; NULL if there is none, and then *at is the end of the route. */
static const struct net_link *cut_along(const struct net *net, int *at, int direction, int coordinate)
{
	while (net_coordinates(net, *at)[direction / 2] != coordinate) {
		const struct net_link *link = net_link(net, net_link_number(net, *at, direction));

		if (link->cut)
			return link;
		*at = link->to;
	}
	return NULL;
}

static bool plan_around(struct net *net, int from, int to, uint8_t *down)
{
	const struct net_shape *shape = &net->settings.shape;

	for (int a = 0; a < shape->axes; a++) {
		int direction = 2 * a + (*down >> a & 1), goal = net_coordinates(net, to)[a], at = from;
		const struct net_link *cut = cut_along(net, &at, direction, goal), *other = NULL;

		if (cut && shape->axis[a].ring) {
			at = from;
			*down ^= (uint8_t)(1u << a);
			other = cut_along(net, &at, direction ^ 1, goal);
		}
		if (cut && (other || !shape->axis[a].ring)) {
			char text[NET_PROBLEM], place[NET_TEXT];

			net_link_text(net, cut, text);
			net_fail(net, "the link %.160s is lost, and there is no route around it to node %.60s", text,
				 net_place_text(shape, to, place));
			return false;
		}
		from = at;
	}
	return true;
}

bool net_plan(struct net *net, int from, int to, uint8_t *down)
{
	const struct net_shape *shape = &net->settings.shape;
	const uint16_t *here = net_coordinates(net, from), *there = net_coordinates(net, to);

	*down = 0;
	for (int a = 0; a < shape->axes; a++)
		if (net_steps(&shape->axis[a], here[a], there[a]) < 0)
			*down |= (uint8_t)(1u << a);
	return net->cut_links == 0 || plan_around(net, from, to, down);
}

int net_next_direction(const struct net *net, int node, int to, uint8_t down)
{
	const uint16_t *here = net_coordinates(net, node), *there = net_coordinates(net, to);

	for (int a = 0; a < net->directions / 2; a++)
		if (here[a] != there[a])
			return 2 * a + (down >> a & 1);
	return -1;
}

int net_hops(const struct net *net, int from, int to)
{
	const struct net_shape *shape = &net->settings.shape;
	int hops = 0;

	for (int a = 0; a < shape->axes; a++)
		hops += abs(net_steps(&shape->axis[a], net_coordinate(shape, from, a), net_coordinate(shape, to, a)));
	return hops;
}
