/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * softofu-netspeed [SETTINGS]: cost of the network itself, between two processes on nodes 0 and 1:
 *
 *     pass      8 bytes injected and taken by one process
 *     exchange  half of the time for 8 bytes there and 8 bytes back
 *     stream    messages of 8 bytes, and of 1 MiB, one after the other
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "softofu/tests/traffic.h"

struct end {
	struct net *net;
	int node;
	uint64_t packets;
	unsigned char *bytes;
};

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static bool end_receives(void *context, const struct net_packet *packet, const void *data)
{
	struct end *end = context;

	memcpy(end->bytes + packet->offset, data, packet->length);
	end->packets++;
	return true;
}

static void run(struct end *end)
{
	struct net_address at = {end->node, 0, 0};

	if (net_step(end->net, 32) < 0)
		exit(1);
	if (net_waiting(end->net, &at, NET_REQUEST))
		net_take(end->net, &at, NET_REQUEST, 32, end_receives, end);
}

static void send(struct end *end, int to, uint32_t bytes)
{
	struct net_message message = {.from = {end->node, 0, 0}, .to = {to, 0, 0}, .bytes = bytes};
	uint64_t done = 0;
	int tries = 0;

	while (net_inject(end->net, &message, end->bytes + done, &done) != 1) {
		run(end);
		if (++tries % 256 == 0)
			sched_yield();
	}
}

static void await(struct end *end, uint64_t packets)
{
	for (int tries = 1; end->packets < packets; tries++) {
		run(end);
		if (tries % 256 == 0)
			sched_yield();
	}
}

static double pass(struct end *end, int count)
{
	double start = seconds();

	for (int i = 0; i < count; i++) {
		send(end, end->node, 8);
		await(end, end->packets + 1);
	}
	return (seconds() - start) / count;
}

/* Both processes call this; the time of the first one counts. */
static double exchange_time(struct end *end, int count)
{
	double start = seconds();

	for (int i = 0; i < count; i++) {
		uint64_t next = end->packets + 1;

		if (end->node == 0)
			send(end, 1, 8);
		await(end, next);
		if (end->node == 1)
			send(end, 0, 8);
	}
	return (seconds() - start) / count / 2;
}

static double stream(struct end *end, int count, uint32_t bytes)
{
	uint64_t packets = bytes > NET_PAYLOAD ? (bytes + NET_PAYLOAD - 1) / NET_PAYLOAD : 1;
	double start = seconds();

	if (end->node == 0) {
		uint64_t next = end->packets + 1;

		for (int i = 0; i < count; i++)
			send(end, 1, bytes);
		await(end, next);
	} else {
		await(end, end->packets + (uint64_t)count * packets);
		send(end, 0, 8);
	}
	return (seconds() - start) / count;
}

int main(int argc, char **argv)
{
	struct net_settings settings;
	char problem[NET_PROBLEM];
	struct end end = {.bytes = calloc(1, 1 << 20)};
	double times[4];
	pid_t child;

	net_settings_default(&settings);
	if (!net_settings_read(&settings, "shape=2,receive-queue=64", problem) ||
	    (argc > 1 && !net_settings_read(&settings, argv[1], problem)) ||
	    !(end.net = traffic_network(&settings, problem))) {
		fprintf(stderr, "softofu-netspeed: %s\n", problem);
		return 1;
	}
	times[0] = pass(&end, 200000);
	end.packets = 0;
	child = fork();
	end.node = child == 0;
	exchange_time(&end, 1000);
	times[1] = exchange_time(&end, 50000);
	times[2] = stream(&end, 200000, 8);
	times[3] = stream(&end, 300, 1 << 20);
	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	printf("pass %.0f ns, exchange %.0f ns, stream of 8 B %.2f million packets/s, of 1 MiB %.2f GB/s (%.2f million "
	       "packets/s)\n",
	       times[0] * 1e9, times[1] * 1e9, 1e-6 / times[2], (1 << 20) / times[3] * 1e-9,
	       ((1 << 20) + NET_PAYLOAD - 1) / NET_PAYLOAD / times[3] * 1e-6);
	traffic_free(end.net);
	free(end.bytes);
	return 0;
}
