/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of the network by themselves: the check sum, settings, receive queues, and what counters
 * say of a route.
 */
#include <string.h>

#include "softofu/net/crc.h"
#include "tests/lib/unit.h"
#include "softofu/tests/traffic.h"

/*
 * Hosts of different versions are linked: the sum stays what docs/protocols/softofu-link.md says.
 */
static void check_crc(void)
{
	EXPECT(net_crc("123456789", 9) == 0xcbf43926u, "the value that the standard has");
	EXPECT(net_crc("", 0) == 0, "nothing");
}

static void check_settings(void)
{
	static const struct {
		const char *text, *problem; /* NULL: it is good */
	} rows[] = {
		{"shape=4x4x4,errors=1e-4,seed=7", NULL},
		{"shape=4x4x4,cut=1,0,0:x+;0,0,3:z-@500,lanes=1", NULL},
		{"preset=apenet,hop=70.5,mode=packets", NULL},
		{"shape=4x4q", "not a shape"},
		{"lanes=3", "from 1 to 2"},
		{"buffers=1.5", "whole number"},
		{"errors=lots", "give a number"},
		{"colour=blue", "no such setting"},
		{"buffers", "name=value"},
		{"preset=ethernet", "the presets are"},
		{"mode=fast", "the modes are"},
		{"shape=4mx4,cut=3,0:x+", "there is no such link"},
		{"shape=4x4,cut=4,0:x+", "give a node and a direction"},
		{"shape=4x4,cut=0,0:z+", "there is no such link"},
		{"shape=4x4,cut=0,0:x+?", "after the direction"},
		{"shape=4x4,mode=through,errors=0.1", "need mode=packets"},
		{"shape=8,cut=7:x+,shape=4", "set the shape before"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct net_settings settings;
		char problem[NET_PROBLEM] = "";
		bool good;

		net_settings_default(&settings);
		good = net_settings_read(&settings, rows[i].text, problem) && net_settings_check(&settings, problem);
		EXPECT(good == !rows[i].problem && (good || strstr(problem, rows[i].problem)), "%s: %s", rows[i].text,
		       problem);
	}
}

static bool count_receiver(void *context, const struct net_packet *packet, const void *data)
{
	int *left = context;

	EXPECT(packet->length <= NET_PAYLOAD && memcmp(data, "some bytes of a message", 8) == 0, "what came");
	return (*left)-- > 0;
}

/*
 * One message over a network of these settings: the links it took, and that the receiver may leave
 * packets where they are.
 */
static uint64_t links_taken(const char *list, int from, int to)
{
	struct net_message message = {.from = {from, 0, 0}, .to = {to, 1, 2}, .bytes = 23};
	struct net_settings settings;
	struct net_link_count count;
	struct net_tni_count tni;
	char problem[NET_PROBLEM];
	struct net *net;
	int one = 1, none = 0;
	uint64_t done = 0;

	net_settings_default(&settings);
	if (!net_settings_read(&settings, list, problem) || !(net = traffic_network(&settings, problem))) {
		EXPECT(false, "%s: %s", list, problem);
		return 0;
	}
	EXPECT(net_inject(net, &message, "some bytes of a message", &done) == 1 && done == 23, "%s: in", list);
	while (net_step(net, 100) > 0)
		;
	EXPECT(net_waiting(net, &message.to, NET_REQUEST) && !net_waiting(net, &message.to, NET_REPLY), "%s: there",
	       list);
	EXPECT(net_take(net, &message.to, NET_REQUEST, 8, count_receiver, &none) == 0, "%s: not taken", list);
	EXPECT(net_take(net, &message.to, NET_REQUEST, 8, count_receiver, &one) == 1, "%s: taken", list);
	EXPECT(!net_waiting(net, &message.to, NET_REQUEST) && net_underway(net) == 0, "%s: and gone", list);
	net_count_tni(net, to, 1, &tni);
	EXPECT(tni.taken_packets == 1 && tni.taken_bytes == 23 && tni.sent_packets == 0, "%s: the TNI counts", list);
	net_count_all(net, &count);
	EXPECT(count.bytes == 23 * count.packets, "%s: the links count", list);
	traffic_free(net);
	return count.packets;
}

static void check_routes(void)
{
	EXPECT(links_taken("shape=8", 1, 4) == 3, "the short direction");
	EXPECT(links_taken("shape=8", 1, 7) == 2, "the short direction around");
	EXPECT(links_taken("shape=8m", 0, 7) == 7, "there is no route around");
	EXPECT(links_taken("shape=8,cut=2:x+", 1, 4) == 5, "round a cut");
	EXPECT(links_taken("shape=8,cut=2:x+", 4, 1) == 5, "and back");
	EXPECT(links_taken("shape=5x8x1,mode=through", 0, 8 * 2 + 6) == 4, "without routers");
	EXPECT(links_taken("shape=2x2x2x2x3x2", 0, 2 * 2 * 2 * 2 * 3 * 2 - 1) == 6, "six axes");
	EXPECT(links_taken("shape=3", 1, 1) == 0, "to itself");
}

int main(void)
{
	check_crc();
	check_settings();
	check_routes();
	return unit_failures != 0;
}
