/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * softofu-nettest SHAPE PACKETS [SETTINGS [SEED]]: random packets over a network, and what became
 * of them.
 *
 *     softofu-nettest 4x4x4 10000000 buffers=1,queue=1,window=1,receive-queue=1,errors=1e-4
 *
 * Exit code 0: all arrived, once, whole and in order; 3: a deadlock, and between which buffers; 1:
 * anything else.
 */
#include <stdlib.h>
#include <time.h>

#include "softofu/tests/traffic.h"

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int complain(const char *problem)
{
	fprintf(stderr, "softofu-nettest: %s\n", problem);
	return 1;
}

int main(int argc, char **argv)
{
	struct net_settings settings;
	struct traffic traffic = {.largest = 6000, .shy = true, .seed = argc > 4 ? strtoull(argv[4], NULL, 10) : 1};
	char problem[NET_PROBLEM];
	struct net *net;
	double start;
	bool good;

	if (argc < 3 || argc > 5)
		return complain("usage: softofu-nettest SHAPE PACKETS [SETTINGS [SEED]]");
	net_settings_default(&settings);
	settings.cqs = 2;
	traffic.packets = strtoull(argv[2], NULL, 10);
	if (!net_settings_set(&settings, "shape", argv[1], problem) ||
	    (argc > 3 && !net_settings_read(&settings, argv[3], problem)) ||
	    !(net = traffic_network(&settings, problem)))
		return complain(problem);
	start = seconds();
	good = traffic_run(&traffic, net);
	start = seconds() - start;
	printf("%s: %llu messages, %llu packets sent, %llu arrived, in %.2f s: %.3f million packets/s\n", argv[1],
	       (unsigned long long)traffic.messages, (unsigned long long)traffic.sent,
	       (unsigned long long)traffic.arrived, start, (double)traffic.arrived / start * 1e-6);
	net_report(net, stdout);
	if (traffic.cycle)
		printf("deadlock: %d buffers wait for each other: %s\n", traffic.cycle, traffic.text);
	else if (traffic.stuck)
		printf("nothing moves, and no cycle is to be found\n");
	else if (net_trouble(net))
		printf("%s\n", net_trouble(net));
	else if (traffic.fault)
		printf("%s\n", traffic.fault);
	traffic_free(net);
	return good ? 0 : traffic.cycle ? 3 : 1;
}
