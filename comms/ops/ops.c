/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The complete path of an operation: checks of arguments, the target, the path to it. The layer
 * above calls it if comms_reach found no memory to load or store.
 */
#include "ops.h"

#include <stdlib.h>
#include <string.h>

#include "carry.h"
#include "comms/core/awaited.h"
#include "comms/core/device.h"
#include "comms/core/near.h"
#include "comms/core/network.h"
#include "comms/observe/trace.h"

static void put_or_hold(const struct held *p)
{
	if (p->bytes == 0) {
		comms_check_pe(p->pe, p->routine);
		return;
	}
	if (comms_on_device(p->dest, p->source)) {
		comms.device->put(p->channel, &(struct comms_piece){p->dest, p->source, p->bytes}, p->pe, p->nbi,
				  p->routine);
		return;
	}
	struct target t = target_check(p->dest, p->bytes, "dest", p->pe, p->routine);
	if (target_is_none(&t) || !comms_check_block(p->source, p->bytes, "source", p->routine))
		return;
	target_count(&t, SIDE_THERE, p->bytes, p->channel);
	if (!comms.checks || !reorder_hold(p))
		carry_put(p, &t);
}

static void get_or_hold(const struct held *g)
{
	if (g->bytes == 0) {
		comms_check_pe(g->pe, g->routine);
		return;
	}
	if (comms_on_device(g->dest, g->source)) {
		comms.device->get(g->channel, &(struct comms_piece){g->dest, g->source, g->bytes}, g->pe, g->nbi,
				  g->routine);
		return;
	}
	struct target t = target_check(g->source, g->bytes, "source", g->pe, g->routine);
	if (target_is_none(&t) || !comms_check_block(g->dest, g->bytes, "dest", g->routine))
		return;
	target_count(&t, SIDE_HERE, g->bytes, g->channel);
	if (!comms.checks || !reorder_hold(g))
		carry_get(g, &t);
}

void comms_channel_put(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
		       const char *routine)
{
	COMMS_CALL(routine, bytes, pe);
	put_or_hold(&(struct held){HELD_PUT, channel, dest, source, bytes, pe, routine, false, .word = NULL});
}

void comms_channel_put_nbi(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
			   const char *routine)
{
	COMMS_CALL(routine, bytes, pe);
	put_or_hold(&(struct held){HELD_PUT, channel, dest, source, bytes, pe, routine, true, .word = NULL});
}

void comms_channel_get(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
		       const char *routine)
{
	COMMS_CALL(routine, bytes, pe);
	get_or_hold(&(struct held){HELD_GET, channel, dest, source, bytes, pe, routine, false, .word = NULL});
}

void comms_channel_get_nbi(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
			   const char *routine)
{
	COMMS_CALL(routine, bytes, pe);
	get_or_hold(&(struct held){HELD_GET, channel, dest, source, bytes, pe, routine, true, .word = NULL});
}

void comms_channel_amo(struct comms_channel *channel, void *dest, const struct comms_atomic *atomic, int pe,
		       const char *routine)
{
	COMMS_CALL(routine, atomic->width, pe);
	if (comms_is_on_device(dest)) {
		comms.device->amo(dest, atomic, pe, routine);
		return;
	}
	struct target t = target_check_word(dest, atomic->width, pe, routine);

	if (target_is_none(&t))
		return;
	target_count(&t, SIDE_THERE, atomic->width, channel);
	if (t.here)
		carry_atomic(&t, atomic);
	else
		comms.network->amo(carry_channel(channel), &t.place, atomic);
}

uint64_t comms_channel_amo_fetch(struct comms_channel *channel, void *dest, const struct comms_atomic *atomic, int pe,
				 const char *routine)
{
	COMMS_CALL_OR(0, routine, atomic->width, pe);
	if (comms_is_on_device(dest))
		return comms.device->amo(dest, atomic, pe, routine);
	struct target t = target_check_word(dest, atomic->width, pe, routine);
	struct comms_awaited before = comms_awaited;
	uint64_t result = 0;

	if (target_is_none(&t))
		return 0;
	target_count(&t, SIDE_THERE, atomic->width, channel);
	if (t.here)
		return carry_atomic(&t, atomic);
	comms_awaited = (struct comms_awaited){routine, pe};
	comms.network->amo_fetch(carry_channel(channel), &t.place, atomic, &result, false);
	comms_awaited = before;
	return result; /* for a narrow word, the upper half is zero */
}

static void store_result(void *result, uint64_t value, size_t width)
{
	uint32_t narrow = (uint32_t)value;

	memcpy(result, width == 8 ? (void *)&value : &narrow, width);
}

/* The result, the word, or both are memory of a device. */
static void fetch_with_device(struct comms_channel *channel, void *result, void *dest,
			      const struct comms_atomic *atomic, int pe, const char *routine)
{
	uint64_t old = comms_channel_amo_fetch(channel, dest, atomic, pe, routine), copy;

	store_result(&copy, old, atomic->width);
	comms.device->copy(result, &copy, atomic->width);
}

void comms_channel_amo_fetch_nbi(struct comms_channel *channel, void *result, void *dest,
				 const struct comms_atomic *atomic, int pe, const char *routine)
{
	COMMS_CALL(routine, atomic->width, pe);
	if (comms_on_device(result, dest)) {
		fetch_with_device(channel, result, dest, atomic, pe, routine);
		return;
	}
	if (comms.checks) {
		if (!comms_check_block(result, atomic->width, "fetch", routine))
			return;
		/* The atomic is carried out now; only its result is held back. */
		uint64_t old = comms_channel_amo_fetch(channel, dest, atomic, pe, routine), copy;

		store_result(&copy, old, atomic->width);
		if (!reorder_hold(&(struct held){HELD_RESULT, channel, result, &copy, atomic->width, pe, routine, true,
						 .word = NULL}))
			store_result(result, old, atomic->width);
		return;
	}
	struct target t = target_check_word(dest, atomic->width, pe, routine);
	struct comms_near outer;

	if (target_is_none(&t))
		return;
	outer = comms_near_note(routine, result, atomic->width, pe);
	target_count(&t, SIDE_THERE, atomic->width, channel);
	if (!t.here) {
		comms_near_write(result, atomic->width);
		comms.network->amo_fetch(channel, &t.place, atomic, result, true);
	} else {
		store_result(result, carry_atomic(&t, atomic), atomic->width);
	}
	comms_near = outer;
}

/*
 * A signal that travels with the data, or is held back, is counted now; otherwise it is counted
 * when the data has left.
 */
static void count_signal(const struct held *p, const struct target *data, const struct target *signal)
{
	bool one = p->bytes && !data->here && !signal->here;

	if (p->bytes && !one)
		target_count(data, SIDE_THERE, p->bytes, p->channel);
	if (one || comms.checks)
		target_count(signal, SIDE_THERE, sizeof *p->word, p->channel);
	if (one && COMMS_UNLIKELY(comms.observed))
		counters_more(comms.network->row, p->pe, p->bytes);
}

void comms_channel_put_signal(struct comms_channel *channel, const struct comms_piece *piece,
			      const struct comms_signal *signal, int pe, const char *routine)
{
	COMMS_CALL(routine, piece->bytes, pe);
	if (comms_is_on_device(signal->word) || (piece->bytes && comms_on_device(piece->dest, piece->source))) {
		comms.device->put_signal(channel, piece,
					 &(struct comms_device_signal){signal->word, signal->value, signal->op}, pe,
					 routine);
		return;
	}
	struct held p = {
		.kind = HELD_SIGNAL,
		.channel = channel,
		.dest = piece->dest,
		.source = piece->source,
		.bytes = piece->bytes,
		.pe = pe,
		.routine = routine,
		.nbi = signal->nbi,
		.word = signal->word,
		.value = signal->value,
		.op = signal->op,
	};
	struct target flag = target_check_word(signal->word, sizeof *signal->word, pe, routine);
	struct target data = p.bytes ? target_check(p.dest, p.bytes, "dest", pe, routine) : flag;

	if (target_is_none(&flag) || target_is_none(&data) || !comms_check_block(p.source, p.bytes, "source", routine))
		return;
	count_signal(&p, &data, &flag);
	if (!comms.checks || !reorder_hold(&p))
		carry_signal(&p, &data, &flag);
}

/* Not inline, so that a fence on one node saves no registers. */
static __attribute__((noinline)) void fence_carriers(struct comms_channel *channel)
{
	if (comms.checks)
		reorder_fence(channel);
	if (comms.device)
		comms.device->quiet();
	carry_fence(carry_channel(channel));
}

void comms_channel_fence(struct comms_channel *channel)
{
	if (comms.quiets)
		fence_carriers(channel);
	atomic_thread_fence(memory_order_release);
}

/* Not inline, so that a quiet on one node saves no registers. */
static __attribute__((noinline)) void quiet_network(struct comms_channel *channel)
{
	comms.network->quiet(carry_channel(channel));
	if (COMMS_UNLIKELY(comms.traced))
		trace_quiet(channel);
}

void comms_channel_quiet(struct comms_channel *channel)
{
	if (COMMS_UNLIKELY(comms.checks))
		reorder_quiet(channel);
	if (COMMS_UNLIKELY(comms.device != NULL))
		comms.device->quiet();
	atomic_thread_fence(memory_order_seq_cst);
	if (comms.network)
		quiet_network(channel);
}

void comms_channel_quiet_pes(struct comms_channel *channel, const int *pes, size_t n)
{
	if (comms.checks)
		reorder_quiet_pes(channel, pes, n);
	if (comms.device)
		comms.device->quiet();
	atomic_thread_fence(memory_order_seq_cst);
	if (comms.network)
		comms.network->quiet_pes(carry_channel(channel), pes, n);
}

/*
 * If no operation ever needs a network, all channels are the default one. Under reorder injection,
 * channels only distinguish held operations.
 */
bool comms_channel_open(bool private, struct comms_channel **channel)
{
	if (comms.checks) {
		*channel = malloc(1);
		return *channel;
	}
	*channel = comms.network ? comms.network->channel_open(private) : NULL;
	return *channel || !comms.network;
}

void comms_channel_close(struct comms_channel *channel)
{
	comms_channel_quiet(channel);
	if (comms.checks)
		free(channel);
	else if (channel)
		comms.network->channel_close(channel);
}
