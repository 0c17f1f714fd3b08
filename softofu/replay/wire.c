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

struct door {
	struct net_address at;
	int class;
};

struct wire {
	struct net *net;
	int tnis, queues;     /* of all nodes; of a TNI: for each CQ and class */
	struct queue *queue;  /* what may go */
	int *turn, *waiting;  /* of each TNI: whose turn it is, and how many messages it has */
	struct door *doors;   /* that something goes to */
	int n_doors;
	bool *known;
	struct post **later; /* a heap by time: what may not yet */
	size_t count, room;
	uint64_t posted;
	wire_arrived *arrived;
};

static char nothing[NET_PAYLOAD];

struct net *wire_net(struct wire *wire)
{
	return wire->net;
}

struct wire *wire_open(const struct net_settings *settings, wire_arrived *arrived)
{
	struct wire *wire = replay_memory(calloc(1, sizeof *wire));
	char problem[NET_PROBLEM];
	size_t bytes = net_bytes(settings, problem);

	if (!bytes)
		replay_fail("%s", problem);
	wire->net = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (wire->net == MAP_FAILED)
		replay_fail("no memory for a network of %zu bytes", bytes);
	if (!net_create(wire->net, settings, problem))
		replay_fail("%s", problem);
	wire->tnis = settings->shape.places * settings->tnis;
	wire->queues = settings->cqs * NET_CLASSES;
	wire->queue = replay_memory(calloc((size_t)(wire->tnis * wire->queues), sizeof *wire->queue));
	wire->turn = replay_memory(calloc((size_t)wire->tnis, sizeof *wire->turn));
	wire->waiting = replay_memory(calloc((size_t)wire->tnis, sizeof *wire->waiting));
	wire->known = replay_memory(calloc((size_t)(wire->tnis * wire->queues), sizeof *wire->known));
	wire->doors = replay_memory(calloc((size_t)(wire->tnis * wire->queues), sizeof *wire->doors));
	wire->arrived = arrived;
	return wire;
}

/* --- What may not go yet --- */

/* Of equal times, in the order of posting. */
static bool is_later(const struct post *one, const struct post *other)
{
	if (one->message.time != other->message.time)
		return one->message.time > other->message.time;
	return one->order > other->order;
}

void wire_post(struct wire *wire, const struct net_message *message, uint64_t tag)
{
	struct post *post = replay_memory(calloc(1, sizeof *post));
	size_t at = wire->count++;

	post->message = *message;
	post->tag = tag;
	post->order = wire->posted++;
	memcpy(post->message.note, &tag, sizeof tag);
	if (at == wire->room) {
		wire->room = 2 * wire->room + 64;
		wire->later = replay_memory(realloc(wire->later, wire->room * sizeof *wire->later));
	}
	for (; at > 0 && is_later(wire->later[(at - 1) / 2], post); at = (at - 1) / 2)
		wire->later[at] = wire->later[(at - 1) / 2];
	wire->later[at] = post;
}

static struct post *take_earliest(struct wire *wire)
{
	struct post *first = wire->later[0], *last = wire->later[--wire->count];
	size_t at = 0, below;

	while ((below = 2 * at + 1) < wire->count) {
		if (below + 1 < wire->count && is_later(wire->later[below], wire->later[below + 1]))
			below++;
		if (is_later(wire->later[below], last))
			break;
		wire->later[at] = wire->later[below];
		at = below;
	}
	if (wire->count > 0)
		wire->later[at] = last;
	return first;
}

/* --- What may --- */

static int tni_of(const struct wire *wire, const struct net_address *at)
{
	return at->node * net_settings(wire->net)->tnis + at->tni;
}

/* A packet of a queue's first message. The message ends there for the network, but not for its sender. */
static bool send_packet(struct wire *wire, struct queue *queue)
{
	struct post *post = queue->first;
	struct net_message part = post->message;
	uint64_t left = part.bytes - post->done, done = 0;
	bool ends = left <= NET_PAYLOAD;

	part.bytes = (uint32_t)(ends ? left : NET_PAYLOAD);
	part.note[NET_NOTE - 1] = ends;
	if (net_inject(wire->net, &part, nothing, &done) != 1)
		return false;
	post->done += part.bytes;
	if (ends) {
		queue->first = post->next;
		wire->waiting[tni_of(wire, &post->message.from)]--;
		free(post);
	}
	return true;
}

static void know_door(struct wire *wire, const struct net_message *message)
{
	int number = tni_of(wire, &message->to) * wire->queues + message->to.cq * NET_CLASSES + (int)message->class;

	if (!wire->known[number])
		wire->doors[wire->n_doors++] = (struct door){message->to, (int)message->class};
	wire->known[number] = true;
}

static void send_some(struct wire *wire, int tni)
{
	while (wire->waiting[tni] > 0) {
		struct queue *queue = &wire->queue[tni * wire->queues + wire->turn[tni]];

		if (queue->first && !send_packet(wire, queue))
			return;
		wire->turn[tni] = (wire->turn[tni] + 1) % wire->queues;
	}
}

static void let_go(struct wire *wire, struct post *post)
{
	int tni = tni_of(wire, &post->message.from);
	struct queue *queue = &wire->queue[tni * wire->queues + post->message.from.cq * NET_CLASSES + (int)post->message.class];

	if (!queue->first)
		queue->end = &queue->first;
	*queue->end = post;
	queue->end = &post->next;
	wire->waiting[tni]++;
	know_door(wire, &post->message);
	send_some(wire, tni);
}

/* --- What comes --- */

static bool taker(void *context, const struct net_packet *packet, const void *data)
{
	struct wire *wire = context;
	uint64_t tag;

	(void)data;
	memcpy(&tag, packet->note, sizeof tag);
	if (packet->note[NET_NOTE - 1])
		wire->arrived(tag, packet->tail);
	return true;
}

static void take_all(struct wire *wire)
{
	for (int d = 0; d < wire->n_doors; d++)
		while (net_waiting(wire->net, &wire->doors[d].at, wire->doors[d].class))
			net_take(wire->net, &wire->doors[d].at, wire->doors[d].class, 8, taker, wire);
}

static int64_t next_due(struct net *net)
{
	const int32_t *seats = net_part(net, net->agenda);

	return atomic_load_explicit(&net->agenda_length, memory_order_relaxed) > 0 ? net_port(net, seats[1])->due
										   : NET_NEVER;
}

bool wire_step(struct wire *wire)
{
	if (wire->count > 0 && wire->later[0]->message.time <= next_due(wire->net)) {
		let_go(wire, take_earliest(wire));
		return true;
	}
	if (net_step(wire->net, 1) <= 0)
		return false;
	take_all(wire);
	for (int t = 0; t < wire->tnis; t++)
		send_some(wire, t);
	return true;
}
