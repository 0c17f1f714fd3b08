/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/tests/flows.h"

#include <stdlib.h>
#include <string.h>

#include "softofu/tests/traffic.h"

enum { CQS = 4 };

struct post {
	struct post *next;
	struct net_message message;
	uint64_t done;
};

/* Pending messages of a CQ, in order. */
struct queue {
	struct post *first, *last;
};

struct flows {
	struct net *net;
	int nodes, tnis;
	struct queue *queues; /* of each TNI, of each CQ */
	int *next_cq;	      /* of each TNI: the CQ to serve next */
	flows_arrived *arrived;
	void *context;
	uint64_t posted, came;
	char data[NET_PAYLOAD];
};

struct flows *flows_start(const char *shape, const char *list, flows_arrived *arrived, void *context)
{
	struct flows *flows = calloc(1, sizeof *flows);
	struct net_settings settings;
	char problem[NET_PROBLEM] = "no memory";

	net_settings_default(&settings);
	settings.cqs = CQS;
	if (!flows || !net_settings_set(&settings, "shape", shape, problem) ||
	    !net_settings_read(&settings, list, problem) || !(flows->net = traffic_network(&settings, problem))) {
		fprintf(stderr, "%s %s: %s\n", shape, list, problem);
		exit(1);
	}
	flows->nodes = settings.shape.places;
	flows->tnis = settings.tnis;
	flows->queues = calloc((size_t)(flows->nodes * flows->tnis * CQS), sizeof *flows->queues);
	flows->next_cq = calloc((size_t)(flows->nodes * flows->tnis), sizeof *flows->next_cq);
	flows->arrived = arrived;
	flows->context = context;
	if (!flows->queues || !flows->next_cq)
		exit(1);
	return flows;
}

struct net *flows_net(struct flows *flows)
{
	return flows->net;
}

void flows_post(struct flows *flows, const struct flows_message *message)
{
	int tni = message->from * flows->tnis + message->from_tni;
	struct queue *queue = &flows->queues[tni * CQS + message->from_cq];
	struct post *post = calloc(1, sizeof *post);

	if (!post)
		exit(1);
	post->message = (struct net_message){.from = {message->from, message->from_tni, message->from_cq},
					     .to = {message->to, message->to_tni, 0},
					     .bytes = message->bytes,
					     .time = message->time};
	memcpy(post->message.note, &message->tag, sizeof message->tag);
	if (queue->first)
		queue->last->next = post;
	else
		queue->first = post;
	queue->last = post;
	flows->posted++;
}

uint64_t flows_tag(const struct net_packet *packet)
{
	uint64_t tag;

	memcpy(&tag, packet->note, sizeof tag);
	return tag;
}

/*
 * A packet of a CQ's first message. The message ends there for the network, but not for its sender.
 */
static bool send_packet(struct flows *flows, struct queue *queue)
{
	struct post *post = queue->first;
	struct net_message part = post->message;
	uint64_t left = part.bytes - post->done, done = 0;
	bool ends = left <= NET_PAYLOAD;

	part.bytes = (uint32_t)(ends ? left : NET_PAYLOAD);
	part.note[NET_NOTE - 1] = ends;
	if (net_inject(flows->net, &part, flows->data, &done) != 1)
		return false;
	post->done += part.bytes;
	if (ends) {
		queue->first = post->next;
		free(post);
	}
	return true;
}

/* Sends as much as there is room for, a packet of each CQ in order. */
static bool send_some(struct flows *flows, int tni)
{
	bool moved = false;

	for (int idle = 0; idle < CQS; idle++) {
		struct queue *queue = &flows->queues[tni * CQS + flows->next_cq[tni]];

		if (queue->first) {
			if (!send_packet(flows, queue))
				break;
			moved = true;
			idle = -1;
		}
		flows->next_cq[tni] = (flows->next_cq[tni] + 1) % CQS;
	}
	return moved;
}

static bool flow_arrived(void *context, const struct net_packet *packet, const void *data)
{
	struct flows *flows = context;

	(void)data;
	if (packet->note[NET_NOTE - 1]) {
		flows->came++;
		if (flows->arrived)
			flows->arrived(flows, packet, flows->context);
	}
	return true;
}

static bool move(struct flows *flows)
{
	bool moved = false;

	for (int t = 0; t < flows->nodes * flows->tnis; t++) {
		struct net_address at = {t / flows->tnis, t % flows->tnis, 0};

		while (net_waiting(flows->net, &at, NET_REQUEST))
			moved = net_take(flows->net, &at, NET_REQUEST, 8, flow_arrived, flows) > 0;
		moved = send_some(flows, t) || moved;
	}
	return net_step(flows->net, flows->nodes) > 0 || moved;
}

double flows_finish(struct flows *flows)
{
	while (move(flows))
		;
	if (net_trouble(flows->net) || flows->came != flows->posted)
		return -1;
	return (double)net_clock(flows->net) * 1e-3;
}

void flows_free(struct flows *flows)
{
	traffic_free(flows->net);
	free(flows->queues);
	free(flows->next_cq);
	free(flows);
}
