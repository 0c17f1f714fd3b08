/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Published figures of the TofuD network beside those of the model, to which the preset tofud is
 * fitted.
 */
#include <stdio.h>

#include "softofu/replay/replay.h"

enum { SMALL = 8, LARGE = 1 << 20, TNIS = 6 };

static const char *const sources[] = {
	"Ajima et al., The Tofu Interconnect D, IEEE CLUSTER 2018, abstract; 93 % of a link of 6.8 GB/s",
	"comments in the source of UTF (yutaka-ishikawa/utf): what a put over one link reaches",
	"a simulator's calibration on two nodes of Fugaku: 1400 ns + bytes / 6.3, posted and polled",
};

static int64_t last_arrival;

static void published_arrived(uint64_t message, int64_t time)
{
	(void)message;
	last_arrival = time > last_arrival ? time : last_arrival;
}

static void published_settings(struct net_settings *settings, const char *shape)
{
	char problem[NET_PROBLEM];

	net_settings_default(settings);
	if (!net_settings_set(settings, "shape", shape, problem))
		replay_fail("%s", problem);
}

/* Nanoseconds until all of the messages have arrived. */
static double messages_take(const struct net_settings *settings, const struct net_message *messages, int count)
{
	struct replay_net *network = replay_net_open(settings, published_arrived);

	last_arrival = 0;
	for (int i = 0; i < count; i++)
		replay_net_post(network, &messages[i], (uint64_t)i);
	while (replay_net_step(network))
		;
	replay_net_close(network);
	return (double)last_arrival * 1e-3;
}

static double put_takes(int hops, uint32_t bytes)
{
	struct net_settings settings;

	published_settings(&settings, "16");
	return messages_take(&settings, &(struct net_message){.to = {.node = hops}, .bytes = bytes}, 1);
}

/* Nanoseconds of a message to each of the first neighbours of node 0. */
static double neighbours_take(int count, uint32_t bytes)
{
	struct net_message messages[TNIS];
	struct net_settings settings;

	published_settings(&settings, "4x4x4");
	for (int i = 0; i < count; i++)
		messages[i] = (struct net_message){.from = {.tni = i},
						   .to = {net_neighbour(&settings.shape, 0, i), i, 0},
						   .bytes = bytes};
	return messages_take(&settings, messages, count);
}

/* GB/s of this many neighbours at once, without the start and the end of messages. */
static double rate_to(int neighbours)
{
	return (double)neighbours * LARGE /
	       (neighbours_take(neighbours, 2 * LARGE) - neighbours_take(neighbours, LARGE));
}

/* published 0: no figure was found. */
static void show_figure(const char *what, double published, double modelled, int source)
{
	if (published > 0)
		printf("%-50s %9.2f %9.2f %9.1f %%  [%d]\n", what, published, modelled,
		       (modelled / published - 1) * 100 + 0.0, source);
	else
		printf("%-50s %9s %9.2f\n", what, "none", modelled);
}

int published_print(void)
{
	struct net_settings settings;
	double us = 1e-3;

	net_settings_default(&settings);
	printf("%-50s %9s %9s %11s\n", "", "published", "modelled", "difference");
	show_figure("put of 8 bytes to the next node, us", 0.49, put_takes(1, SMALL) * us, 1);
	show_figure("one more hop, us", 0, (put_takes(4, SMALL) - put_takes(1, SMALL)) / 3 * us, 0);
	show_figure("put of 8 bytes and its acknowledgement, us", 0, (put_takes(1, SMALL) + put_takes(1, 0)) * us, 0);
	show_figure("put of 8 bytes, posted and polled, us", 1.4 + SMALL / 6.3 * us,
		    (settings.software_time + put_takes(1, SMALL)) * us, 3);
	show_figure("put of 1 MiB, posted and polled, us", 1.4 + LARGE / 6.3 * us,
		    (settings.software_time + put_takes(1, LARGE)) * us, 3);
	show_figure("payload over one link, GB/s", 0.93 * 6.8, rate_to(1), 1);
	show_figure("payload over one link, GB/s", 6.35, rate_to(1), 2);
	show_figure("payload of six TNIs to six neighbours, GB/s", 38.1, rate_to(TNIS), 1);
	putchar('\n');
	for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
		printf("[%zu] %s\n", i + 1, sources[i]);
	puts("\nNo published figure was found for a further hop: 100 ns are an assumption (setting hop).");
	return 0;
}
