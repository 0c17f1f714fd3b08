/* SPDX-License-Identifier: BSD-3-Clause */
#include "records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool records_same_host(const char *name, const char *other)
{
	size_t length = strcspn(name, "."), other_length = strcspn(other, ".");

	if (name[length] && other[other_length])
		return !strcmp(name, other);
	return length == other_length && !strncmp(name, other, length);
}

/* Grows when the number is a power of two. */
static void *grown(void *list, int count, size_t size)
{
	return count & (count - 1) ? list : realloc(list, (count ? 2 * (size_t)count : 1) * size);
}

static void take_port(struct records *records, int host, const char *rest)
{
	struct record_port port = {.host = host}, *list;
	int carrier, can_probe, network, infiniband, address;

	if (sscanf(rest, "%15s %17s %d %d %d %d %d %d", port.name, port.hardware, &carrier, &can_probe, &network,
		   &port.speed, &infiniband, &address) != 8)
		return;
	port.carrier = carrier;
	port.can_probe = can_probe;
	port.network = network;
	port.infiniband = infiniband;
	port.address = address;
	list = grown(records->port, records->ports, sizeof *list);
	if (!list) {
		records->failed = true;
		return;
	}
	records->port = list;
	records->port[records->ports++] = port;
}

static struct record_port *port_called(const struct records *records, int host, const char *name)
{
	for (int p = 0; p < records->ports; p++)
		if (records->port[p].host == host && !strcmp(records->port[p].name, name))
			return &records->port[p];
	return NULL;
}

/* More about a port that has been listed. Returns false if it is no line of these kinds. */
static bool take_more(const struct records *records, int host, const char *kind, const char *rest)
{
	bool gateway = !strcmp(kind, "gateway");
	char name[IF_NAMESIZE], device[64];
	struct record_port *port;
	int number;

	if (!gateway && strcmp(kind, "rdma") != 0)
		return false;
	if (gateway ? sscanf(rest, "%15s %d", name, &number) != 2
		    : sscanf(rest, "%15s %63s %d", name, device, &number) != 3)
		return true;
	port = port_called(records, host, name);
	if (port && gateway) {
		port->gateway = true;
		port->default_route = number;
	} else if (port) {
		snprintf(port->rdma, sizeof port->rdma, "%s", device);
		port->gid = number;
	}
	return true;
}

void records_take(struct records *records, int host, const char *line)
{
	static const char *const kinds[RECORD_KINDS] = {"address", "neighbour", "route", "lldp",
							"heard",   "forwards",	"link",	 "answer"};
	struct record record = {.host = host}, *list;
	char kind[16];
	int used = 0, k = 0, words;

	if (sscanf(line, "%15s %n", kind, &used) != 1)
		return;
	if (!strcmp(kind, "port")) {
		take_port(records, host, line + used);
		return;
	}
	if (take_more(records, host, kind, line + used))
		return;
	while (k < RECORD_KINDS && strcmp(kinds[k], kind) != 0)
		k++;
	record.kind = (enum record_kind)k;
	if (k == RECORD_ADDRESS || k == RECORD_FORWARDS)
		words = sscanf(line + used, "%255s", record.text) + 2;
	else
		words = sscanf(line + used, "%15s %255s %63s", record.port, record.text, record.more) +
			(k == RECORD_ROUTE || k == RECORD_LINK || k == RECORD_ANSWER);
	list = k == RECORD_KINDS || words < 3 ? NULL : grown(records->record, records->records, sizeof *list);
	if (!list)
		return;
	records->record = list;
	records->record[records->records++] = record;
}

/* --- Cables --- */

struct joiner {
	struct records *records;
	const struct hosts *hosts;
	struct cabling *cabling;
	int *link; /* by port: another port of the same link; itself: the last one */
};

static int port_index(const struct joiner *joiner, int host, const char *name)
{
	const struct record_port *port = host < 0 ? NULL : port_called(joiner->records, host, name);

	return port ? (int)(port - joiner->records->port) : -1;
}

static int host_called(const struct joiner *joiner, const char *name)
{
	for (size_t h = 0; h < joiner->hosts->names.count; h++)
		if (records_same_host(joiner->hosts->names.list[h], name))
			return (int)h;
	return -1;
}

/* A port with two ports at its other end leads to a switch, and so do these two. */
static void join_ports(const struct joiner *joiner, int port, int other)
{
	struct cabling_port *list = joiner->cabling->port;

	if (port < 0 || other < 0 || port == other || list[port].peer == other)
		return;
	if (list[port].peer >= 0 || list[other].peer >= 0) {
		list[port].shared = list[other].shared = true;
		if (list[port].peer >= 0)
			list[list[port].peer].shared = true;
		if (list[other].peer >= 0)
			list[list[other].peer].shared = true;
		return;
	}
	list[port].peer = other;
	list[other].peer = port;
}

static int port_of_hardware(const struct joiner *joiner, const char *hardware)
{
	for (int p = 0; p < joiner->records->ports; p++)
		if (!strcmp(joiner->records->port[p].hardware, hardware))
			return p;
	return -1;
}

static bool has_address(const struct joiner *joiner, int host, const char *address)
{
	for (int r = 0; r < joiner->records->records; r++) {
		const struct record *record = &joiner->records->record[r];

		if (record->kind == RECORD_ADDRESS && record->host == host && !strcmp(record->text, address))
			return true;
	}
	return false;
}

/* The port from which the gateway's owner routes to this host. */
static int port_of_gateway(const struct joiner *joiner, int host, const char *gateway)
{
	for (int r = 0; r < joiner->records->records; r++) {
		const struct record *record = &joiner->records->record[r];

		if (record->kind == RECORD_ROUTE && record->host != host &&
		    has_address(joiner, record->host, gateway) && has_address(joiner, host, record->text))
			return port_index(joiner, record->host, record->port);
	}
	return -1;
}

static int other_end(const struct joiner *joiner, const struct record *record)
{
	switch (record->kind) {
	case RECORD_HEARD:
	case RECORD_LLDP: return port_index(joiner, host_called(joiner, record->text), record->more);
	case RECORD_NEIGHBOUR: return port_of_hardware(joiner, record->more);
	case RECORD_ROUTE: return port_of_gateway(joiner, record->host, record->text);
	default: return -1;
	}
}

/* A host that receives no probe, although some of its ports can send: UDP is filtered there. */
static bool is_deaf(const struct records *records, int host)
{
	for (int r = 0; r < records->records; r++)
		if (records->record[r].kind == RECORD_HEARD && records->record[r].host == host)
			return false;
	return true;
}

/* A port that can send probes but receives none has a dead cable, unless no port receives any. */
static bool counts_for(const struct joiner *joiner, enum record_kind kind, int port)
{
	const struct record_port *of = &joiner->records->port[port];

	if (kind == RECORD_HEARD)
		return true;
	return of->carrier && (!of->can_probe || (kind == RECORD_LLDP && is_deaf(joiner->records, of->host)));
}

static bool leads_elsewhere(const struct cabling *cabling, int port)
{
	const struct cabling_port *of = &cabling->port[port];

	return of->shared || (of->peer >= 0 && cabling->port[of->peer].host != of->host);
}

/*
 * Probes first. If none are possible, other sources count, which may be outdated: lldpd's report,
 * then the kernel's table of neighbours, then its routes, each only for ports without better
 * information.
 */
static void join_by(struct joiner *joiner, enum record_kind kind)
{
	bool *known = calloc((size_t)joiner->cabling->ports + 1, sizeof *known);

	for (int p = 0; known && p < joiner->cabling->ports; p++)
		known[p] = joiner->cabling->port[p].peer >= 0 || joiner->cabling->port[p].shared;
	for (int r = 0; known && r < joiner->records->records; r++) {
		const struct record *record = &joiner->records->record[r];
		int port = record->kind == kind ? port_index(joiner, record->host, record->port) : -1, other;

		if (port < 0 || (kind != RECORD_HEARD && known[port]) || !counts_for(joiner, kind, port))
			continue;
		other = other_end(joiner, record);
		if (other >= 0 && (kind == RECORD_HEARD || !known[other]))
			join_ports(joiner, port, other);
	}
	for (int p = 0; known && p < joiner->cabling->ports; p++)
		joiner->records->joined[kind] += !known[p] && leads_elsewhere(joiner->cabling, p);
	free(known);
}

/* Is another port of the host, in no network, cabled to another host? */
static bool has_other_cable(const struct joiner *joiner, int port)
{
	const struct cabling_port *list = joiner->cabling->port;

	for (int p = 0; p < joiner->cabling->ports; p++)
		if (p != port && list[p].host == list[port].host && !joiner->records->port[p].network &&
		    leads_elsewhere(joiner->cabling, p) && !list[p].shared)
			return true;
	return false;
}

/*
 * A port in a network of more than two hosts that sees one other port is a cable if it has
 * addresses like one, or the network for management of two hosts. It is the latter if the default
 * route leads over it, or cables without such addresses are beside it.
 */
static bool is_management(const struct joiner *joiner, int port)
{
	const struct record_port *of = &joiner->records->port[port];

	return of->network && (of->default_route || has_other_cable(joiner, port));
}

static void leave_out_management(const struct joiner *joiner)
{
	struct cabling_port *list = joiner->cabling->port;

	for (int p = 0; p < joiner->cabling->ports; p++) {
		int peer = list[p].peer;

		if (peer > p && (is_management(joiner, p) || is_management(joiner, peer))) {
			list[p].peer = list[peer].peer = -1;
			list[p].shared = list[peer].shared = true;
		}
	}
}

/* An end of a cable reaches the other one by addresses of a kind that both have. */
static void find_mute_cables(const struct joiner *joiner)
{
	const struct record_port *list = joiner->records->port;

	for (int p = 0; p < joiner->cabling->ports; p++) {
		struct cabling_port *port = &joiner->cabling->port[p];

		port->mute = port->peer >= 0 && !(list[p].can_probe && list[port->peer].can_probe) &&
			     !(list[p].address && list[port->peer].address);
	}
}

/*
 * Does a host with cables of Ethernet keep packets that are not for it? Unknown counts as no.
 * InfiniBand forwards by itself.
 */
static bool keeps_packets(const struct joiner *joiner, int host)
{
	bool known = false, forwards = false, cabled = false, gateway = false;

	for (int r = 0; r < joiner->records->records; r++) {
		const struct record *record = &joiner->records->record[r];

		if (record->kind == RECORD_FORWARDS && record->host == host) {
			known = true;
			forwards = !strcmp(record->text, "1");
		}
	}
	for (int p = 0; known && p < joiner->cabling->ports; p++) {
		if (joiner->cabling->port[p].host != host || joiner->cabling->port[p].shared ||
		    joiner->records->port[p].infiniband || !leads_elsewhere(joiner->cabling, p))
			continue;
		cabled = true;
		gateway = gateway || joiner->records->port[p].gateway;
	}
	return cabled && !(forwards && gateway);
}

/*
 * --- Links with several ports at each end ---
 *
 * A NIC may show each of its sockets as several interfaces, so that a cable has some at either end.
 * Each of them hears all of the other end, as at a switch, but only two hosts are there.
 */

static int link_of(const struct joiner *joiner, int port)
{
	/* Halves the way for the next search. */
	while (joiner->link[port] != port)
		port = joiner->link[port] = joiner->link[joiner->link[port]];
	return port;
}

static void find_links(const struct joiner *joiner)
{
	for (int p = 0; p < joiner->records->ports; p++)
		joiner->link[p] = p;
	for (int r = 0; r < joiner->records->records; r++) {
		const struct record *record = &joiner->records->record[r];
		int port, other;

		if (record->kind != RECORD_HEARD)
			continue;
		port = port_index(joiner, record->host, record->port);
		other = other_end(joiner, record);
		if (port >= 0 && other >= 0)
			joiner->link[link_of(joiner, port)] = link_of(joiner, other);
	}
}

/* Of the ports of a link, joins the first of either host, then the second, and so on. */
static void join_link(const struct joiner *joiner, int link)
{
	const struct record_port *list = joiner->records->port;
	struct cabling_port *port = joiner->cabling->port;
	int ports = joiner->records->ports, first = 0, other;

	while (link_of(joiner, first) != link)
		first++;
	for (int p = first; p < ports; p++)
		if (link_of(joiner, p) == link) {
			port[p].peer = -1;
			port[p].shared = false;
		}
	other = first;
	while (list[other].host == list[first].host || link_of(joiner, other) != link)
		other++;
	for (int p = first; p < ports && list[p].host == list[first].host; p++) {
		if (link_of(joiner, p) != link)
			continue;
		while (other < ports && link_of(joiner, other) != link)
			other++;
		if (other == ports)
			return;
		port[p].peer = other;
		port[other++].peer = p;
	}
}

/* Is the link between two hosts, with more than two ports, none of them at a known network? */
static bool has_twins(const struct joiner *joiner, int link)
{
	const struct record_port *list = joiner->records->port;
	int ports = 0, hosts = 0, last = -1;

	for (int p = 0; p < joiner->records->ports; p++) {
		if (link_of(joiner, p) != link)
			continue;
		if (list[p].network || list[p].infiniband)
			return false;
		ports++;
		hosts += list[p].host != last;
		last = list[p].host;
	}
	return ports > 2 && hosts == 2;
}

static bool join_twins(struct joiner *joiner)
{
	int ports = joiner->records->ports;

	joiner->link = malloc(((size_t)ports + 1) * sizeof *joiner->link);
	if (!joiner->link)
		return false;
	find_links(joiner);
	for (int p = 0; p < ports; p++)
		if (joiner->link[p] == p && joiner->cabling->port[p].shared && has_twins(joiner, p))
			join_link(joiner, p);
	free(joiner->link);
	return true;
}

/* --- Two hosts at a switch --- */

static bool is_of_port(const struct joiner *joiner, const char *address)
{
	for (int r = 0; r < joiner->records->records; r++) {
		const struct record *record = &joiner->records->record[r];

		if (record->kind == RECORD_LINK && !strcmp(record->text, address))
			return true;
	}
	return false;
}

/*
 * Probes of three hosts show a switch. Two are at one, too, if somebody answers there who is at no
 * port of theirs.
 */
static void leave_out_switches(const struct joiner *joiner)
{
	struct cabling_port *list = joiner->cabling->port;

	for (int r = 0; r < joiner->records->records; r++) {
		const struct record *record = &joiner->records->record[r];
		int port = record->kind == RECORD_ANSWER ? port_index(joiner, record->host, record->port) : -1;
		int peer = port < 0 ? -1 : list[port].peer;

		if (peer < 0 || is_of_port(joiner, record->text))
			continue;
		list[port].peer = list[peer].peer = -1;
		list[port].shared = list[peer].shared = true;
	}
}

static int compare_ports(const void *left, const void *right)
{
	const struct record_port *one = left, *other = right;

	return one->host != other->host ? one->host - other->host : strcmp(one->name, other->name);
}

bool records_join(struct records *records, const struct hosts *hosts, const bool *ready, struct cabling *cabling)
{
	static const enum record_kind order[] = {RECORD_HEARD, RECORD_LLDP, RECORD_NEIGHBOUR, RECORD_ROUTE};
	struct joiner joiner = {records, hosts, cabling, NULL};
	bool *silent = calloc(hosts->names.count, sizeof *silent);

	cabling->hosts = (int)hosts->names.count;
	cabling->ports = records->ports;
	cabling->name = (const char *const *)hosts->names.list;
	cabling->port = calloc((size_t)records->ports + 1, sizeof *cabling->port);
	cabling->silent = silent;
	cabling->own_networks = false;
	if (!silent || !cabling->port || records->failed)
		return false;
	if (records->ports)
		qsort(records->port, (size_t)records->ports, sizeof *records->port, compare_ports);
	for (int h = 0; h < cabling->hosts; h++)
		silent[h] = !ready[h];
	for (int p = 0; p < records->ports; p++) {
		struct record_port *from = &records->port[p];

		cabling->port[p] = (struct cabling_port){from->host, strdup(from->name), -1,   from->carrier,
							 false,	     from->speed,	 false};
		if (!cabling->port[p].name)
			return false;
	}
	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
		join_by(&joiner, order[i]);
	if (!join_twins(&joiner))
		return false;
	leave_out_switches(&joiner);
	leave_out_management(&joiner);
	for (int h = 0; h < cabling->hosts; h++)
		cabling->own_networks = cabling->own_networks || keeps_packets(&joiner, h);
	if (cabling->own_networks)
		find_mute_cables(&joiner);
	return true;
}

void records_free(struct records *records)
{
	free(records->port);
	free(records->record);
}

void records_free_cabling(struct cabling *cabling)
{
	for (int p = 0; cabling->port && p < cabling->ports; p++)
		free((char *)cabling->port[p].name);
	free(cabling->port);
	free((bool *)cabling->silent);
}
