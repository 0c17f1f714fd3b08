/* SPDX-License-Identifier: BSD-3-Clause */
#include "carry.h"

#include <string.h>

#include "comms/core/copy.h"
#include "comms/core/globals.h"
#include "comms/core/awaited.h"
#include "comms/core/near.h"
#include "comms/core/network.h"

/* A held operation need not be the last one counted. */
static void count_store(bool sure)
{
	if (!comms.checks)
		counters_stored_if_on(sure);
}

void carry_put(const struct held *p, const struct target *t)
{
	struct comms_near outer = comms_near_note(p->routine, p->source, p->bytes, p->pe);

	if (t->here) {
		comms_copy_in(t->here, p->source, p->bytes);
		count_store(false);
		comms_wake_at(t->place.peer, p->dest, p->bytes);
	} else {
		struct comms_awaited before = comms_awaited;

		comms_awaited = (struct comms_awaited){p->routine, p->pe};
		comms_near_read(p->source, p->bytes);
		comms.network->put(carry_channel(p->channel), &t->place, p->source, p->bytes, p->nbi);
		comms_awaited = before;
	}
	comms_near = outer;
}

void carry_get(const struct held *g, const struct target *t)
{
	struct comms_near outer = comms_near_note(g->routine, g->dest, g->bytes, g->pe);

	if (t->here) {
		comms_copy_out(g->dest, t->here, g->bytes);
	} else {
		struct comms_awaited before = comms_awaited;

		comms_awaited = (struct comms_awaited){g->routine, g->pe};
		comms_near_write(g->dest, g->bytes);
		comms.network->get(carry_channel(g->channel), &t->place, g->dest, g->bytes, g->nbi);
		comms_awaited = before;
	}
	comms_near = outer;
}

uint64_t carry_atomic(const struct target *t, const struct comms_atomic *a)
{
	const char *word = comms.segments[t->place.segment].base + t->place.offset;
	uint64_t old = a->width == 8 ? comms_amo_64(a->op, t->here, a->operand, a->compare)
				     : comms_amo_32(a->op, t->here, (uint32_t)a->operand, (uint32_t)a->compare);

	count_store(false);
	comms_wake_at(t->place.peer, word, a->width);
	return old;
}

/*
 * Both may reach one peer: heap by store and globals through the network, or puts by store and
 * atomics through the network. Stores after a fence could overtake operations that the network
 * still carries, so order then needs completion.
 */
void carry_fence(struct comms_channel *channel)
{
	if (!comms.network)
		return;
	if (comms.network_atomics || (globals.fd < 0 && comms.n_node > 1))
		comms.network->quiet(channel);
	else
		comms.network->fence(channel);
}

static void carry_both(const struct held *p, const struct comms_place *data, const struct comms_place *signal)
{
	struct comms_near outer = comms_near_note(p->routine, p->source, p->bytes, p->pe);
	const struct network_notification notification = {
		.peer = data->peer,
		.segment = data->segment,
		.piece = {{data->offset, p->source, p->bytes}},
		.flag_segment = signal->segment,
		.flag_offset = signal->offset,
		.value = p->value,
		.counted = true,
		.nbi = p->nbi,
		.channel = carry_channel(p->channel),
		.op = p->op,
	};

	comms_near_read(p->source, p->bytes);
	comms.network->notify(NULL, &notification);
	comms_near = outer;
}

/*
 * On one network the signal follows its data in order; with two paths, only completion orders them.
 */
void carry_signal(const struct held *p, const struct target *data, const struct target *signal)
{
	const struct comms_atomic atomic = {p->op, sizeof *p->word, p->value, 0};
	struct comms_channel *channel = carry_channel(p->channel);

	if (p->bytes && !data->here && !signal->here) {
		carry_both(p, &data->place, &signal->place);
		return;
	}
	if (p->bytes)
		carry_put(p, data);
	if (p->bytes && data->here)
		count_store(true);
	if (!comms.checks)
		target_count(signal, SIDE_THERE, sizeof *p->word, p->channel);
	if (signal->here) {
		if (p->bytes && !data->here)
			comms.network->quiet_pes(channel, &p->pe, 1);
		carry_atomic(signal, &atomic);
		return;
	}
	atomic_thread_fence(memory_order_release);
	carry_fence(channel);
	comms.network->amo(channel, &signal->place, &atomic);
}

void comms_carry_out(const struct held *h)
{
	struct target data = {.here = NULL}, signal;

	if (h->bytes)
		data = h->kind == HELD_RESULT ? data : target_find(h->kind == HELD_GET ? h->source : h->dest, h->pe);
	switch (h->kind) {
	case HELD_PUT: carry_put(h, &data); break;
	case HELD_GET: carry_get(h, &data); break;
	case HELD_RESULT: memcpy(h->dest, h->source, h->bytes); break;
	case HELD_SIGNAL:
		signal = target_find(h->word, h->pe);
		if (comms.network_atomics)
			signal.here = NULL;
		carry_signal(h, h->bytes ? &data : &signal, &signal);
		break;
	}
}
