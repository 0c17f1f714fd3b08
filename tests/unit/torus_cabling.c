/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comms/torus/cabling/cabling.h: many shapes are cabled on paper, with ports that are named by
 * directions, numbered by a rule, or numbered at random; then something is done to them, and shape,
 * places and the words about it must be right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/torus/cabling/cabling.h"
#include "tests/lib/unit.h"

enum { HOSTS = 512, PORTS = 6 * HOSTS };
enum naming { BY_DIRECTION, NUMBERED, AT_RANDOM };

static struct bed {
	struct torus_shape shape;
	struct cabling cabling;
	struct cabling_port port[PORTS];
	char name[HOSTS][16], port_name[PORTS][16];
	const char *names[HOSTS];
	bool silent[HOSTS];
} bed;

static unsigned long state = 1;

static int random_below(int n)
{
	state = state * 6364136223846793005UL + 1442695040888963407UL;
	return (int)((state >> 33) % (unsigned long)n);
}

static int port_called(const char *host, const char *port)
{
	for (int p = 0; p < bed.cabling.ports; p++)
		if (!strcmp(bed.name[bed.port[p].host], host) && !strcmp(bed.port_name[p], port))
			return p;
	EXPECT(false, "%s has a port %s", host, port);
	return 0;
}

static int host_called(const char *name)
{
	for (int h = 0; h < bed.cabling.hosts; h++)
		if (!strcmp(bed.name[h], name))
			return h;
	EXPECT(false, "there is a host %s", name);
	return 0;
}

static void join_ports(int one, int other)
{
	bed.port[one].peer = other;
	bed.port[other].peer = one;
	bed.port[one].carrier = bed.port[other].carrier = true;
}

/* Ports of a host one after the other, where the host has a cable in that direction. */
static void make_bed(const char *text, enum naming naming)
{
	static int at[HOSTS][TORUS_DIRECTIONS];
	char problem[TORUS_PROBLEM];
	struct torus_shape *shape = &bed.shape;
	int ports = 0;

	EXPECT(torus_shape_read(shape, text, problem), "%s: %s", text, problem);
	for (int h = 0; h < shape->places; h++) {
		int first = ports;

		snprintf(bed.name[h], sizeof bed.name[h], "h%d", h);
		bed.names[h] = bed.name[h];
		bed.silent[h] = false;
		for (int d = 0; d < 2 * shape->axes; d++) {
			at[h][d] = -1;
			if (shape->axis[d / 2].size < 2 || torus_neighbour(shape, h, d) < 0)
				continue;
			snprintf(bed.port_name[ports], 16, naming == BY_DIRECTION ? "%s" : "eth%s",
				 torus_direction_name(d));
			if (naming != BY_DIRECTION)
				snprintf(bed.port_name[ports], 16, "eth%d", 8 + d);
			bed.port[ports] =
				(struct cabling_port){h, bed.port_name[ports], -1, false, false, 10000, false};
			at[h][d] = ports++;
		}
		for (int p = first; naming == AT_RANDOM && p < ports; p++) {
			int other = first + random_below(ports - first);
			char kept[16];

			memcpy(kept, bed.port_name[p], 16);
			memcpy(bed.port_name[p], bed.port_name[other], 16);
			memcpy(bed.port_name[other], kept, 16);
		}
	}
	for (int h = 0; h < shape->places; h++)
		for (int d = 0; d < 2 * shape->axes; d += 2)
			if (at[h][d] >= 0)
				join_ports(at[h][d], at[torus_neighbour(shape, h, d)][d + 1]);
	bed.cabling = (struct cabling){shape->places, ports, bed.names, bed.silent, bed.port, false};
}

/* --- What is done to a bed --- */

static void cut(int port)
{
	int peer = bed.port[port].peer;

	bed.port[port].peer = bed.port[peer].peer = -1;
	bed.port[port].carrier = bed.port[peer].carrier = false;
}

/* The two ports have each other's cables. */
static void swap(int one, int other)
{
	int peer = bed.port[one].peer, other_peer = bed.port[other].peer;

	join_ports(one, other_peer);
	join_ports(other, peer);
}

static void exchange_hosts(int one, int other)
{
	char kept[16];

	memcpy(kept, bed.name[one], 16);
	memcpy(bed.name[one], bed.name[other], 16);
	memcpy(bed.name[other], kept, 16);
}

static void make_silent(int host)
{
	bed.silent[host] = true;
	for (int p = 0; p < bed.cabling.ports; p++)
		if (bed.port[p].host == host && bed.port[p].peer >= 0)
			cut(p);
}

static void make_mute(int port)
{
	bed.port[port].mute = bed.port[bed.port[port].peer].mute = true;
}

/*
 * "cut h0 x+", "swap h0 x+ y+", "cross h0 x+ h4 x+", "exchange h1 h2", "silent h3", "slow h0 x+",
 * "mute h0 x+"; several with ; between.
 */
static void damage(const char *text)
{
	char copy[256], *rest = copy, *one;

	snprintf(copy, sizeof copy, "%s", text);
	while ((one = strsep(&rest, ";"))) {
		char verb[16] = "", a[16] = "", b[16] = "", c[16] = "", d[16] = "";

		if (sscanf(one, "%15s %15s %15s %15s %15s", verb, a, b, c, d) < 2)
			continue;
		if (!strcmp(verb, "cut"))
			cut(port_called(a, b));
		else if (!strcmp(verb, "swap"))
			swap(port_called(a, b), port_called(a, c));
		else if (!strcmp(verb, "cross"))
			swap(port_called(a, b), port_called(c, d));
		else if (!strcmp(verb, "exchange"))
			exchange_hosts(host_called(a), host_called(b));
		else if (!strcmp(verb, "silent"))
			make_silent(host_called(a));
		else if (!strcmp(verb, "slow"))
			bed.port[port_called(a, b)].speed = 1000;
		else if (!strcmp(verb, "mute"))
			make_mute(port_called(a, b));
	}
}

/* The list of hosts is in the order of their numbers, wherever they are. */
static void sort_hosts(void)
{
	static struct cabling_port port[PORTS];
	static char port_name[PORTS][16], name[HOSTS][16];
	static int moved[PORTS];
	static bool silent[HOSTS];
	int ports = 0;

	for (int n = 0; n < bed.cabling.hosts; n++) {
		char wanted[16];
		int h;

		snprintf(wanted, sizeof wanted, "h%d", n);
		h = host_called(wanted);
		memcpy(name[n], bed.name[h], 16);
		silent[n] = bed.silent[h];
		for (int p = 0; p < bed.cabling.ports; p++)
			if (bed.port[p].host == h) {
				port[ports] = bed.port[p];
				port[ports].host = n;
				memcpy(port_name[ports], bed.port_name[p], 16);
				moved[p] = ports++;
			}
	}
	memcpy(bed.port, port, sizeof port);
	memcpy(bed.port_name, port_name, sizeof port_name);
	memcpy(bed.name, name, sizeof name);
	memcpy(bed.silent, silent, sizeof silent);
	for (int p = 0; p < ports; p++) {
		bed.port[p].name = bed.port_name[p];
		bed.port[p].peer = bed.port[p].peer < 0 ? -1 : moved[bed.port[p].peer];
	}
}

static void check_found(const char *what, const char *shape, const char *faults)
{
	struct torus_found found;
	char text[TORUS_TEXT], said[4096] = "";
	size_t length = 0;

	EXPECT(torus_cabling_find(&found, &bed.cabling), "memory");
	for (int i = 0; i < found.faults && length < sizeof said; i++)
		length += (size_t)snprintf(said + length, sizeof said - length, "%s%s", i ? "|" : "", found.fault[i]);
	if (found.shape.axes == 0) {
		EXPECT(false, "%s: no torus: %s", what, found.why);
		torus_found_free(&found);
		return;
	}
	EXPECT(!strcmp(torus_shape_text(&found.shape, text), shape), "%s: found %s, not %s", what, text, shape);
	EXPECT(!strcmp(said, faults), "%s: '%s' and not '%s'", what, said, faults);
	torus_found_free(&found);
}

static const struct {
	const char *shape, *damage, *found, *faults;
} rows[] = {
	{"3x3x3", "", "3x3x3", ""},
	{"4x4", "", "4x4", ""},
	{"2x3x4", "", "2x3x4", ""},
	{"5", "", "5", ""},
	{"3mx3", "", "3mx3", ""},
	{"2", "", "2", ""},
	{"2dx3", "", "2dx3", ""},
	{"2x2", "", "2x2", ""},
	{"3x3x3", "cut h4 x+", "3x3x3", "the cable from port x+ of h4 to port x- of h13 is dead: no carrier"},
	{"4x4", "cut h0 y-", "4x4", "the cable from port y+ of h3 to port y- of h0 is dead: no carrier"},
	{"2x3x4", "cut h0 x+", "2x3x4", "the cable from port x+ of h0 to port x- of h12 is dead: no carrier"},
	{"5", "cut h4 x+", "5", "the cable from port x+ of h4 to port x- of h0 is dead: no carrier"},
	{"5", "cut h1 x+", "5", "the cable from port x+ of h1 to port x- of h2 is dead: no carrier"},
	{"3mx3", "cut h3 x+", "3mx3", "the cable from port x+ of h3 to port x- of h6 is dead: no carrier"},
	{"3x3x3", "swap h14 x+ y-", "3x3x3", "ports x+ and y- of h14 are swapped"},
	{"4x4", "swap h5 x+ x-", "4x4", "ports x+ and x- of h5 are swapped"},
	{"2x3x4", "swap h7 y+ z-", "2x3x4", "ports y+ and z- of h7 are swapped"},
	{"5", "swap h2 x+ x-", "5", "ports x+ and x- of h2 are swapped"},
	{"3mx3", "swap h4 x+ y+", "3mx3", "ports x+ and y+ of h4 are swapped"},
	{"3x3x3", "cross h3 x+ h6 x+", "3x3x3",
	 "the cables in port x- of h15 and port x- of h12 are swapped: h3 x+ leads to h15 x-, and h6 x+ to h12 x-"},
	{"4x4", "cross h3 x+ h6 y+", "4x4", "ports x- and y- of h7 are swapped"},
	{"5", "cross h0 x+ h2 x+", "5",
	 "the cables in port x- of h3 and port x- of h1 are swapped: h0 x+ leads to h3 x-, and h2 x+ to h1 x-"},
	{"3x3x3", "exchange h5 h7", "3x3x3", "h5 and h7 are in each other's places: h5 is at 0,2,1 and h7 at 0,1,2"},
	{"4x4", "exchange h0 h15", "4x4", "h0 and h15 are in each other's places: h0 is at 3,3 and h15 at 0,0"},
	{"2x3x4", "exchange h0 h1", "2x3x4", "h0 and h1 are in each other's places: h0 is at 0,0,1 and h1 at 0,0,0"},
	{"5", "exchange h1 h2", "5", "h1 and h2 are in each other's places: h1 is at 2 and h2 at 1"},
	{"3mx3", "exchange h1 h5", "3mx3", "h1 and h5 are in each other's places: h1 is at 1,2 and h5 at 0,1"},
	{"3mx3", "exchange h0 h1", "3mx3", "h0 and h1 are in each other's places: h0 is at 0,1 and h1 at 0,0"},
	{"3x3x3", "silent h13", "3x3x3", "h13 does not answer; it should be at 1,1,1"},
	{"5", "silent h2", "5", "h2 does not answer; it should be at 2"},
	{"5m", "silent h2", "5m", "h2 does not answer; it should be at 2"},
	{"3x3x3", "slow h13 x+", "3x3x3",
	 "the cable from port x+ of h13 to port x- of h22 runs at 1000 Mbit/s, most others at 10000"},
	{"5", "mute h4 x+", "5",
	 "the cable from port x- of h0 to port x+ of h4 has no addresses of the same kind at both ends (IPv6 link-local, or "
	 "IPv4)"},
	{"4x4x4", "cut h9 z+;swap h14 x+ y-;exchange h50 h51", "4x4x4",
	 "h50 and h51 are in each other's places: h50 is at 3,0,3 and h51 at 3,0,2|ports x+ and y- of h14 are swapped|"
	 "the cable from port z+ of h9 to port z- of h10 is dead: no carrier"},
	{"4x4x4", "silent h1;cut h40 x+", "4x4x4",
	 "h1 does not answer; it should be at 0,0,1|the cable from port x+ of h40 to port x- of h56 is dead: no carrier"},
};

static void check_rows(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char what[300];

		snprintf(what, sizeof what, "%s, %s", rows[i].shape, rows[i].damage);
		make_bed(rows[i].shape, BY_DIRECTION);
		damage(rows[i].damage);
		sort_hosts();
		check_found(what, rows[i].found, rows[i].faults);
	}
}

/* --- Numbered ports, by a rule and without one --- */

/* Each host with a port is cabled to hosts that the shape has as neighbours. */
static void check_places(const struct torus_found *found, const char *what)
{
	for (int p = 0; p < bed.cabling.ports; p++) {
		const struct cabling_port *port = &bed.port[p];
		int from = found->place[port->host], to;

		if (port->peer < 0)
			continue;
		to = found->place[bed.port[port->peer].host];
		EXPECT(from >= 0 && to >= 0 && found->direction[p] >= 0 &&
			       torus_neighbour(&found->shape, from, found->direction[p]) == to,
		       "%s: port %s of h%d leads elsewhere", what, port->name, port->host);
	}
}

static void check_numbered(const char *shape, enum naming naming, const char *done, int faults)
{
	char what[300], text[TORUS_TEXT];
	struct torus_found found;

	snprintf(what, sizeof what, "%s numbered %s, %s", shape, naming == NUMBERED ? "by a rule" : "at random", done);
	make_bed(shape, naming);
	damage(done);
	sort_hosts();
	EXPECT(torus_cabling_find(&found, &bed.cabling), "memory");
	EXPECT(found.shape.axes > 0 && !strcmp(torus_shape_text(&found.shape, text), shape), "%s: found %s %s", what,
	       found.shape.axes ? text : "none:", found.why);
	/* In a row, all but two may follow a rule by chance, and these are called wrong. */
	EXPECT(faults < 0 ? found.faults <= 2 : found.faults == faults, "%s: %d faults, not %d, the first: %s", what,
	       found.faults, faults, found.faults ? found.fault[0] : "");
	if (found.shape.axes && !done[0])
		check_places(&found, what);
	torus_found_free(&found);
}

static void check_all_numbered(void)
{
	static const char *const shapes[] = {"5",     "7",     "3x3",	"4x4",	   "5x4",    "3mx3", "4mx5m", "3x3x3",
					     "4x4x4", "2x3x4", "5x3x2", "3x3x3x3", "6mx4x3", "2dx5", "8"};

	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		check_numbered(shapes[i], NUMBERED, "", 0);
		check_numbered(shapes[i], NUMBERED, "cut h1 eth8", 1);
	}
	check_numbered("3x3x3", NUMBERED, "swap h14 eth8 eth11", 1);
	check_numbered("4x4", NUMBERED, "cross h3 eth8 h9 eth8", 1);
	check_numbered("4x4", NUMBERED, "exchange h3 h9", 1);
	/* Without a rule, a ring of four and two pairs are the same. */
	for (int round = 0; round < 20; round++)
		for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
			if (!strchr(shapes[i], '4'))
				check_numbered(shapes[i], AT_RANDOM, "", strchr(shapes[i], 'x') ? 0 : -1);
}

/* --- Cables that make no torus, and switches --- */

/* As many hosts, each with as many ports, and no cable yet. */
static void make_hosts(int hosts, int ports)
{
	bed.cabling = (struct cabling){hosts, hosts * ports, bed.names, bed.silent, bed.port, false};
	for (int h = 0; h < hosts; h++) {
		snprintf(bed.name[h], sizeof bed.name[h], "h%d", h);
		bed.names[h] = bed.name[h];
		bed.silent[h] = false;
		for (int i = 0; i < ports; i++) {
			int p = h * ports + i;

			snprintf(bed.port_name[p], sizeof bed.port_name[p], "eth%d", i);
			bed.port[p] = (struct cabling_port){h, bed.port_name[p], -1, true, false, 10000, false};
		}
	}
}

static void check_none(const char *what, const char *why)
{
	struct torus_found found;

	EXPECT(torus_cabling_find(&found, &bed.cabling), "memory");
	EXPECT(found.shape.axes == 0 && strstr(found.why, why), "%s: %d axes, %s", what, found.shape.axes, found.why);
	torus_found_free(&found);
}

static void check_others(void)
{
	make_hosts(4, 1);
	check_none("no cable", "no port of these hosts is cabled");
	for (int h = 0; h < 4; h++)
		bed.port[h].shared = true;
	check_none("a switch", "the hosts are at a switch: 4 ports");
	for (int h = 0; h < 4; h++)
		bed.silent[h] = true;
	check_none("nobody", "no host answers");

	make_hosts(4, 3);
	for (int h = 0; h < 4; h++)
		for (int other = h + 1; other < 4; other++)
			join_ports(h * 3 + other - 1, other * 3 + h);
	check_none("all to all", "the cables do not make one");

	make_hosts(7, 6);
	for (int other = 1; other < 7; other++)
		join_ports(other - 1, other * 6);
	check_none("a star", "");

	make_hosts(8, 2);
	for (int h = 0; h < 8; h++)
		join_ports(h * 2, (h / 4 * 4 + (h + 1) % 4) * 2 + 1);
	check_none("two rings", "8 of the 8 hosts lack ports");
}

/* --- Cables that are networks of their own --- */

/* "01 12 23": cables between these hosts, each at the next free port, which has carrier. */
static void join_hosts(const char *pairs)
{
	int used[10] = {0}, ports = bed.cabling.ports / bed.cabling.hosts;

	for (const char *at = pairs; at[0]; at += 2 + (at[2] == ' ')) {
		int one = at[0] - '0', other = at[1] - '0';

		EXPECT(used[one] < ports && used[other] < ports, "%s: there are ports", pairs);
		join_ports(one * ports + used[one]++, other * ports + used[other]++);
	}
	bed.cabling.own_networks = true;
}

static const struct {
	int hosts, ports;
	const char *cables, *found;
	bool row;
	int dead; /* cables of the shape that are not there */
} own_rows[] = {
	{4, 2, "01 12 23 30", "2x2", false, 0},
	{4, 3, "01 02 03 12 13 23", "4", true, 0},
	{4, 3, "01 02 13 12 23", "2x2", false, 0},
	{5, 4, "01 02 03 04 12 13 14 23 24 34", "5", true, 0},
	{3, 2, "01 12", "3", false, 1},
	{3, 2, "01 12 20", "3", false, 0},
	{2, 1, "01", "2", true, 0},
	{2, 2, "01 01", "2d", true, 0},
	{2, 3, "01 01 01", "2d", true, 0},
	{4, 3, "01 02 03", "4m", true, 1},
	/* Two interfaces at each end of a cable. */
	{3, 4, "01 01 12 12 20 20", "3", true, 0},
	{4, 4, "01 01 12 12 23 23 30 30", "2dx2d", false, 0},
	{5, 3, "01 12 23 30 04", "5m", true, 0},
};

static void check_own(int hosts, int ports, const char *cables, const char *shape, bool row, int dead)
{
	struct torus_found found;
	char text[TORUS_TEXT];

	make_hosts(hosts, ports);
	join_hosts(cables);
	EXPECT(torus_cabling_find(&found, &bed.cabling), "memory");
	EXPECT(found.shape.axes && !strcmp(torus_shape_text(&found.shape, text), shape), "%s: found %s %s", cables,
	       found.shape.axes ? text : "none:", found.why);
	EXPECT(found.row == row, "%s: a row", cables);
	EXPECT(found.flaws == dead, "%s: %d dead cables", cables, found.flaws);
	EXPECT(found.faults == (row ? 0 : dead), "%s: %d faults, the first: %s", cables, found.faults,
	       found.faults ? found.fault[0] : "");
	for (int h = 0; h < hosts; h++)
		EXPECT(found.place[h] >= 0, "%s: h%d has a place", cables, h);
	torus_found_free(&found);
}

static void check_own_networks(void)
{
	for (size_t i = 0; i < sizeof own_rows / sizeof own_rows[0]; i++)
		check_own(own_rows[i].hosts, own_rows[i].ports, own_rows[i].cables, own_rows[i].found, own_rows[i].row,
			  own_rows[i].dead);
}

/* Each host of a torus, or of a chain, has one more port, at a switch. */
static void check_beside_a_switch(void)
{
	static const int joined[3] = {1, 2, 1};

	make_hosts(3, 3);
	join_ports(0, 3);
	join_ports(4, 6);
	for (int h = 0; h < 3; h++)
		for (int i = joined[h]; i < 3; i++)
			bed.port[h * 3 + i].shared = true;
	check_found("a chain beside a switch", "3m", "");

	make_hosts(9, 5);
	for (int h = 0; h < 9; h++) {
		join_ports(h * 5, (h / 3 * 3 + (h + 1) % 3) * 5 + 1);
		join_ports(h * 5 + 2, (h + 3) % 9 * 5 + 3);
		bed.port[h * 5 + 4].shared = true;
		bed.port[h * 5 + 4].peer = (h + 1) % 9 * 5 + 4;
	}
	check_found("beside a switch", "3x3", "");
}

int main(void)
{
	check_rows();
	check_others();
	check_beside_a_switch();
	check_own_networks();
	check_all_numbered();
	return unit_failures != 0;
}
