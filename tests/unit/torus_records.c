/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tools/torusplan/records.h: cables from what agents say, by each way in which they know it, and
 * when they contradict each other.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/unit.h"
#include "tools/torusplan/records.h"

static struct hosts hosts;
static struct records records;
static struct cabling cabling;

/* Three hosts in a ring: port "up" of each leads to "down" of the next. */
static void begin(bool can_probe)
{
	char problem[100], line[100];

	EXPECT(hosts_read_list(&hosts, "a,b,c.example.org", problem, sizeof problem), "%s", problem);
	memset(&records, 0, sizeof records);
	for (int h = 0; h < 3; h++) {
		snprintf(line, sizeof line, "port up 02:00:00:00:00:%d0 1 %d 0 1000 0 1", h, can_probe);
		records_take(&records, h, line);
		snprintf(line, sizeof line, "port down 02:00:00:00:00:%d1 1 %d 0 1000 0 1", h, can_probe);
		records_take(&records, h, line);
		snprintf(line, sizeof line, "address 10.0.0.%d", h + 1);
		records_take(&records, h, line);
	}
}

/* The port at the other end, as "b down"; "": none; "switch". */
static const char *behind(int host, const char *port)
{
	static char text[40];

	text[0] = '\0';
	for (int p = 0; p < cabling.ports; p++) {
		const struct cabling_port *of = &cabling.port[p];

		if (of->host != host || strcmp(of->name, port) != 0)
			continue;
		if (of->shared)
			return "switch";
		if (of->peer >= 0)
			snprintf(text, sizeof text, "%c %s", 'a' + cabling.port[of->peer].host,
				 cabling.port[of->peer].name);
	}
	return text;
}

static void join(void)
{
	static const bool ready[3] = {true, true, true};

	EXPECT(records_join(&records, &hosts, ready, &cabling), "memory");
}

static void end(void)
{
	records_free_cabling(&cabling);
	records_free(&records);
	hosts_forget(&hosts);
}

static void expect_ring(const char *by)
{
	join();
	EXPECT(!strcmp(behind(0, "up"), "b down"), "%s: %s", by, behind(0, "up"));
	EXPECT(!strcmp(behind(1, "up"), "c down"), "%s: %s", by, behind(1, "up"));
	EXPECT(!strcmp(behind(2, "up"), "a down"), "%s: %s", by, behind(2, "up"));
	end();
}

static void check_each_way(void)
{
	begin(true);
	records_take(&records, 0, "heard up b down");
	records_take(&records, 1, "heard down a up");
	records_take(&records, 1, "heard up c down");
	records_take(&records, 0, "heard down c.example.org up");
	expect_ring("probes, two of them heard at one end only");

	begin(false);
	records_take(&records, 0, "lldp up b down");
	records_take(&records, 1, "lldp up c.example.org down");
	records_take(&records, 0, "lldp down c up");
	expect_ring("lldpd");

	begin(false);
	records_take(&records, 0, "neighbour up 10.0.0.2 02:00:00:00:00:11");
	records_take(&records, 2, "neighbour down 10.0.0.2 02:00:00:00:00:10");
	records_take(&records, 2, "neighbour up 10.0.0.1 02:00:00:00:00:01");
	expect_ring("neighbours");

	begin(false);
	records_take(&records, 0, "route up 10.0.0.2");
	records_take(&records, 1, "route down 10.0.0.1");
	records_take(&records, 1, "route up 10.0.0.3");
	records_take(&records, 2, "route down 10.0.0.2");
	records_take(&records, 2, "route up 10.0.0.1");
	records_take(&records, 0, "route down 10.0.0.3");
	expect_ring("routes");
}

/* Tables are of yesterday, perhaps; what probes say is so. */
static void check_contradictions(void)
{
	begin(true);
	records_take(&records, 0, "heard up b down");
	records_take(&records, 0, "neighbour up 10.0.0.3 02:00:00:00:00:20");
	records_take(&records, 1, "neighbour up 10.0.0.3 02:00:00:00:00:21");
	join();
	EXPECT(!strcmp(behind(0, "up"), "b down"), "a probe, not a neighbour: %s", behind(0, "up"));
	EXPECT(!strcmp(behind(1, "up"), ""), "no probe where there could be one: %s", behind(1, "up"));
	end();

	begin(true);
	records_take(&records, 0, "heard up b down");
	records_take(&records, 0, "heard up c.example.org down");
	records_take(&records, 1, "heard down c.example.org down");
	join();
	EXPECT(!strcmp(behind(0, "up"), "switch"), "two are heard: %s", behind(0, "up"));
	EXPECT(!strcmp(behind(1, "down"), "switch") && !strcmp(behind(2, "down"), "switch"), "all three are at it");
	end();
}

/* Between two hosts that hear each other alone, another one answers, or the other one does. */
static void check_answers(void)
{
	for (int other = 0; other < 2; other++) {
		begin(true);
		records_take(&records, 0, "heard up b down");
		records_take(&records, 1, "heard down a up");
		records_take(&records, 1, "link down fe80::1");
		records_take(&records, 0, other ? "answer up fe80::2" : "answer up fe80::1");
		join();
		EXPECT(!strcmp(behind(0, "up"), other ? "switch" : "b down"), "%s", behind(0, "up"));
		EXPECT(!strcmp(behind(1, "down"), other ? "switch" : "a up"), "%s", behind(1, "down"));
		end();
	}
}

/*
 * Where no probe comes in at all, they are filtered, and lldpd counts; where one does, a port
 * without is at a dead cable.
 */
static void check_filtered_probes(void)
{
	begin(true);
	records_take(&records, 0, "lldp up b down");
	records_take(&records, 1, "lldp up c.example.org down");
	records_take(&records, 2, "lldp up a down");
	expect_ring("lldpd, where probes are filtered");

	begin(true);
	records_take(&records, 0, "heard up b down");
	records_take(&records, 0, "lldp down c.example.org up");
	records_take(&records, 1, "lldp up c.example.org down");
	join();
	EXPECT(!strcmp(behind(0, "down"), ""), "a dead cable: %s", behind(0, "down"));
	EXPECT(!strcmp(behind(1, "up"), "c down"), "b hears none: %s", behind(1, "up"));
	EXPECT(records.joined[RECORD_HEARD] == 2 && records.joined[RECORD_LLDP] == 2, "%d and %d ports",
	       records.joined[RECORD_HEARD], records.joined[RECORD_LLDP]);
	end();
}

/* A ring by its probes, with lines about forwarding. */
static bool ring_is_own(const char *const *lines, int count)
{
	bool own;

	begin(true);
	records_take(&records, 0, "heard up b down");
	records_take(&records, 1, "heard up c.example.org down");
	records_take(&records, 2, "heard up a down");
	for (int i = 0; i < count; i++)
		records_take(&records, lines[i][0] - 'a', lines[i] + 2);
	join();
	own = cabling.own_networks;
	end();
	return own;
}

/* Hosts forward if the kernel does and a gateway is behind one of their cables. */
static void check_forwarding(void)
{
	static const char *const lines[] = {"a forwards 1",	  "b forwards 1",   "c forwards 1",
					    "a gateway up 0",	  "b gateway up 0", "c gateway down 1",
					    "a gateway nowhere 0"};
	static const char *const kept[] = {"a forwards 1",   "b forwards 0",   "c forwards 1",
					   "a gateway up 0", "b gateway up 0", "c gateway down 0"};

	EXPECT(!ring_is_own(lines, 0), "nothing is known");
	EXPECT(!ring_is_own(lines, 7), "all forward");
	EXPECT(ring_is_own(lines, 5), "c has no gateway");
	EXPECT(ring_is_own(kept, 6), "b's kernel does not forward");
}

/* Two hosts, each with a port "net" in a network of many; a is told more. */
static const char *behind_net(const char *line, const char *cable)
{
	const char *text;
	char said[40];

	begin(true);
	records_take(&records, 0, "port net 02:00:00:00:00:09 1 1 1 1000 0 1");
	records_take(&records, 1, "port net 02:00:00:00:00:19 1 1 1 1000 0 1");
	records_take(&records, 0, "heard net b net");
	records_take(&records, 0, line);
	records_take(&records, 0, cable);
	join();
	snprintf(said, sizeof said, "%s", behind(0, "net"));
	EXPECT(!strcmp(behind(1, "net"), said[0] == 'b' ? "a net" : said), "both ends: %s", behind(1, "net"));
	EXPECT(!strcmp(behind(0, "up"), cable[0] ? "b down" : ""), "the cable: %s", behind(0, "up"));
	end();
	text = said[0] == 'b' ? "cable" : "switch";
	return text;
}

static void check_management(void)
{
	EXPECT(!strcmp(behind_net("", ""), "cable"), "a cable with addresses of its own");
	EXPECT(!strcmp(behind_net("gateway net 0", ""), "cable"), "what is behind b is reached over it");
	EXPECT(!strcmp(behind_net("gateway net 1", ""), "switch"), "the default route");
	EXPECT(!strcmp(behind_net("", "heard up b down"), "switch"), "beside a cable");
}

/*
 * A cable between a and b: has an end a link-local address and one of IPv4 ("1 0 1000 0 1"), none
 * ("0 0 1000 0 0"), or one of them?
 */
static bool is_mute(const char *one, const char *other)
{
	const char *const end_of[] = {one, other};
	bool mute = false;
	char line[60];

	begin(true);
	for (int h = 0; h < 2; h++) {
		snprintf(line, sizeof line, "port cable 02:00:00:00:00:%d7 1 %s", h, end_of[h]);
		records_take(&records, h, line);
		records_take(&records, h, "forwards 0");
	}
	records_take(&records, 1, "heard cable a cable");
	join();
	EXPECT(!strcmp(behind(0, "cable"), "b cable"), "the cable: %s", behind(0, "cable"));
	for (int p = 0; p < cabling.ports; p++)
		mute = mute || cabling.port[p].mute;
	end();
	return mute;
}

static void check_addresses(void)
{
	EXPECT(!is_mute("1 0 1000 0 1", "1 0 1000 0 1"), "all addresses");
	EXPECT(!is_mute("1 0 1000 0 0", "1 0 1000 0 1"), "link-local ones");
	EXPECT(!is_mute("1 0 1000 0 1", "0 0 1000 0 1"), "IPv4 at both ends");
	EXPECT(is_mute("1 0 1000 0 0", "0 0 1000 0 1"), "of another kind at each end");
	EXPECT(is_mute("1 0 1000 0 1", "0 0 1000 0 0"), "none at one end");
}

/* A cable between a and b with two interfaces at each end; each hears all others. */
static void hear_twins(const char *rest)
{
	static const char *const heard[] = {"up b down",   "up b twin",	  "up a twin",
					    "twin b down", "twin b twin", "twin a up"};
	char line[60];

	begin(true);
	for (int h = 0; h < 2; h++) {
		snprintf(line, sizeof line, "port twin 02:00:00:00:00:%d5 1 1 %s 1", h, rest);
		records_take(&records, h, line);
	}
	for (size_t i = 0; i < sizeof heard / sizeof heard[0]; i++) {
		snprintf(line, sizeof line, "heard %s", heard[i]);
		records_take(&records, 0, line);
	}
	records_take(&records, 1, "heard down b twin");
	records_take(&records, 1, "heard up c.example.org down");
}

static void check_twins(void)
{
	hear_twins("0 1000 0");
	join();
	EXPECT(!strcmp(behind(0, "twin"), "b down"), "the first in order: %s", behind(0, "twin"));
	EXPECT(!strcmp(behind(0, "up"), "b twin"), "the second: %s", behind(0, "up"));
	EXPECT(!strcmp(behind(1, "up"), "c down"), "another cable: %s", behind(1, "up"));
	end();

	hear_twins("0 1000 0");
	records_take(&records, 0, "heard up c.example.org up");
	join();
	EXPECT(!strcmp(behind(0, "twin"), "switch") && !strcmp(behind(1, "down"), "switch") &&
		       !strcmp(behind(2, "up"), "switch"),
	       "three hosts: a switch");
	end();

	hear_twins("1 1000 0");
	join();
	EXPECT(!strcmp(behind(0, "twin"), "switch"), "in a network of many hosts: %s", behind(0, "twin"));
	end();

	hear_twins("0 1000 1");
	join();
	EXPECT(!strcmp(behind(0, "twin"), "switch"), "InfiniBand: %s", behind(0, "twin"));
	end();
}

static void check_rdma(void)
{
	begin(true);
	records_take(&records, 1, "rdma up mlx5_0 3");
	records_take(&records, 1, "rdma nowhere mlx5_1 3");
	records_take(&records, 1, "rdma down");
	join();
	/* Ports are sorted by host and name. */
	EXPECT(!strcmp(records.port[3].rdma, "mlx5_0") && records.port[3].gid == 3 &&
		       !strcmp(cabling.port[3].name, "up") && cabling.port[3].host == 1,
	       "%s, GID %d", records.port[3].rdma, records.port[3].gid);
	EXPECT(!records.port[2].rdma[0] && !records.port[5].rdma[0], "no other port has one");
	end();
}

static void check_noise(void)
{
	static const char *const lines[] = {"",
					    "port",
					    "port up",
					    "heard",
					    "heard up",
					    "heard up nobody down",
					    "heard up b nowhere",
					    "lldp up b",
					    "welcome to this host",
					    "address"};

	begin(true);
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		records_take(&records, 0, lines[i]);
	join();
	EXPECT(cabling.ports == 6 && !strcmp(behind(0, "up"), ""), "%d ports, %s", cabling.ports, behind(0, "up"));
	end();
}

int main(void)
{
	check_each_way();
	check_contradictions();
	check_answers();
	check_filtered_probes();
	check_forwarding();
	check_management();
	check_addresses();
	check_twins();
	check_rdma();
	check_noise();
	return unit_failures != 0;
}
