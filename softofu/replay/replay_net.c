/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "softofu/net/state.h"
#include "softofu/replay/replay.h"

struct post {
	struct post *next;
	struct net_message message;
	uint64_t tag, done, order; /* order: of posting */
};

struct queue {
	struct post *first, **end;
};

struct receive_queue {
	struct net_address at;
	int class, next; /* of its node; -1: none */
};

struct replay_net {
	struct net *net;
	size_t bytes; /* of it */
	/* Of all nodes; of a TNI: one for each CQ and class. */
	int tnis, queues;
	struct queue *queue; /* messages that are due */
	/* Of each TNI: the queue to serve next, and its number of messages. */
	int *next_queue, *waiting;
	struct receive_queue *receive_queues; /* targets of messages */
	int n_receive_queues;
	int *first_of_node; /* receive queue of each node; -1: none */
	bool *known;
	struct post **later; /* messages that are not due yet, a heap by time */
	size_t count, room;
	uint64_t posted;
	replay_net_arrived *arrived;
};

static char nothing[NET_PAYLOAD];

struct net *replay_net_state(struct replay_net *network)
{
	return network->net;
}

struct replay_net *replay_net_open(const struct net_settings *settings, replay_net_arrived *arrived)
{
	struct replay_net *network = replay_memory(calloc(1, sizeof *network));
	char problem[NET_PROBLEM];
	size_t bytes = net_bytes(settings, problem);

	if (!bytes)
		replay_fail("%s", problem);
	network->net = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	network->bytes = bytes;
	if (network->net == MAP_FAILED)
		replay_fail("no memory for a network of %zu bytes", bytes);
	if (!net_create(network->net, settings, problem))
		replay_fail("%s", problem);
	network->tnis = settings->shape.places * settings->tnis;
	network->queues = settings->cqs * NET_CLASSES;
	network->queue = replay_memory(calloc((size_t)network->tnis * (size_t)network->queues, sizeof *network->queue));
	network->next_queue = replay_memory(calloc((size_t)network->tnis, sizeof *network->next_queue));
	network->waiting = replay_memory(calloc((size_t)network->tnis, sizeof *network->waiting));
	network->known = replay_memory(calloc((size_t)network->tnis * (size_t)network->queues, sizeof *network->known));
	network->receive_queues =
		replay_memory(calloc((size_t)network->tnis * (size_t)network->queues, sizeof *network->receive_queues));
	network->first_of_node = replay_memory(malloc((size_t)settings->shape.places * sizeof *network->first_of_node));
	for (int node = 0; node < settings->shape.places; node++)
		network->first_of_node[node] = -1;
	network->arrived = arrived;
	return network;
}

void replay_net_close(struct replay_net *network)
{
	munmap(network->net, network->bytes);
	free(network->queue);
	free(network->next_queue);
	free(network->waiting);
	free(network->known);
	free(network->receive_queues);
	free(network->first_of_node);
	free(network->later);
	free(network);
}

/* --- Messages that are not due yet --- */

/* Messages of equal times keep the order of posting. */
static bool is_later(const struct post *one, const struct post *other)
{
	if (one->message.time != other->message.time)
		return one->message.time > other->message.time;
	return one->order > other->order;
}

void replay_net_post(struct replay_net *network, const struct net_message *message, uint64_t tag)
{
	struct post *post = replay_memory(calloc(1, sizeof *post));
	size_t at = network->count++;

	post->message = *message;
	post->tag = tag;
	post->order = network->posted++;
	memcpy(post->message.note, &tag, sizeof tag);
	if (at == network->room) {
		network->room = 2 * network->room + 64;
		network->later = replay_memory(realloc(network->later, network->room * sizeof *network->later));
	}
	for (; at > 0 && is_later(network->later[(at - 1) / 2], post); at = (at - 1) / 2)
		network->later[at] = network->later[(at - 1) / 2];
	network->later[at] = post;
}

static struct post *take_earliest(struct replay_net *network)
{
	struct post *first = network->later[0], *last = network->later[--network->count];
	size_t at = 0, below;

	while ((below = 2 * at + 1) < network->count) {
		if (below + 1 < network->count && is_later(network->later[below], network->later[below + 1]))
			below++;
		if (is_later(network->later[below], last))
			break;
		network->later[at] = network->later[below];
		at = below;
	}
	if (network->count > 0)
		network->later[at] = last;
	return first;
}

/* --- Due messages --- */

static int tni_of(const struct replay_net *network, const struct net_address *at)
{
	return at->node * net_settings(network->net)->tnis + at->tni;
}

/* Sends a packet of the first message of a queue, as a message of its own. */
static bool send_one_packet(struct replay_net *network, struct queue *queue)
{
	struct post *post = queue->first;
	struct net_message part = post->message;
	uint64_t left = part.bytes - post->done, done = 0;
	bool ends = left <= NET_PAYLOAD;

	part.bytes = (uint32_t)(ends ? left : NET_PAYLOAD);
	part.note[NET_NOTE - 1] = ends;
	if (net_inject(network->net, &part, nothing, &done) != 1)
		return false;
	post->done += part.bytes;
	if (ends) {
		queue->first = post->next;
		network->waiting[tni_of(network, &post->message.from)]--;
		free(post);
	}
	return true;
}

static void know_receive_queue(struct replay_net *network, const struct net_message *message)
{
	int number =
		tni_of(network, &message->to) * network->queues + message->to.cq * NET_CLASSES + (int)message->class;

	if (network->known[number])
		return;
	network->known[number] = true;
	network->receive_queues[network->n_receive_queues] =
		(struct receive_queue){message->to, (int)message->class, network->first_of_node[message->to.node]};
	network->first_of_node[message->to.node] = network->n_receive_queues++;
}

static void send_waiting(struct replay_net *network, int tni)
{
	while (network->waiting[tni] > 0) {
		struct queue *queue = &network->queue[tni * network->queues + network->next_queue[tni]];

		if (queue->first && !send_one_packet(network, queue))
			return;
		network->next_queue[tni] = (network->next_queue[tni] + 1) % network->queues;
	}
}

static void release_post(struct replay_net *network, struct post *post)
{
	int tni = tni_of(network, &post->message.from);
	struct queue *queue =
		&network->queue[tni * network->queues + post->message.from.cq * NET_CLASSES + (int)post->message.class];

	if (!queue->first)
		queue->end = &queue->first;
	*queue->end = post;
	queue->end = &post->next;
	network->waiting[tni]++;
	know_receive_queue(network, &post->message);
	send_waiting(network, tni);
}

/* --- Arrivals --- */

static bool packet_arrived(void *context, const struct net_packet *packet, const void *data)
{
	struct replay_net *network = context;
	uint64_t tag;

	(void)data;
	memcpy(&tag, packet->note, sizeof tag);
	if (packet->note[NET_NOTE - 1])
		network->arrived(tag, packet->tail);
	return true;
}

static void take_all(struct replay_net *network, int node)
{
	for (int d = network->first_of_node[node]; d >= 0; d = network->receive_queues[d].next)
		while (net_waiting(network->net, &network->receive_queues[d].at, network->receive_queues[d].class))
			net_take(network->net, &network->receive_queues[d].at, network->receive_queues[d].class, 8,
				 packet_arrived, network);
}

/* The port that is due next; -1: none. */
static int32_t next_port(struct net *net)
{
	const int32_t *seats = net_part(net, net->agenda);

	return atomic_load_explicit(&net->agenda_length, memory_order_relaxed) > 0 ? seats[1] : -1;
}

/* What a port does fills receive queues and empties queues of TNIs at its own node alone. */
bool replay_net_step(struct replay_net *network)
{
	int32_t port = next_port(network->net);
	int tnis = net_settings(network->net)->tnis, node;

	if (network->count > 0 &&
	    network->later[0]->message.time <= (port < 0 ? NET_NEVER : net_port(network->net, port)->due)) {
		release_post(network, take_earliest(network));
		return true;
	}
	if (net_step(network->net, 1) <= 0)
		return false;
	node = port / network->net->ports;
	take_all(network, node);
	for (int t = 0; t < tnis; t++)
		send_waiting(network, node * tnis + t);
	return true;
}
