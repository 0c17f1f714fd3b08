/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neighbour exchange: messages in parts. The sender starts a list of commands that puts the
 * segments of its parts to the first node of each detour. Repeating lists on the nodes there put
 * each segment on as it arrives; the last node puts it to the slot. The library does that after any
 * arrival, also while the program computes.
 *
 * A part has memory for each slot, and the receiver releases a message only when all its parts have
 * arrived, and so have passed all nodes: this memory is free when the slot is.
 */
#include "exchange.h"

#include <stdlib.h>

#include "comms/nodes/job_torus.h"
#include "comms/wait/wait.h"

/* The number of increments of a word by this many segments, which use the words in turn. */
static int64_t word_counts(int segments, int word)
{
	return (segments + SEGMENT_WORDS - 1 - word) / SEGMENT_WORDS;
}

/* One hop of the parts in a slot. */
struct part_hop {
	const struct torus_detour *detour;
	/* From: words that show arrivals; NULL: the data is already here. */
	struct part_words *from, *to;
	int slot, pe;
	bool second_cable;
	const char *source;
	char *dest;
};

static void add_commands(struct comms_list *list, const struct part_hop *hop)
{
	struct comms_queue *queue = comms_list_queue(list);
	int segments = torus_detour_segments(hop->detour);

	for (int i = 0; i < segments; i++) {
		int word = i % SEGMENT_WORDS;
		size_t at = (size_t)i * hop->detour->segment, left = hop->detour->bytes - at;
		struct comms_iteration count = {word_counts(segments, word), i / SEGMENT_WORDS + 1};

		comms_queue_add(queue, &(struct comms_command){
					       .kind = COMMS_PUT,
					       .pe = hop->pe,
					       .until = hop->from ? &hop->from->came[hop->slot][word] : NULL,
					       .when = count,
					       .word = &hop->to->came[hop->slot][word],
					       .notified = count,
					       .second_cable = hop->second_cable,
					       .dest = hop->dest + at,
					       .source = hop->source + at,
					       .size = left < hop->detour->segment ? left : hop->detour->segment,
				       });
	}
}

static struct part_words *words_at(const struct shmemx_exchange *x, int d, int hop)
{
	return (struct part_words *)(x->block + x->plan->place[d][hop].at);
}

static char *room_at(const struct shmemx_exchange *x, int d, int hop, int slot)
{
	size_t each = (x->plan->found.detour[d].bytes + LINE - 1) / LINE * LINE;

	return (char *)(words_at(x, d, hop) + 1) + (size_t)slot * each;
}

/* The final address of the part, as seen here. */
static char *part_in_slot(const struct shmemx_exchange *x, int d, int slot)
{
	const struct torus_detour *detour = &x->plan->found.detour[d];
	const struct published_edge *to = &x->plan->to[detour->message];

	return x->block + to->slots + (size_t)slot * exchange_slot_size(to->receive_bytes) +
	       exchange_payload_at(to->receive_bytes) + detour->at;
}

static void complete_hop(const struct shmemx_exchange *x, int d, int hop, struct part_hop *h)
{
	bool last = hop + 1 == x->plan->found.detour[d].hops;

	h->detour = &x->plan->found.detour[d];
	h->to = words_at(x, d, hop);
	h->pe = x->plan->place[d][hop].pe;
	h->second_cable = torus_is_second_cable(&comms_ensure_torus()->sites.shape, h->detour->direction[hop]);
	h->dest = last ? part_in_slot(x, d, h->slot) : room_at(x, d, hop, h->slot);
}

static struct comms_list *take_list(const char *routine)
{
	struct comms_list *list = comms_list_take(routine);

	if (!list)
		rte_die(routine, "no command list is left; destroy other exchanges, or set SHMEM_EXCHANGE_DETOURS=no");
	return list;
}

static void begin_sending(struct shmemx_exchange *x, int d, const char *routine)
{
	const struct torus_detour *detour = &x->plan->found.detour[d];
	struct edge *edge = &x->edges[x->plan->to[detour->message].edge];

	for (int s = 0; s < SLOTS; s++) {
		struct part_hop hop = {.slot = s, .source = (char *)edge->out[s] + edge->payload + detour->at};

		if (!edge->parts[s]) {
			edge->parts[s] = take_list(routine);
			edge->direct = detour->at;
		}
		complete_hop(x, d, 0, &hop);
		add_commands(edge->parts[s], &hop);
	}
}

static void begin_handing_on(struct shmemx_exchange *x, int d, int hop, const char *routine)
{
	for (int s = 0; s < SLOTS; s++) {
		struct comms_list *list = take_list(routine);
		struct part_hop h = {.from = words_at(x, d, hop), .slot = s, .source = room_at(x, d, hop, s)};

		complete_hop(x, d, hop + 1, &h);
		add_commands(list, &h);
		list->repeats = true;
		x->plan->relays[x->plan->n_relays++] = list;
		comms_list_start(list);
	}
}

static void begin_receiving(struct shmemx_exchange *x, int d)
{
	const struct torus_detour *detour = &x->plan->found.detour[d];
	struct edge *edge = &x->edges[x->plan->from[detour->message].edge];

	edge->in_part[edge->in_parts++] =
		(struct part_in){words_at(x, d, detour->hops - 1), torus_detour_segments(detour)};
}

void exchange_begin_parts(struct shmemx_exchange *x, const char *routine)
{
	struct detour_plan *plan = x->plan;

	plan->relays = calloc((size_t)plan->found.count * TORUS_DETOUR_HOPS * SLOTS, sizeof(struct comms_list *));
	if (!plan->relays)
		rte_die(routine, "no memory for %d detours", plan->found.count);
	for (int d = 0; d < plan->found.count; d++) {
		const struct torus_detour *detour = &plan->found.detour[d];

		if (plan->to[detour->message].pe == comms.pe)
			begin_sending(x, d, routine);
		for (int hop = 0; hop + 1 < detour->hops; hop++)
			if (plan->place[d][hop].pe == comms.pe)
				begin_handing_on(x, d, hop, routine);
		if (plan->from[detour->message].pe == comms.pe)
			begin_receiving(x, d);
	}
}

/* --- Receiving --- */

static bool parts_have_come(const struct edge *edge, int slot)
{
	for (int i = 0; i < edge->in_parts; i++)
		for (int word = 0; word < SEGMENT_WORDS; word++) {
			const struct part_in *part = &edge->in_part[i];
			uint64_t counts = (uint64_t)word_counts(part->segments, word);

			if (atomic_load_explicit(&part->words->came[slot][word], memory_order_acquire) <
			    (edge->parted[slot] + 1) * counts)
				return false;
		}
	return true;
}

bool exchange_parts_have_come(const struct edge *edge)
{
	return parts_have_come(edge, (int)((edge->waited + 1) % SLOTS));
}

void exchange_await_parts(const struct shmemx_exchange *x)
{
	for (int i = 0; i < x->n_edges; i++)
		for (uint64_t number = x->edges[i].waited + 1; number <= x->edges[i].waited + SLOTS; number++) {
			const struct edge *edge = &x->edges[i];
			const struct message *message = edge->in[number % SLOTS];

			if (edge->receive_bytes > 0 &&
			    atomic_load_explicit(&message->number, memory_order_acquire) == number &&
			    exchange_is_parted(message))
				COMMS_WAIT(COMMS_ANYWHERE, parts_have_come(edge, (int)(number % SLOTS)));
		}
}

/* --- The end --- */

void exchange_end_parts(struct shmemx_exchange *x)
{
	for (int i = 0; i < x->plan->n_relays; i++) {
		comms_list_stop(x->plan->relays[i]);
		comms_list_return(x->plan->relays[i]);
	}
	for (int i = 0; i < x->n_edges; i++)
		for (int s = 0; s < SLOTS; s++)
			if (x->edges[i].parts[s])
				comms_list_return(x->edges[i].parts[s]);
	exchange_forget_detours(x);
}
