/* SPDX-License-Identifier: BSD-3-Clause */
/* The direction of each port: where its cable leads, and where the rule expects it to lead. */
#include "cabling_parts.h"

/*
 * The direction of a port by the rule; -1: the rule does not say. A pair with one label has no
 * down.
 */
int cabling_direction_by_rule(const struct cabling_inspection *in, int port)
{
	const struct cabling_rule *rule = &in->work->rule;
	int step = cabling_step_of(rule, rule->label[port]),
	    place = in->layout->place[in->work->cabling->port[port].host];

	if (step >= 0 && place >= 0 && rule->up[step / 2] == rule->down[step / 2])
		step |= torus_coordinate(&in->layout->shape, place, step / 2) != 0;
	return step;
}

static void find_directions(struct cabling_inspection *in)
{
	const struct cabling *cabling = in->work->cabling;

	for (int p = 0; p < cabling->ports; p++) {
		int peer = cabling_peer(cabling, p), from = in->layout->place[cabling->port[p].host], to;

		in->found->direction[p] = -1;
		to = peer < 0 ? -1 : in->layout->place[cabling->port[peer].host];
		if (from >= 0 && to >= 0)
			in->found->direction[p] = (signed char)cabling_direction(&in->layout->shape, from, to,
										 cabling_direction_by_rule(in, p));
	}
}

/* The port of a host that leads in this direction; -1: none. */
int cabling_port_towards(const struct cabling_inspection *in, int host, int direction)
{
	for (int p = in->work->first[host]; p < in->work->first[host + 1]; p++)
		if (in->found->direction[p] == direction)
			return p;
	return -1;
}

/* The host's port for this direction by the rule; -1: none. */
int cabling_port_meant_for(const struct cabling_inspection *in, int host, int direction)
{
	if (in->work->rule.made_up)
		return -1;
	for (int p = in->work->first[host]; p < in->work->first[host + 1]; p++)
		if (in->work->rule.label[p] >= 0 && cabling_direction_by_rule(in, p) == direction)
			return p;
	return -1;
}

/* Of two cables to one neighbour where one is expected, chooses the one by the rule. */
static void leave_one_of_two(struct cabling_inspection *in)
{
	const struct cabling *cabling = in->work->cabling;

	for (int p = 0; p < cabling->ports; p++) {
		int host = cabling->port[p].host, direction = in->found->direction[p], peer;

		if (direction < 0 || direction == cabling_direction_by_rule(in, p) ||
		    (in->layout->shape.axis[direction / 2].size == 2 && in->layout->shape.axis[direction / 2].ring))
			continue;
		for (int q = in->work->first[host]; q < in->work->first[host + 1]; q++)
			if (q != p && in->found->direction[q] == direction && in->found->direction[p] >= 0) {
				peer = cabling_peer(cabling, p);
				in->found->direction[p] = in->found->direction[peer] = -1;
			}
	}
}

/*
 * A pair with two cables: both ports lead in both directions, and each is to get one. If the port
 * meant for the other direction has also taken this one, cabling_direction gave both the same.
 */
static void part_pairs(struct cabling_inspection *in)
{
	const struct torus_shape *shape = &in->layout->shape;

	for (int h = 0; h < in->work->cabling->hosts; h++)
		for (int a = 0; a < shape->axes; a++) {
			int up = cabling_port_towards(in, h, 2 * a);

			if (shape->axis[a].size != 2 || !shape->axis[a].ring ||
			    cabling_port_towards(in, h, 2 * a + 1) >= 0)
				continue;
			for (int p = up + 1; up >= 0 && p < in->work->first[h + 1]; p++)
				if (in->found->direction[p] == 2 * a) {
					int peer = cabling_peer(in->work->cabling, p);

					in->found->direction[p] = (signed char)(2 * a + 1);
					in->found->direction[peer] = (signed char)(2 * a);
					break;
				}
		}
}

void cabling_find_directions(struct cabling_inspection *in)
{
	find_directions(in);
	part_pairs(in);
	leave_one_of_two(in);
}
