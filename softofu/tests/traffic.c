/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/tests/traffic.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* The note of every packet of a message. */
struct label {
	uint64_t number;  /* in its flow */
	uint64_t pattern; /* where the bytes begin in the pattern */
};

/* A message that a TNI is just sending. */
struct post {
	struct net_message message;
	uint64_t done;
	bool busy;
};

struct flow {
	/* Messages sent, messages of which something came, bytes that came of the last. */
	uint64_t sent, begun, offset;
	bool open; /* its last packet has not arrived */
};

struct state {
	struct traffic *traffic;
	struct net *net;
	const struct net_settings *settings;
	int nodes, tnis;
	struct post *posts;
	struct flow *flows;
	unsigned char *pattern; /* bytes that do not repeat within a message */
	uint64_t random_state;
};

enum { PATTERN = 1 << 16 };

static uint64_t draw(struct state *state, uint64_t below)
{
	state->random_state ^= state->random_state << 13;
	state->random_state ^= state->random_state >> 7;
	state->random_state ^= state->random_state << 17;
	return (state->random_state >> 11) % below;
}

struct net *traffic_network(const struct net_settings *settings, char problem[NET_PROBLEM])
{
	size_t bytes = net_bytes(settings, problem);
	struct net *net;

	if (!bytes)
		return NULL;
	net = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (net == MAP_FAILED) {
		snprintf(problem, NET_PROBLEM, "no memory for a network of %zu bytes", bytes);
		return NULL;
	}
	if (net_create(net, settings, problem))
		return net;
	munmap(net, bytes);
	return NULL;
}

void traffic_free(struct net *net)
{
	char problem[NET_PROBLEM];
	size_t bytes = net_bytes(net_settings(net), problem);

	net_destroy(net);
	munmap(net, bytes);
}

static size_t flow_count(const struct state *state)
{
	size_t tnis = (size_t)(state->nodes * state->tnis);

	return tnis * tnis * (size_t)state->settings->cqs * NET_CLASSES;
}

/* The flow from a TNI to a receive queue. */
static struct flow *flow_of(struct state *state, const struct net_address *from, const struct net_address *to,
			    int class)
{
	size_t tnis = (size_t)state->tnis, number = (size_t)from->node * tnis + (size_t)from->tni;

	number = (number * (size_t)state->nodes + (size_t)to->node) * tnis + (size_t)to->tni;
	return &state->flows[(number * (size_t)state->settings->cqs + (size_t)to->cq) * NET_CLASSES + (size_t) class];
}

/* --- Sending --- */

static void compose(struct state *state, struct post *post, int node, int tni, int class)
{
	struct net_message *message = &post->message;
	struct label label;

	memset(message, 0, sizeof *message);
	message->from = (struct net_address){node, tni, (int)draw(state, (uint64_t)state->settings->cqs)};
	message->to =
		(struct net_address){(int)draw(state, (uint64_t)state->nodes), (int)draw(state, (uint64_t)state->tnis),
				     (int)draw(state, (uint64_t)state->settings->cqs)};
	message->class = class ? NET_REPLY : NET_REQUEST;
	message->bytes = (uint32_t)draw(state, draw(state, 16) ? 65 : (uint64_t)state->traffic->largest + 1);
	label.number = flow_of(state, &(struct net_address){node, tni, 0}, &message->to, class)->sent++;
	label.pattern = draw(state, PATTERN - (uint64_t)state->traffic->largest);
	memcpy(message->note, &label, sizeof label);
	post->done = 0;
	post->busy = true;
	state->traffic->messages++;
	state->traffic->sent += message->bytes ? (message->bytes + NET_PAYLOAD - 1) / NET_PAYLOAD : 1;
	state->traffic->bytes += message->bytes;
}

/* Returns whether anything went in. */
static bool send_some(struct state *state)
{
	bool moved = false;

	for (int p = 0; p < state->nodes * state->tnis * NET_CLASSES; p++) {
		struct post *post = &state->posts[p];
		uint64_t before = post->done;
		struct label label;
		int sent;

		if (!post->busy) {
			if (state->traffic->sent >= state->traffic->packets)
				continue;
			compose(state, post, p / NET_CLASSES / state->tnis, p / NET_CLASSES % state->tnis,
				p % NET_CLASSES);
			before = 0;
		}
		memcpy(&label, post->message.note, sizeof label);
		sent = net_inject(state->net, &post->message, state->pattern + label.pattern + post->done, &post->done);
		post->busy = sent != 1;
		moved = moved || sent == 1 || post->done > before;
	}
	return moved;
}

/* --- Taking --- */

static bool check_packet(void *context, const struct net_packet *packet, const void *data)
{
	struct state *state = context;
	struct traffic *traffic = state->traffic;
	int class = packet->channel / NET_LANES;
	struct net_address from = {(int)packet->from, packet->from_tni, packet->from_cq};
	struct net_address to = {(int)packet->to, packet->to_tni, packet->to_cq};
	struct flow *flow = flow_of(state, &from, &to, class);
	struct label label;

	if (class == NET_REQUEST && traffic->shy && draw(state, 8) == 0)
		return false;
	memcpy(&label, packet->note, sizeof label);
	if (packet->offset == 0 && !flow->open) {
		if (label.number != flow->begun)
			traffic->fault =
				label.number < flow->begun ? "a message came twice" : "a message was overtaken";
		flow->begun++;
		flow->offset = 0;
		flow->open = true;
	}
	if (label.number + 1 != flow->begun || packet->offset != flow->offset)
		traffic->fault = "a packet came twice, or was overtaken";
	if (label.pattern + packet->offset + packet->length > PATTERN ||
	    memcmp(data, state->pattern + label.pattern + packet->offset, packet->length) != 0)
		traffic->fault = "the bytes are not those that were sent";
	flow->offset += packet->length;
	if (packet->last) {
		if (flow->offset != packet->bytes)
			traffic->fault = "a message came without its end";
		flow->open = false;
	}
	traffic->arrived++;
	return true;
}

static bool take_some(struct state *state, bool all)
{
	bool moved = false;

	for (int node = 0; node < state->nodes; node++)
		for (int tni = 0; tni < state->tnis; tni++)
			for (int cq = 0; cq < state->settings->cqs; cq++)
				for (int class = 0; class < NET_CLASSES; class ++) {
					struct net_address at = {node, tni, cq};

					if (!net_waiting(state->net, &at, class))
						continue;
					if (class == NET_REQUEST && !all && draw(state, 4) == 0)
						continue;
					moved = net_take(state->net, &at, class, 64, check_packet, state) > 0 || moved;
				}
	return moved;
}

static bool has_waiting(struct state *state)
{
	for (int a = 0; a < state->nodes * state->tnis * state->settings->cqs; a++) {
		struct net_address at = {a / state->settings->cqs / state->tnis, a / state->settings->cqs % state->tnis,
					 a % state->settings->cqs};

		if (net_waiting(state->net, &at, NET_REQUEST) || net_waiting(state->net, &at, NET_REPLY))
			return true;
	}
	return false;
}

/* Runs until everything has arrived, or nothing moves although all receivers take packets. */
static void run(struct state *state)
{
	struct traffic *traffic = state->traffic;

	while (!traffic->fault && !net_trouble(state->net)) {
		bool moved = send_some(state);
		int steps = net_step(state->net, 512 + (int)draw(state, 2048));

		moved = take_some(state, false) || moved || steps > 0;
		if (moved || take_some(state, true) || has_waiting(state))
			continue;
		if (traffic->arrived < traffic->sent && !net_trouble(state->net)) {
			traffic->stuck = true;
			traffic->cycle = net_find_cycle(state->net, traffic->text, sizeof traffic->text);
		}
		break;
	}
}

bool traffic_run(struct traffic *traffic, struct net *net)
{
	const struct net_settings *settings = net_settings(net);
	struct state state = {traffic,
			      net,
			      settings,
			      settings->shape.places,
			      settings->tnis,
			      NULL,
			      NULL,
			      NULL,
			      88172645463325252 ^ traffic->seed << 20};
	size_t tnis = (size_t)(state.nodes * state.tnis);

	state.posts = calloc(tnis * NET_CLASSES, sizeof *state.posts);
	state.flows = calloc(flow_count(&state), sizeof *state.flows);
	state.pattern = malloc(PATTERN);
	traffic->fault = "no memory";
	if (state.posts && state.flows && state.pattern) {
		traffic->fault = NULL;
		for (int i = 0; i < PATTERN; i++)
			state.pattern[i] = (unsigned char)draw(&state, 256);
		run(&state);
		for (size_t f = 0; f < flow_count(&state) && !traffic->stuck && !traffic->fault && !net_trouble(net);
		     f++)
			if (state.flows[f].sent != state.flows[f].begun || state.flows[f].open)
				traffic->fault = "a message was lost";
	}
	free(state.posts);
	free(state.flows);
	free(state.pattern);
	return !traffic->fault && !traffic->stuck && !net_trouble(net) && traffic->arrived == traffic->sent;
}
