/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages: their records, what they do at their target, acknowledgements and answers.
 *
 * A target carries out the messages of a flow in their order, as they arrive. It acknowledges all
 * that one round of work has carried out by one message for each flow. Answers are messages
 * themselves; their data is sent from the target's memory.
 */
#include "cable_inside.h"

#include <stdlib.h>
#include <string.h>

#include "comms/core/copy.h"
#include "comms/observe/counters.h"
#include "comms/ops/buffers.h"
#include "rte/rte.h"

struct cable_message *cable_message_new(enum cable_kind kind, int pe, size_t copied)
{
	struct cable_message *message = malloc(sizeof *message + copied);

	if (!message)
		rte_die(NULL, "no memory for a message to PE %d", pe);
	*message = (struct cable_message){.header = {.kind = (uint8_t)kind, .from = comms.pe, .to = pe},
					  .data = message->copy};
	return message;
}

void cable_message_free(struct cable_message *message)
{
	free(message);
}

/* --- At the sender --- */

static void lower(atomic_int *counter)
{
	if (counter)
		atomic_fetch_sub_explicit(counter, 1, memory_order_acq_rel);
}

/* The message has taken effect. */
static void end_message(struct cable_message *message)
{
	struct comms_request *request = message->request;

	lower(message->pending);
	lower(&cable_net.under_way);
	cable_message_free(message);
	if (request)
		atomic_store_explicit(&request->under_way, false, memory_order_release);
}

/*
 * The target carries out frames in order, and RDMA may write data before the target has carried out
 * the frames in front of it. So what a fence orders behind messages that are not acknowledged, or
 * behind fetches, goes the long way. Answers go to memory that nothing else is to change.
 */
bool cable_message_is_free(const struct cable_message *message)
{
	if (message->header.kind == CABLE_ANSWER)
		return message->fate == CABLE_FATE_FREED;
	return message->fate == CABLE_FATE_ACKNOWLEDGED &&
	       cable_flow_to(message->header.to, message->header.flow_last & 1)->acknowledged >= message->after &&
	       (message->after == 0 || cable_net.fetching == 0);
}

void cable_message_sent(struct cable_flow *flow, struct cable_message *message)
{
	lower(message->sent);
	message->sent = NULL;
	switch (message->fate) {
	case CABLE_FATE_ACKNOWLEDGED: cable_queue_add(&flow->unacknowledged, message); break;
	case CABLE_FATE_ANSWERED: break;
	case CABLE_FATE_FREED: cable_message_free(message); break;
	case CABLE_FATE_RELAYED:
		cable_net.relay_buffers--;
		cable_net.relay_memory -= message->header.bytes;
		if (message->origin)
			cable_return_credit(message->origin, message->class);
		cable_message_free(message);
		break;
	case CABLE_FATE_KEPT:
		flow->acknowledging = false;
		if (flow->done > message->header.value && !flow->due) {
			flow->due = true;
			flow->next_due = cable_net.due;
			cable_net.due = flow;
		}
		break;
	}
}

static void take_acknowledgement(const struct cable_header *header)
{
	struct cable_flow *flow = cable_flow_to(header->from, header->flow_last & 1);

	while (flow->acknowledged < header->value && flow->unacknowledged.first) {
		flow->acknowledged++;
		atomic_fetch_sub_explicit(&flow->outstanding, 1, memory_order_acq_rel);
		end_message(cable_queue_take(&flow->unacknowledged));
	}
}

static struct cable_message *request_of(const struct cable_header *answer)
{
	return (void *)(uintptr_t)answer->token;
}

static void take_answer(const struct cable_header *header, const char *data)
{
	struct cable_message *request = request_of(header);

	if (data && header->bytes > 0)
		comms_copy_in(request->dest + header->there, data, header->bytes);
	request->awaited -= header->bytes;
	if (request->awaited > 0)
		return;
	lower(&cable_net.awaited);
	cable_net.fetching -= request->header.kind == CABLE_FETCH;
	end_message(request);
}

/* --- At the target --- */

bool cable_acknowledge(void)
{
	bool any = cable_net.due != NULL;

	while (cable_net.due) {
		struct cable_flow *flow = cable_net.due;
		struct cable_message *answer = &flow->answer;

		cable_net.due = flow->next_due;
		flow->due = false;
		flow->acknowledging = true;
		answer->header.value = flow->done;
		cable_send(flow, answer);
	}
	return any;
}

static void make_due(int pe, int number)
{
	struct cable_flow *flow = cable_flow_to(pe, number);

	flow->done++;
	if (flow->due || flow->acknowledging) /* an acknowledgement that is queued will name it */
		return;
	if (!flow->answer.header.kind)
		flow->answer = (struct cable_message){.header = {.kind = CABLE_ACKNOWLEDGE,
								 .flow_last = (uint8_t)number,
								 .from = comms.pe,
								 .to = pe},
						      .fate = CABLE_FATE_KEPT};
	flow->due = true;
	flow->next_due = cable_net.due;
	cable_net.due = flow;
}

static uint64_t do_atomic(const struct cable_header *header)
{
	void *word = comms_memory_of_message(header->word, header->width);

	if (header->width == sizeof(uint64_t))
		return comms_amo_64(header->op, word, header->value, header->compare);
	return comms_amo_32(header->op, word, (uint32_t)header->value, (uint32_t)header->compare);
}

#define STORE_WORD(TYPE)                                                                           \
	do {                                                                                       \
		TYPE value;                                                                        \
		memcpy(&value, data, sizeof value);                                                \
		atomic_store_explicit((_Atomic TYPE *)(void *)there, value, memory_order_release); \
	} while (0)

/* Somebody may wait for a word: what was put before it is in memory then. */
static void store_data(char *there, const char *data, size_t bytes)
{
	if (bytes == 8 && comms_at_once(there, bytes))
		STORE_WORD(uint64_t);
	else if (bytes == 4 && comms_at_once(there, bytes))
		STORE_WORD(uint32_t);
	else if (bytes == 2 && comms_at_once(there, bytes))
		STORE_WORD(uint16_t);
	else
		comms_copy_in(there, data, bytes);
}

static void do_put(const struct cable_header *header, const char *data)
{
	if (data && header->bytes > 0)
		store_data(cable_frame_place(header), data, header->bytes);
	if (!header->word || !(header->flow_last & CABLE_LAST))
		return;
	if (header->op == COMMS_SWAP)
		atomic_store_explicit((_Atomic uint64_t *)comms_memory_of_message(header->word, sizeof(uint64_t)),
				      header->value, memory_order_release);
	else
		comms_amo_64(header->op, comms_memory_of_message(header->word, sizeof(uint64_t)), header->value, 0);
}

static void answer(const struct cable_header *header, const void *data, size_t bytes, bool copied)
{
	struct cable_message *message = cable_message_new(CABLE_ANSWER, header->from, copied ? bytes : 0);

	message->fate = CABLE_FATE_FREED;
	message->header.flow_last = header->flow_last & 1;
	message->header.token = header->token;
	message->header.word = header->kind == CABLE_READ ? header->word : 0;
	message->left = bytes;
	if (copied)
		comms_copy_out(message->copy, data, bytes);
	else
		message->data = data;
	cable_send(cable_flow_to(header->from, header->flow_last & 1), message);
}

static void do_read(const struct cable_header *header)
{
	const void *there = comms_memory_of_message(header->there, header->value);

	/* Words are read in one access. */
	answer(header, there, header->value, header->value <= CABLE_SHORT);
}

char *cable_frame_place(const struct cable_header *header)
{
	if (header->kind == CABLE_ANSWER)
		return request_of(header)->dest + header->there;
	return comms_memory_of_message(header->there, header->bytes);
}

/*
 * A message is counted after its effect is in memory: otherwise the sums of deadlock.c could be
 * equal before a waiter sees the effect.
 */
void cable_frame_arrived(const struct cable_header *header, const char *data)
{
	uint64_t old;

	if (COMMS_UNLIKELY(header->event) && (header->flow_last & CABLE_LAST))
		trace_arrival(header->from, header->event);
	switch ((enum cable_kind)header->kind) {
	case CABLE_PUT: do_put(header, data); break;
	case CABLE_ATOMIC: do_atomic(header); break;
	case CABLE_FETCH:
		old = do_atomic(header);
		answer(header, &old, header->width, true);
		return;
	case CABLE_READ: do_read(header); return;
	case CABLE_ANSWER: take_answer(header, data); return;
	case CABLE_ACKNOWLEDGE: take_acknowledgement(header); return;
	case CABLE_ASK_KEY: return; /* only by RDMA */
	case CABLE_KEY:
		if (cable_net.verbs)
			cable_net.verbs->take_key(header);
		return;
	}
	if (!(header->flow_last & CABLE_LAST))
		return;
	atomic_fetch_add_explicit(&cable_net.carried_out, 1, memory_order_release);
	make_due(header->from, header->flow_last & 1);
}

/* --- Between the two --- */

void cable_relay_frame(struct cable_message *message)
{
	cable_net.relay_buffers++;
	cable_net.relay_memory += message->header.bytes;
	counters_relay(message->header.bytes, cable_net.relay_buffers, cable_net.relay_memory);
	cable_send(cable_flow_to(message->header.to, 0), message);
}
