/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports of the counters. They are read without the lock; while packets move, they may be of
 * slightly different times.
 */
#include "softofu/net/state.h"

/* Reads a structure of counters. */
static void read_counters(void *to, const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(uint64_t); i++)
		((uint64_t *)to)[i] = net_counted((const uint64_t *)from + i);
}

int64_t net_clock(const struct net *net)
{
	return net_counted(&net->clock);
}

void net_count_link(const struct net *net, int place, int direction, struct net_link_count *count)
{
	read_counters(count, &net_link(net, net_link_number(net, place, direction))->count, sizeof *count);
}

void net_count_tni(const struct net *net, int place, int tni, struct net_tni_count *count)
{
	read_counters(count, &net_tni(net, place, tni)->count, sizeof *count);
}

void net_count_all(const struct net *net, struct net_link_count *count)
{
	*count = (struct net_link_count){0};
	for (int number = 0; number < net->settings.shape.places * net->directions; number++) {
		const struct net_link_count *one = &net_link(net, number)->count;

		count->packets += net_counted(&one->packets);
		count->bytes += net_counted(&one->bytes);
		count->sent += net_counted(&one->sent);
		count->damaged += net_counted(&one->damaged);
		count->lost += net_counted(&one->lost);
		count->refused += net_counted(&one->refused);
		count->doubled += net_counted(&one->doubled);
		count->busy += net_counted(&one->busy);
		count->waited += net_counted(&one->waited);
	}
}

static const struct net_link *busiest(const struct net *net)
{
	const struct net_link *best = net_link(net, 0);

	for (int number = 1; number < net->settings.shape.places * net->directions; number++)
		if (net_counted(&net_link(net, number)->count.bytes) > net_counted(&best->count.bytes))
			best = net_link(net, number);
	return best;
}

static void report_tnis(const struct net *net, FILE *file)
{
	for (int t = 0; t < net->settings.tnis; t++) {
		struct net_tni_count all = {0};

		for (int node = 0; node < net->settings.shape.places; node++) {
			const struct net_tni_count *one = &net_tni(net, node, t)->count;

			all.sent_packets += net_counted(&one->sent_packets);
			all.sent_bytes += net_counted(&one->sent_bytes);
			all.taken_packets += net_counted(&one->taken_packets);
			all.waited += net_counted(&one->waited);
		}
		if (all.sent_packets || all.taken_packets)
			fprintf(file, "TNI %d: %llu packets sent, %llu bytes; %llu taken, waited %.3f us\n", t,
				(unsigned long long)all.sent_packets, (unsigned long long)all.sent_bytes,
				(unsigned long long)all.taken_packets, (double)all.waited * 1e-6);
	}
}

void net_report(const struct net *net, FILE *file)
{
	const struct net_link *most = busiest(net);
	struct net_link_count all;
	char text[NET_PROBLEM];

	net_count_all(net, &all);
	fprintf(file, "links: %llu packets, %llu bytes", (unsigned long long)all.packets,
		(unsigned long long)all.bytes);
	if (net->settings.mode == NET_PACKETS)
		fprintf(file, "; %llu sent again, %llu damaged, %llu lost, %llu refused, %llu doubled",
			(unsigned long long)(all.sent - all.packets), (unsigned long long)all.damaged,
			(unsigned long long)all.lost, (unsigned long long)all.refused, (unsigned long long)all.doubled);
	fputc('\n', file);
	if (net_counted(&most->count.bytes))
		fprintf(file, "busiest link: %s: %llu packets, %llu bytes\n", net_link_text(net, most, text),
			(unsigned long long)net_counted(&most->count.packets),
			(unsigned long long)net_counted(&most->count.bytes));
	report_tnis(net, file);
	if (net->settings.mode == NET_PACKETS)
		fprintf(file, "modelled: %.3f us; packets waited %.3f us for links\n",
			(double)net_counted(&net->clock) * 1e-6, (double)all.waited * 1e-6);
}
