/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the cabling, as text and as flaws of a shape file. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cabling_parts.h"

#define LONGEST 512

__attribute__((format(printf, 2, 3))) static void add_fault(struct cabling_inspection *in, const char *format, ...)
{
	struct torus_found *found = in->found;
	char text[LONGEST], **fault;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	fault = realloc(found->fault, ((size_t)found->faults + 1) * sizeof *fault);
	if (!fault) {
		in->failed = true;
		return;
	}
	found->fault = fault;
	found->fault[found->faults] = strdup(text);
	in->failed = in->failed || !found->fault[found->faults];
	found->faults += found->fault[found->faults] != NULL;
}

static void add_flaw(struct cabling_inspection *in, int place, int direction, float share)
{
	struct torus_found *found = in->found;
	struct torus_flaw *flaw = realloc(found->flaw, ((size_t)found->flaws + 1) * sizeof *flaw);

	if (!flaw) {
		in->failed = true;
		return;
	}
	found->flaw = flaw;
	found->flaw[found->flaws++] = (struct torus_flaw){place, direction, share};
}

static const char *host_name(const struct cabling_inspection *in, int host)
{
	return in->work->cabling->name[host];
}

static const char *port_host(const struct cabling_inspection *in, int port)
{
	return host_name(in, in->work->cabling->port[port].host);
}

static const char *port_name(const struct cabling_inspection *in, int port)
{
	return in->work->cabling->port[port].name;
}

/* --- Hosts --- */

static void report_hosts(struct cabling_inspection *in)
{
	const struct cabling *cabling = in->work->cabling;
	char text[TORUS_TEXT], other_text[TORUS_TEXT];

	for (int h = 0; h < cabling->hosts; h++) {
		int place = in->layout->place[h];

		if (cabling->silent[h])
			add_fault(in, "%s does not answer%s%s", host_name(in, h),
				  place >= 0 ? "; it should be at " : "",
				  place >= 0 ? torus_place_text(&in->layout->shape, place, text) : "");
		else if (place < 0)
			add_fault(in, "%s: no cable leads to it", host_name(in, h));
	}
	for (int h = 0; h < cabling->hosts; h++) {
		int place = in->layout->place[h], wanted = in->expected[h], other;

		if (place < 0 || wanted < 0 || place == wanted)
			continue;
		other = in->layout->host[wanted];
		torus_place_text(&in->layout->shape, place, text);
		torus_place_text(&in->layout->shape, wanted, other_text);
		if (other >= 0 && in->expected[other] == place && other > h)
			add_fault(in, "%s and %s are in each other's places: %s is at %s and %s at %s",
				  host_name(in, h), host_name(in, other), host_name(in, h), text, host_name(in, other),
				  other_text);
		else if (other < 0 || in->expected[other] != place)
			add_fault(in, "%s is at %s; by the order of names it should be at %s", host_name(in, h), text,
				  other_text);
	}
}

static void report_holes(struct cabling_inspection *in)
{
	char text[TORUS_TEXT];

	for (int p = 0; p < in->layout->shape.places; p++)
		if (in->layout->host[p] < 0)
			add_fault(in, "no host is at %s", torus_place_text(&in->layout->shape, p, text));
}

/* --- Ports that have another port's cable --- */

static bool is_misplaced(const struct cabling_inspection *in, int port)
{
	int meant = cabling_direction_by_rule(in, port);

	return meant >= 0 && in->found->direction[port] >= 0 && in->found->direction[port] != meant;
}

/* Ports that have each other's cables, in a cycle from this one. Two of them are swapped. */
static void report_swapped(struct cabling_inspection *in, int port)
{
	int host = in->work->cabling->port[port].host, count = 0, at = port, last = port;
	char list[LONGEST / 2] = "";
	size_t length = 0;

	do {
		in->reported[at] = true;
		length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", count ? ", " : "",
					   port_name(in, at));
		length = length < sizeof list ? length : sizeof list - 1;
		count++;
		last = at;
		at = cabling_port_meant_for(in, host, in->found->direction[at]);
	} while (at >= 0 && at != port && is_misplaced(in, at) && !in->reported[at]);
	if (at == port && count == 2)
		add_fault(in, "ports %s and %s of %s are swapped", port_name(in, port), port_name(in, last),
			  host_name(in, host));
	else if (at == port)
		add_fault(in, "ports %s of %s have each other's cables: each leads where the next one should", list,
			  host_name(in, host));
	else if (at >= 0)
		add_fault(in, "the cable of port %s of %s is in port %s", port_name(in, at), host_name(in, host),
			  port_name(in, last));
	else
		add_fault(in, "port %s of %s leads to %s; by the rule of the others it should not", port_name(in, last),
			  host_name(in, host), port_host(in, cabling_peer(in->work->cabling, last)));
}

/* The port that should be at the other end of this one's cable; -1: none. */
static int partner_by_rule(const struct cabling_inspection *in, int port)
{
	int direction = in->work->rule.made_up ? -1 : cabling_direction_by_rule(in, port), place, host;

	if (direction < 0)
		return -1;
	place = in->layout->place[in->work->cabling->port[port].host];
	place = place < 0 ? -1 : torus_neighbour(&in->layout->shape, place, direction);
	host = place < 0 ? -1 : in->layout->host[place];
	return host < 0 ? -1 : cabling_port_meant_for(in, host, direction ^ 1);
}

/*
 * A cable between hosts that are no neighbours. If a second one complements it, their ends are
 * swapped.
 */
static void report_stray(struct cabling_inspection *in, int port)
{
	int peer = cabling_peer(in->work->cabling, port), wanted = partner_by_rule(in, port), other;

	in->reported[port] = in->reported[peer] = true;
	other = wanted < 0 ? -1 : cabling_peer(in->work->cabling, wanted);
	if (other >= 0 && !in->reported[other] && !in->reported[wanted] && in->found->direction[wanted] < 0) {
		in->reported[wanted] = in->reported[other] = true;
		add_fault(in,
			  "the cables in port %s of %s and port %s of %s are swapped: %s %s leads to %s %s, and "
			  "%s %s to %s %s",
			  port_name(in, peer), port_host(in, peer), port_name(in, wanted), port_host(in, wanted),
			  port_host(in, port), port_name(in, port), port_host(in, peer), port_name(in, peer),
			  port_host(in, other), port_name(in, other), port_host(in, wanted), port_name(in, wanted));
		return;
	}
	if (wanted >= 0)
		in->reported[wanted] = true;
	add_fault(in, "port %s of %s leads to port %s of %s, which is no neighbour%s%s%s%s", port_name(in, port),
		  port_host(in, port), port_name(in, peer), port_host(in, peer),
		  wanted < 0 ? "" : "; it should lead to port ", wanted < 0 ? "" : port_name(in, wanted),
		  wanted < 0 ? "" : " of ", wanted < 0 ? "" : port_host(in, wanted));
}

static void report_ports(struct cabling_inspection *in)
{
	const struct cabling *cabling = in->work->cabling;

	for (int p = 0; p < cabling->ports; p++) {
		int peer = cabling->port[p].peer;

		if (peer > p && cabling->port[peer].host == cabling->port[p].host &&
		    cabling_step_of(&in->work->rule, in->work->rule.label[p]) >= 0)
			add_fault(in, "ports %s and %s of %s are cabled to each other", port_name(in, p),
				  port_name(in, peer), port_host(in, p));
		if (!in->reported[p] && !in->work->rule.made_up && is_misplaced(in, p))
			report_swapped(in, p);
	}
	/* A cable beside the torus is of use where each is a network of its own. */
	if (cabling->own_networks && in->work->rule.made_up)
		return;
	for (int p = 0; p < cabling->ports; p++)
		if (!in->reported[p] && cabling_peer(cabling, p) > p && in->found->direction[p] < 0 &&
		    in->layout->place[cabling->port[p].host] >= 0 &&
		    in->layout->place[cabling->port[cabling_peer(cabling, p)].host] >= 0)
			report_stray(in, p);
}

/* --- Cables --- */

static void describe_end(const struct cabling_inspection *in, int host, int port, int direction, char *text,
			 size_t size)
{
	if (port >= 0)
		snprintf(text, size, "port %s of %s", port_name(in, port), host_name(in, host));
	else
		snprintf(text, size, "%s (%s)", host_name(in, host), torus_direction_name(direction));
}

/* No cable leads from here to the neighbour. A fault of a port may have reported it already. */
static void report_dead(struct cabling_inspection *in, int place, int direction)
{
	const struct cabling *cabling = in->work->cabling;
	int next = torus_neighbour(&in->layout->shape, place, direction), host = in->layout->host[place],
	    other = in->layout->host[next], port = cabling_port_meant_for(in, host, direction),
	    far = cabling_port_meant_for(in, other, direction ^ 1);
	char from[LONGEST / 4], to[LONGEST / 4];
	const char *why = "nothing comes through";

	add_flaw(in, place, direction, 0);
	/* Nobody meant a cable to be here. */
	if (in->found->row)
		return;
	if ((port >= 0 && in->reported[port]) || (far >= 0 && in->reported[far]))
		return;
	if ((port >= 0 && !cabling->port[port].carrier) || (far >= 0 && !cabling->port[far].carrier))
		why = "no carrier";
	else if (port < 0 || far < 0)
		why = "no such cable";
	describe_end(in, host, port, direction, from, sizeof from);
	describe_end(in, other, far, direction ^ 1, to, sizeof to);
	add_fault(in, "the cable from %s to %s is dead: %s", from, to, why);
}

/* The speed of most cables; 0: unknown. */
static int usual_speed(const struct cabling *cabling)
{
	int usual = 0, most = 0;

	for (int p = 0; p < cabling->ports; p++) {
		int same = 0, speed = cabling_peer(cabling, p) < 0 ? 0 : cabling->port[p].speed;

		if (speed <= 0 || speed == usual)
			continue;
		for (int q = 0; q < cabling->ports; q++)
			same += cabling_peer(cabling, q) >= 0 && cabling->port[q].speed == speed;
		if (same > most) {
			most = same;
			usual = speed;
		}
	}
	return usual;
}

static void report_slow(struct cabling_inspection *in, int port, int usual)
{
	const struct cabling *cabling = in->work->cabling;
	int peer = cabling_peer(cabling, port), speed = cabling->port[port].speed, other = cabling->port[peer].speed;

	speed = other > 0 && other < speed ? other : speed;
	if (speed <= 0 || speed >= usual)
		return;
	add_flaw(in, in->layout->place[cabling->port[port].host], in->found->direction[port],
		 (float)speed / (float)usual);
	add_fault(in, "the cable from port %s of %s to port %s of %s runs at %d Mbit/s, most others at %d",
		  port_name(in, port), port_host(in, port), port_name(in, peer), port_host(in, peer), speed, usual);
}

/* A job does not use such a cable. */
static void report_mute(struct cabling_inspection *in)
{
	const struct cabling *cabling = in->work->cabling;

	for (int p = 0; p < cabling->ports; p++) {
		int peer = cabling_peer(cabling, p);

		if (peer < p || !cabling->port[p].mute)
			continue;
		if (in->found->direction[p] >= 0)
			add_flaw(in, in->layout->place[cabling->port[p].host], in->found->direction[p], 0);
		add_fault(in,
			  "the cable from port %s of %s to port %s of %s has no addresses of the same kind at both "
			  "ends (IPv6 link-local, or IPv4)",
			  port_name(in, p), port_host(in, p), port_name(in, peer), port_host(in, peer));
	}
}

static void report_cables(struct cabling_inspection *in)
{
	const struct torus_shape *shape = &in->layout->shape;
	const struct cabling *cabling = in->work->cabling;
	int usual = usual_speed(cabling);

	for (int place = 0; place < shape->places; place++)
		for (int d = 0; d < 2 * shape->axes; d += 2) {
			int next = torus_neighbour(shape, place, d), host = in->layout->host[place], port;

			if (next < 0 || host < 0 || in->layout->host[next] < 0 || cabling->silent[host] ||
			    cabling->silent[in->layout->host[next]])
				continue;
			port = cabling_port_towards(in, host, d);
			if (port < 0)
				report_dead(in, place, d);
			else
				report_slow(in, port, usual);
		}
}

/*
 * Most hosts must follow the rule of cabling, because in a short row half of the ports match by
 * chance.
 */
static bool follow_rule(const struct cabling_inspection *in)
{
	const struct cabling *cabling = in->work->cabling;
	int others = 0, last = -1;

	for (int p = 0; p < cabling->ports; p++)
		if (cabling->port[p].host != last && is_misplaced(in, p)) {
			last = cabling->port[p].host;
			others++;
		}
	return others <= 1 || 4 * others <= cabling->hosts;
}

bool cabling_find_faults(struct torus_found *found, const struct cabling_work *work,
			 const struct cabling_layout *layout, const int *expected)
{
	struct cabling_work ruled = *work;
	struct cabling_inspection in =
		{found, &ruled, layout, expected, calloc((size_t)work->cabling->ports + 1, sizeof(bool)), false};

	if (!in.reported)
		return false;
	cabling_find_directions(&in);
	ruled.rule.made_up = ruled.rule.made_up || !follow_rule(&in);
	found->ruled = !ruled.rule.made_up;
	report_hosts(&in);
	report_holes(&in);
	if (!found->row)
		report_ports(&in);
	report_cables(&in);
	report_mute(&in);
	free(in.reported);
	return !in.failed;
}
