/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random packets over many shapes with the smallest buffers: none lost, doubled, torn or overtaken,
 * and no deadlock. Without the second lane the same test finds one, so it would see one.
 */
#include <string.h>

#include "tests/lib/unit.h"
#include "softofu/tests/traffic.h"

#define TINY "buffers=1,queue=1,window=1,receive-queue=1,cqs=1"

static bool send(const char *shape, const char *list, uint64_t packets, struct traffic *traffic)
{
	struct net_settings settings;
	char problem[NET_PROBLEM];
	struct net *net = NULL;
	struct net_link_count count;
	bool good;

	*traffic = (struct traffic){.packets = packets, .largest = 6000, .shy = true, .seed = packets};
	net_settings_default(&settings);
	if (!net_settings_set(&settings, "shape", shape, problem) || !net_settings_read(&settings, list, problem) ||
	    !(net = traffic_network(&settings, problem))) {
		EXPECT(false, "%s %s: %s", shape, list, problem);
		return false;
	}
	good = traffic_run(traffic, net);
	net_count_all(net, &count);
	if (good && settings.packet_errors > 0)
		EXPECT(count.damaged > 0 && count.refused > 0 && count.sent > count.packets, "%s %s: no error was made",
		       shape, list);
	if (net_trouble(net))
		snprintf(traffic->text, sizeof traffic->text, "%s", net_trouble(net));
	EXPECT(traffic->cycle > 0 || !traffic->stuck, "%s %s: stands still without a cycle", shape, list);
	traffic_free(net);
	return good;
}

static void check_arrival(void)
{
	static const struct {
		const char *shape, *settings;
		uint64_t packets;
	} rows[] = {
		{"4x4x4", TINY ",errors=1e-4", 100000},
		{"3x5x7", TINY ",errors=1e-3", 20000},
		{"5x3", TINY, 20000},
		{"9", TINY ",errors=0.05", 10000},
		{"2x2x2x2x3x2", TINY, 20000},
		{"2dx2dx3", TINY, 10000},
		{"4mx5mx1x2", TINY ",bit-errors=1e-6", 10000},
		{"1", "cqs=3", 5000},
		{"5x5", "window=8,errors=0.3", 5000},
		{"4x4", "mode=through,cqs=2", 20000},
		{"5x5", TINY ",cut=0,0:x+;3,3:y-", 10000},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct traffic traffic;

		EXPECT(send(rows[i].shape, rows[i].settings, rows[i].packets, &traffic),
		       "%s %s: %llu of %llu arrived; %s %s", rows[i].shape, rows[i].settings,
		       (unsigned long long)traffic.arrived, (unsigned long long)traffic.sent,
		       traffic.fault ? traffic.fault : "", traffic.text);
	}
}

static void check_one_lane(void)
{
	static const char *const rings[] = {"4x4x4", "5x3", "9", "5x5x5", "3x7x2"};
	struct traffic traffic;

	for (size_t i = 0; i < sizeof rings / sizeof rings[0]; i++) {
		EXPECT(!send(rings[i], TINY ",lanes=1", 50000, &traffic), "%s: one lane is enough?", rings[i]);
		EXPECT(traffic.stuck && traffic.cycle >= 3, "%s: a cycle of %d buffers", rings[i], traffic.cycle);
		EXPECT(strstr(traffic.text, " -> "), "it is named: %s", traffic.text);
		EXPECT(send(rings[i], TINY, 5000, &traffic), "%s: two lanes", rings[i]);
	}
	EXPECT(send("4mx4m", TINY ",lanes=1", 10000, &traffic), "a mesh has no cycle to begin with: %s", traffic.text);
}

static void check_lost_links(void)
{
	struct traffic traffic;

	EXPECT(!send("5x5m", "cut=0,0:y+", 10000, &traffic) && strstr(traffic.text, "node 0,1") &&
		       strstr(traffic.text, "no route around"),
	       "a mesh has no route around: %s", traffic.text);
	EXPECT(!send("4", "cut=0:x+;2:x+", 10000, &traffic) && strstr(traffic.text, "no route around"),
	       "both directions: %s", traffic.text);
	EXPECT(!send("5x5", "cut=0,0:x+@500", 50000, &traffic) && strstr(traffic.text, "is lost: nothing gets through"),
	       "one that goes while it is used: %s", traffic.text);
	EXPECT(!traffic.fault, "and nothing else is wrong: %s", traffic.fault);
}

int main(void)
{
	check_arrival();
	check_one_lane();
	check_lost_links();
	return unit_failures != 0;
}
