/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/tests/worker.h"

#include <sched.h>
#include <string.h>

static uint32_t draw(struct worker *worker, uint32_t below)
{
	worker->random_state ^= worker->random_state << 13;
	worker->random_state ^= worker->random_state >> 7;
	worker->random_state ^= worker->random_state << 17;
	return (uint32_t)((worker->random_state >> 11) % below);
}

static void compose(struct worker *worker)
{
	int nodes = net_settings(worker->net)->shape.places, from;
	uint32_t label[2] = {(uint32_t)(WORKER_MESSAGES - worker->left), draw(worker, WORKER_PATTERN - WORKER_LARGEST)};

	do
		from = (int)draw(worker, (uint32_t)nodes);
	while (worker->owner[from] != worker->me);
	worker->message = (struct net_message){
		.from = {from, 0, 0},
		.to = {(int)draw(worker, (uint32_t)nodes), 1, worker->me},
		.class = draw(worker, 2) ? NET_REPLY : NET_REQUEST,
		.bytes = draw(worker, draw(worker, 8) ? 40 : WORKER_LARGEST),
	};
	memcpy(worker->message.note, label, sizeof label);
	worker->done = 0;
}

static bool worker_receives(void *context, const struct net_packet *packet, const void *data)
{
	struct worker *worker = context;
	uint32_t label[2];

	memcpy(label, packet->note, sizeof label);
	if (worker->owner[packet->to] != worker->me || worker->owner[packet->from] != packet->to_cq ||
	    label[0] > WORKER_MESSAGES || label[1] + packet->offset + packet->length > WORKER_PATTERN ||
	    memcmp(data, worker->pattern + label[1] + packet->offset, packet->length) != 0)
		worker->board->faults++;
	worker->board->arrived++;
	return true;
}

static bool take_at(struct worker *worker, int node)
{
	bool moved = false;

	for (int cq = 0; cq < WORKERS; cq++)
		for (int class = 0; class < NET_CLASSES; class ++) {
			struct net_address at = {node, 1, cq};

			if (net_waiting(worker->net, &at, class))
				moved = net_take(worker->net, &at, class, 16, worker_receives, worker) > 0 || moved;
		}
	return moved;
}

static bool move(struct worker *worker)
{
	bool moved = net_step(worker->net, 64) > 0;

	if (worker->wires)
		moved = net_wires_move(worker->wires) > 0 || moved;

	if (worker->left > 0) {
		uint64_t before = worker->done;
		int sent = net_inject(worker->net, &worker->message,
				      worker->pattern + ((uint32_t *)(void *)worker->message.note)[1] + before,
				      &worker->done);

		if (sent == 1) {
			worker->board->sent +=
				worker->message.bytes ? (worker->message.bytes + NET_PAYLOAD - 1) / NET_PAYLOAD : 1;
			if (--worker->left == 0)
				worker->board->senders--;
			else
				compose(worker);
		}
		moved = moved || sent == 1 || worker->done > before;
	}
	for (int node = 0; node < net_settings(worker->net)->shape.places; node++)
		if (worker->owner[node] == worker->me)
			moved = take_at(worker, node) || moved;
	return moved;
}

void worker_run(struct worker *worker)
{
	struct worker_board *board = worker->board;

	for (int i = 0; i < WORKER_PATTERN; i++)
		worker->pattern[i] = (unsigned char)(i * 7 + i / 251);
	worker->random_state = 88172645463325252 + (uint64_t)worker->me * 1000003;
	worker->left = WORKER_MESSAGES;
	compose(worker);
	while (!net_trouble(worker->net) && (board->senders > 0 || board->arrived < board->sent))
		if (!move(worker))
			sched_yield();
}
