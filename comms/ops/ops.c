/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole way of an operation: are the arguments right, where is the target, which path. The layer above
 * comes here when its own look (comms_reach) found nothing to load or store.
 */
#include <stdlib.h>
#include <string.h>

#include "ops.h"
#include "comms/core/comms.h"
#include "comms/core/copy.h"
#include "comms/core/globals.h"
#include "comms/wait/hang.h"
#include "comms/core/near.h"
#include "comms/net/network.h"
#include "reorder.h"
#include "rte/rte.h"
#include "comms/observe/trace.h"
#include "comms/observe/counters.h"

struct target {
	struct comms_peer *peer;
	enum comms_segment_id segment;
	size_t offset;
	void *here; /* where to load and store it, NULL: through the network */
};

static void complain_of_remote(const struct target *t, size_t bytes, const char *routine)
{
	const struct comms_peer *peer = t->peer;

	if (t->segment == COMMS_GLOBALS && !peer->same_program)
		rte_die(routine,
			"PE %d runs another program, so its global data lies differently; use shmem_malloc memory",
			peer->pe);
	rte_die(routine,
		"%zu bytes at offset %zu run past the end of PE %d's heap (%zu bytes); give all PEs the same "
		"SHMEM_SYMMETRIC_SIZE",
		bytes, t->offset - COMMS_SYSTEM_BYTES, peer->pe, peer->remote_size[COMMS_HEAP] - COMMS_SYSTEM_BYTES);
}

static struct target find_target(const void *address, int pe)
{
	struct target t = {.peer = comms_meet(pe), .segment = comms_find_segment(address)};

	t.offset = (size_t)((const char *)address - comms.segments[t.segment].base);
	t.here = t.offset < t.peer->reach[t.segment].size ? t.peer->reach[t.segment].base + t.offset : NULL;
	return t;
}

static struct target locate(const void *address, size_t bytes, const char *argument, int pe, const char *routine)
{
	struct target t;

	comms_check_pe(pe, routine);
	comms_check_symmetric(address, bytes, argument, routine);
	t = find_target(address, pe);
	if (pe != comms.pe &&
	    ((t.segment == COMMS_GLOBALS && !t.peer->same_program) || t.offset > t.peer->remote_size[t.segment] ||
	     bytes > t.peer->remote_size[t.segment] - t.offset))
		complain_of_remote(&t, bytes, routine);
	if (!t.here && !comms.network)
		rte_die(routine,
			"no path to this memory of PE %d: it is not shared and no network is in use; do all PEs have "
			"the same SHMEM_ settings?",
			pe);
	return t;
}

static enum watch_row row_of(const struct target *t)
{
	return t->here ? WATCH_LOCAL : comms.network->row;
}

/* To be said just before it is begun: a quiet of the channel completes what goes through the network. */
static void watch_begun(const struct target *t, enum watch_way way, int pe, size_t bytes, const struct comms_channel *channel)
{
	if (COMMS_LIKELY(!comms.watched))
		return;
	watch_operation(row_of(t), way, pe, bytes);
	if (comms.traced && !t->here)
		trace_set_channel(channel);
}

/* Of what may be held back: then nobody can say that it is the operation that was noticed last. */
static void watch_stored_now(bool sure)
{
	if (!comms.checks)
		watch_stored_if_on(sure);
}

/* What is held back leaves by the default channel, whatever the one it was called on: only that is free to all threads. */
static struct comms_channel *carrier(struct comms_channel *channel)
{
	return comms.checks ? NULL : channel;
}

static void carry_put(const struct held *p, const struct target *t)
{
	struct comms_near noted = comms_near_note(p->routine, p->source, p->bytes, p->pe);

	if (t->here) {
		comms_copy_in(t->here, p->source, p->bytes);
		watch_stored_now(false);
		comms_notify_of(t->peer, p->dest, p->bytes);
	} else {
		struct hang_answer before = hang_answer;

		hang_answer = (struct hang_answer){p->routine, p->pe};
		comms_near_read(p->source, p->bytes);
		comms.network->put(carrier(p->channel), t->peer, t->segment, t->offset, p->source, p->bytes, p->nbi);
		hang_answer = before;
	}
	comms_near = noted;
}

static void put(const struct held *p)
{
	struct target t;

	if (p->bytes == 0) {
		comms_check_pe(p->pe, p->routine);
		return;
	}
	t = locate(p->dest, p->bytes, "dest", p->pe, p->routine);
	watch_begun(&t, WATCH_THERE, p->pe, p->bytes, p->channel);
	if (!comms.checks || !reorder_hold(p))
		carry_put(p, &t);
}

static void carry_get(const struct held *g, const struct target *t)
{
	struct comms_near noted = comms_near_note(g->routine, g->dest, g->bytes, g->pe);

	if (t->here) {
		comms_copy_out(g->dest, t->here, g->bytes);
	} else {
		struct hang_answer before = hang_answer;

		hang_answer = (struct hang_answer){g->routine, g->pe};
		comms_near_write(g->dest, g->bytes);
		comms.network->get(carrier(g->channel), t->peer, t->segment, t->offset, g->dest, g->bytes, g->nbi);
		hang_answer = before;
	}
	comms_near = noted;
}

static void get(const struct held *g)
{
	struct target t;

	if (g->bytes == 0) {
		comms_check_pe(g->pe, g->routine);
		return;
	}
	t = locate(g->source, g->bytes, "source", g->pe, g->routine);
	watch_begun(&t, WATCH_HERE, g->pe, g->bytes, g->channel);
	if (!comms.checks || !reorder_hold(g))
		carry_get(g, &t);
}

void comms_channel_put(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
		       const char *routine)
{
	COMMS_CALL(routine, bytes, pe);
	put(&(struct held){HELD_PUT, channel, dest, source, bytes, pe, routine, false, .word = NULL});
}

void comms_channel_put_nbi(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
			   const char *routine)
{
	COMMS_CALL(routine, bytes, pe);
	put(&(struct held){HELD_PUT, channel, dest, source, bytes, pe, routine, true, .word = NULL});
}

void comms_channel_get(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
		       const char *routine)
{
	COMMS_CALL(routine, bytes, pe);
	get(&(struct held){HELD_GET, channel, dest, source, bytes, pe, routine, false, .word = NULL});
}

void comms_channel_get_nbi(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
			   const char *routine)
{
	COMMS_CALL(routine, bytes, pe);
	get(&(struct held){HELD_GET, channel, dest, source, bytes, pe, routine, true, .word = NULL});
}

static uint64_t amo_here(enum comms_amo op, size_t width, const struct target *t, uint64_t operand, uint64_t cond)
{
	uint64_t old = width == 8 ? comms_amo_64(op, t->here, operand, cond)
				  : comms_amo_32(op, t->here, (uint32_t)operand, (uint32_t)cond);

	watch_stored_now(false);
	comms_notify(t->peer);
	return old;
}

static struct target locate_word(void *dest, size_t width, int pe, const char *routine)
{
	struct target t = locate(dest, width, "dest", pe, routine);

	if ((uintptr_t)dest % width)
		rte_die(routine, "dest=%p is not aligned to %zu bytes, as atomics need", dest, width);
	if (comms.network_atomics)
		t.here = NULL;
	return t;
}

void comms_channel_amo(struct comms_channel *channel, enum comms_amo op, size_t width, void *dest, uint64_t operand,
		       int pe, const char *routine)
{
	COMMS_CALL(routine, width, pe);
	struct target t = locate_word(dest, width, pe, routine);

	watch_begun(&t, WATCH_THERE, pe, width, channel);
	if (t.here)
		amo_here(op, width, &t, operand, 0);
	else
		comms.network->amo(carrier(channel), t.peer, t.segment, t.offset, op, width, operand);
}

uint64_t comms_channel_amo_fetch(struct comms_channel *channel, enum comms_amo op, size_t width, void *dest,
				 uint64_t operand, uint64_t cond, int pe, const char *routine)
{
	COMMS_CALL(routine, width, pe);
	struct target t = locate_word(dest, width, pe, routine);
	struct hang_answer before = hang_answer;
	uint64_t result = 0;

	watch_begun(&t, WATCH_THERE, pe, width, channel);
	if (t.here)
		return amo_here(op, width, &t, operand, cond);
	hang_answer = (struct hang_answer){routine, pe};
	comms.network->amo_fetch(carrier(channel), t.peer, t.segment, t.offset, op, width, operand, cond, &result, false);
	hang_answer = before;
	return result; /* of a narrow word, the upper half stayed zero */
}

void comms_channel_amo_fetch_nbi(struct comms_channel *channel, enum comms_amo op, size_t width, void *result,
				 void *dest, uint64_t operand, uint64_t cond, int pe, const char *routine)
{
	COMMS_CALL(routine, width, pe);
	struct comms_near noted;
	struct target t;

	if (comms.checks) {
		/* It is done, and only what it brings is held back. */
		uint64_t old = comms_channel_amo_fetch(channel, op, width, dest, operand, cond, pe, routine);
		uint32_t narrow = (uint32_t)old;

		if (!reorder_hold(&(struct held){HELD_RESULT, channel, result, width == 8 ? (void *)&old : &narrow, width, pe, routine, true,
						 .word = NULL}))
			memcpy(result, width == 8 ? (void *)&old : &narrow, width);
		return;
	}
	t = locate_word(dest, width, pe, routine);
	noted = comms_near_note(routine, result, width, pe);
	watch_begun(&t, WATCH_THERE, pe, width, channel);
	if (!t.here) {
		comms_near_write(result, width);
		comms.network->amo_fetch(channel, t.peer, t.segment, t.offset, op, width, operand, cond, result, true);
	} else if (width == 8) {
		*(uint64_t *)result = amo_here(op, width, &t, operand, cond);
	} else {
		*(uint32_t *)result = (uint32_t)amo_here(op, width, &t, operand, cond);
	}
	comms_near = noted;
}

static void tell_from_afar(void *dest, const void *source, size_t bytes, _Atomic uint64_t *word, uint64_t value, int pe,
			   const char *routine)
{
	struct target shown = locate(word, sizeof *word, "word", pe, routine);
	struct target data = bytes ? locate(dest, bytes, "dest", pe, routine) : shown;
	struct comms_near noted;

	if (bytes && (data.here || shown.here)) {
		comms_put(dest, source, bytes, pe, routine);
		comms_quiet(); /* two paths: only completion orders them */
		bytes = 0;
	}
	watch_if_on(row_of(&shown), WATCH_THERE, pe, sizeof value);
	if (bytes && COMMS_UNLIKELY(comms.watched))
		watch_more(comms.network->row, pe, bytes);
	if (!shown.here) {
		noted = comms_near_note(routine, source, bytes, pe);
		comms_near_read(source, bytes);
		comms.network->tell(shown.peer, data.segment, data.offset, source, bytes, shown.segment, shown.offset, value);
		comms_near = noted;
		return;
	}
	atomic_store_explicit((_Atomic uint64_t *)shown.here, value, memory_order_release);
	watch_stored_if_on(false);
	comms_notify_of(shown.peer, word, sizeof *word);
}

void comms_tell(void *dest, const void *source, size_t bytes, _Atomic uint64_t *word, uint64_t value, int pe,
		const char *routine)
{
	struct comms_peer *peer;
	_Atomic uint64_t *there = comms_reach(word, sizeof *word, pe, &peer);
	void *data = bytes && there ? comms_reach(dest, bytes, pe, &peer) : NULL;

	if (COMMS_UNLIKELY(!there || (bytes && !data))) {
		tell_from_afar(dest, source, bytes, word, value, pe, routine);
		return;
	}
	if (bytes)
		comms_copy_in(data, source, bytes);
	atomic_store_explicit(there, value, memory_order_release);
	comms_notify_of(peer, word, sizeof *word);
}

void comms_tell_word(_Atomic uint64_t *word, uint64_t value, int pe, const char *routine)
{
	struct comms_peer *peer;
	_Atomic uint64_t *there = comms_reach(word, sizeof *word, pe, &peer);

	if (COMMS_UNLIKELY(!there)) {
		tell_from_afar(NULL, NULL, 0, word, value, pe, routine);
		return;
	}
	atomic_store_explicit(there, value, memory_order_release);
	comms_notify_of(peer, word, sizeof *word);
}

void comms_tell_later(struct comms_telling *telling, void *dest, const void *source, size_t bytes, _Atomic uint64_t *word,
		      uint64_t value, int pe, const char *routine)
{
	struct target shown = locate(word, sizeof *word, "word", pe, routine);
	struct target data = bytes ? locate(dest, bytes, "dest", pe, routine) : shown;

	telling->value = value;
	telling->more.bytes = 0;
	if (!data.here && !shown.here) {
		struct comms_near noted = comms_near_note(routine, source, bytes, pe);

		watch_if_on(comms.network->row, WATCH_THERE, pe, bytes + sizeof value);
		comms_near_read(source, bytes);
		comms.network->tell_later(telling, data.peer, data.segment, data.offset, source, bytes, shown.segment, shown.offset,
					  true);
		comms_near = noted;
	} else {
		comms_tell(dest, source, bytes, word, value, pe, routine);
	}
}

void comms_tell_together(struct comms_together *together, struct comms_telling *telling, void *dest, const void *source, size_t bytes,
			 _Atomic uint64_t *word, uint64_t value, int pe, const char *routine)
{
	struct target shown = locate(word, sizeof *word, "word", pe, routine);
	struct target data = bytes ? locate(dest, bytes, "dest", pe, routine) : shown;

	telling->value = value;
	telling->more.bytes = 0;
	if (!data.here && !shown.here && comms.network->batching &&
	    comms.network->batching->keep(together, telling, data.peer, data.segment, data.offset, source, bytes, shown.segment, shown.offset))
		watch_if_on(comms.network->row, WATCH_THERE, pe, bytes + sizeof value);
	else
		comms_tell_later(telling, dest, source, bytes, word, value, pe, routine);
}

void comms_together_send(struct comms_together *together)
{
	if (together->kept > 0)
		comms.network->batching->send_kept(together);
}

bool comms_tell_by_network(struct comms_telling *telling, void *dest, const void *source, size_t bytes, _Atomic uint64_t *word,
			   uint64_t value, int pe, const char *routine)
{
	struct target shown = locate(word, sizeof *word, "word", pe, routine);
	struct target data = bytes ? locate(dest, bytes, "dest", pe, routine) : shown;

	telling->value = value;
	telling->more.bytes = 0;
	watch_if_on(WATCH_INSIDE, WATCH_THERE, pe, bytes + sizeof value);
	return comms.network->tell_later(telling, data.peer, data.segment, data.offset, source, bytes, shown.segment, shown.offset, false);
}

void comms_tell_both_later(struct comms_telling *telling, struct comms_piece first, struct comms_piece second,
			   _Atomic uint64_t *word, uint64_t value, int pe, const char *routine)
{
	struct target data = locate(first.dest, first.bytes, "dest", pe, routine);
	struct target more = locate(second.dest, second.bytes, "dest", pe, routine);
	struct target shown = locate(word, sizeof *word, "word", pe, routine);

	telling->value = value;
	telling->more = second;
	telling->more_there = more.offset;
	if (!data.here && !shown.here) {
		watch_if_on(comms.network->row, WATCH_THERE, pe, first.bytes + second.bytes + sizeof value);
		comms.network->tell_later(telling, data.peer, data.segment, data.offset, first.source, first.bytes, shown.segment,
			       shown.offset, true);
	} else {
		comms_put(first.dest, first.source, first.bytes, pe, routine);
		comms_tell(second.dest, second.source, second.bytes, word, value, pe, routine);
	}
}

void comms_complete_all(void)
{
	if (comms.network)
		comms.network->complete();
}

/*
 * A peer may be reached both ways (heap by store, globals through the network). Stores that follow a fence could
 * overtake what the network still carries, so then order needs completion.
 */
static void fence_network(struct comms_channel *channel)
{
	if (!comms.network)
		return;
	if (globals.fd < 0 && comms.n_node > 1)
		comms.network->quiet(channel);
	else
		comms.network->fence(channel);
}

/* On one network the signal follows its data in order; on two paths, only completion orders them. */
static void carry_signal(const struct held *p, const struct target *data, const struct target *signal)
{
	struct comms_channel *channel = carrier(p->channel);

	if (p->bytes && !data->here && !signal->here) {
		struct comms_near noted = comms_near_note(p->routine, p->source, p->bytes, p->pe);

		comms_near_read(p->source, p->bytes);
		comms.network->put_signal(channel, data->peer, data->segment, data->offset, p->source, p->bytes, p->nbi, signal->segment,
					  signal->offset, p->op, p->value);
		comms_near = noted;
		return;
	}
	if (p->bytes)
		carry_put(p, data);
	if (p->bytes && data->here)
		watch_stored_now(true);
	if (!comms.checks)
		watch_begun(signal, WATCH_THERE, p->pe, sizeof *p->word, p->channel);
	if (signal->here) {
		if (p->bytes && !data->here)
			comms.network->quiet_pes(channel, &p->pe, 1);
		amo_here(p->op, sizeof *p->word, signal, p->value, 0);
		return;
	}
	atomic_thread_fence(memory_order_release);
	fence_network(channel);
	comms.network->amo(channel, signal->peer, signal->segment, signal->offset, p->op, sizeof *p->word, p->value);
}

/* What goes with the data, or is to be held back, is noticed at once; else the signal is noticed when the data has left. */
static void watch_signal(const struct held *p, const struct target *data, const struct target *signal)
{
	bool one = p->bytes && !data->here && !signal->here;

	if (p->bytes && !one)
		watch_begun(data, WATCH_THERE, p->pe, p->bytes, p->channel);
	if (one || comms.checks)
		watch_begun(signal, WATCH_THERE, p->pe, sizeof *p->word, p->channel);
	if (one && COMMS_UNLIKELY(comms.watched))
		watch_more(comms.network->row, p->pe, p->bytes);
}

void comms_channel_put_signal(struct comms_channel *channel, void *dest, const void *source, size_t bytes,
			      uint64_t *word, uint64_t value, enum comms_amo op, bool nbi, int pe, const char *routine)
{
	COMMS_CALL(routine, bytes, pe);
	struct held p = {HELD_SIGNAL, channel, dest, source, bytes, pe, routine, nbi, word, value, op, .copy = NULL};
	struct target signal = locate_word(word, sizeof *word, pe, routine);
	struct target data = bytes ? locate(dest, bytes, "dest", pe, routine) : signal;

	watch_signal(&p, &data, &signal);
	if (!comms.checks || !reorder_hold(&p))
		carry_signal(&p, &data, &signal);
}

void comms_carry_out(const struct held *h)
{
	struct target data = {.here = NULL}, signal;

	if (h->bytes)
		data = h->kind == HELD_RESULT ? data : find_target(h->kind == HELD_GET ? h->source : h->dest, h->pe);
	switch (h->kind) {
	case HELD_PUT: carry_put(h, &data); break;
	case HELD_GET: carry_get(h, &data); break;
	case HELD_RESULT: memcpy(h->dest, h->source, h->bytes); break;
	case HELD_SIGNAL:
		signal = find_target(h->word, h->pe);
		if (comms.network_atomics)
			signal.here = NULL;
		carry_signal(h, h->bytes ? &data : &signal, &signal);
		break;
	}
}

/* Not inline, so that a fence on one node saves no registers. */
static __attribute__((noinline)) void fence_carriers(struct comms_channel *channel)
{
	if (comms.checks)
		reorder_fence(channel);
	fence_network(carrier(channel));
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
	comms.network->quiet(carrier(channel));
	if (COMMS_UNLIKELY(comms.traced))
		trace_quiet(channel);
}

void comms_channel_quiet(struct comms_channel *channel)
{
	if (COMMS_UNLIKELY(comms.checks))
		reorder_quiet(channel);
	atomic_thread_fence(memory_order_seq_cst);
	if (comms.network)
		quiet_network(channel);
}

void comms_channel_quiet_pes(struct comms_channel *channel, const int *pes, size_t n)
{
	if (comms.checks)
		reorder_quiet_pes(channel, pes, n);
	atomic_thread_fence(memory_order_seq_cst);
	if (comms.network)
		comms.network->quiet_pes(carrier(channel), pes, n);
}

/*
 * Where no operation ever needs a network, there is nothing to tell channels apart by: all are the default one. Where operations are held
 * back, a channel is only what tells them apart.
 */
bool comms_channel_open(bool alone, struct comms_channel **channel)
{
	if (comms.checks) {
		*channel = malloc(1);
		return *channel;
	}
	*channel = comms.network ? comms.network->channel_open(alone) : NULL;
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
