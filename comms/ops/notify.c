/* SPDX-License-Identifier: BSD-3-Clause */
#include "notify.h"

#include "comms/core/copy.h"
#include "comms/core/near.h"
#include "comms/core/network.h"
#include "rte/rte.h"
#include "target.h"

static struct network_piece target_piece(const struct target *target, const void *source, size_t bytes)
{
	return (struct network_piece){target->place.offset, source, bytes};
}

static void store_flag(const struct target *target, struct comms_flag flag)
{
	atomic_store_explicit((_Atomic uint64_t *)target->here, flag.value, memory_order_release);
	counters_stored_if_on(false);
	comms_wake_at(target->place.peer, flag.word, sizeof *flag.word);
}

static __attribute__((noinline)) void notify_slowly(void *dest, const void *source, size_t bytes,
						    struct comms_flag flag, int pe, const char *routine)
{
	struct target shown = target_check(flag.word, sizeof *flag.word, "word", pe, routine);
	struct target data = bytes ? target_check(dest, bytes, "dest", pe, routine) : shown;
	struct comms_near outer;

	if (target_is_none(&shown) || target_is_none(&data) || rte_is_broken())
		return;
	if (bytes && (data.here || shown.here)) {
		comms_put(dest, source, bytes, pe, routine);
		comms_quiet(); /* two paths: only completion orders them */
		bytes = 0;
	}
	counters_if_on(target_row(&shown), SIDE_THERE, pe, sizeof flag.value);
	if (bytes && COMMS_UNLIKELY(comms.observed))
		counters_more(comms.network->row, pe, bytes);
	if (shown.here) {
		store_flag(&shown, flag);
		return;
	}
	outer = comms_near_note(routine, source, bytes, pe);
	comms_near_read(source, bytes);
	comms.network->notify(NULL, &(struct network_notification){
					    .peer = shown.place.peer,
					    .segment = data.place.segment,
					    .piece = {target_piece(&data, source, bytes)},
					    .flag_segment = shown.place.segment,
					    .flag_offset = shown.place.offset,
					    .value = flag.value,
				    });
	comms_near = outer;
}

void comms_put_notify(void *dest, const void *source, size_t bytes, struct comms_flag flag, int pe, const char *routine)
{
	struct comms_peer *peer;
	_Atomic uint64_t *there = comms_reach(flag.word, sizeof *flag.word, pe, &peer);
	void *data = bytes && there ? comms_reach(dest, bytes, pe, &peer) : NULL;

	if (COMMS_UNLIKELY(!there || (bytes && !data))) {
		notify_slowly(dest, source, bytes, flag, pe, routine);
		return;
	}
	if (bytes)
		comms_copy_in(data, source, bytes);
	atomic_store_explicit(there, flag.value, memory_order_release);
	comms_wake_at(peer, flag.word, sizeof *flag.word);
}

void comms_notify(_Atomic uint64_t *word, uint64_t value, int pe, const char *routine)
{
	struct comms_peer *peer;
	_Atomic uint64_t *there = comms_reach(word, sizeof *word, pe, &peer);

	if (COMMS_UNLIKELY(!there)) {
		notify_slowly(NULL, NULL, 0, (struct comms_flag){word, value}, pe, routine);
		return;
	}
	atomic_store_explicit(there, value, memory_order_release);
	comms_wake_at(peer, word, sizeof *word);
}

/* --- With a request --- */

static struct network_notification make_network_notification(const struct comms_notification *n)
{
	struct network_notification out = {
		.peer = comms_connect(n->pe),
		.buffer = n->buffer,
		.flag_offset = COMMS_NO_FLAG,
		.value = n->flag.value,
		.completion = n->completion,
		.second_cable = n->second_cable,
		.batch = n->batch,
	};

	for (int i = 0; i < 2; i++) {
		const struct comms_piece *piece = &n->piece[i];

		out.piece[i] = (struct network_piece){n->offset, piece->source, piece->bytes};
		if (piece->bytes == 0 || (n->buffer && i == 0))
			continue;
		out.segment = comms_find_segment(piece->dest);
		out.piece[i].offset = (size_t)((char *)piece->dest - comms.segments[out.segment].base);
	}
	if (n->flag.word) {
		out.flag_segment = comms_find_segment(n->flag.word);
		out.flag_offset = (size_t)((char *)n->flag.word - comms.segments[out.flag_segment].base);
	}
	return out;
}

/* Ends the job if an address is wrong. Returns true if the network carries all of it. */
static bool goes_by_network(const struct comms_notification *n)
{
	bool network = true;

	for (int i = 0; i < 2; i++)
		if (n->piece[i].bytes > 0 && !(n->buffer && i == 0))
			network &= !target_check(n->piece[i].dest, n->piece[i].bytes, "dest", n->pe, n->routine).here;
	if (n->flag.word)
		network &= !target_check(n->flag.word, sizeof *n->flag.word, "word", n->pe, n->routine).here;
	return network || n->by_network || n->buffer || n->completion;
}

static void put_by_store(const struct comms_notification *n)
{
	if (n->piece[0].bytes > 0 && n->piece[1].bytes > 0)
		comms_put(n->piece[0].dest, n->piece[0].source, n->piece[0].bytes, n->pe, n->routine);
	if (n->piece[1].bytes > 0)
		comms_put_notify(n->piece[1].dest, n->piece[1].source, n->piece[1].bytes, n->flag, n->pe, n->routine);
	else
		comms_put_notify(n->piece[0].dest, n->piece[0].source, n->piece[0].bytes, n->flag, n->pe, n->routine);
}

void comms_put_notify_start(struct comms_request *request, const struct comms_notification *n)
{
	size_t bytes = n->piece[0].bytes + n->piece[1].bytes + (n->flag.word ? sizeof n->flag.value : 0);
	struct network_notification out;
	struct comms_near outer;

	if (rte_is_broken())
		return;
	if (!goes_by_network(n)) {
		put_by_store(n);
		return;
	}
	if (rte_is_broken())
		return;
	out = make_network_notification(n);
	request->value = n->flag.value;
	outer = comms_near_note(n->routine, n->piece[0].source, n->piece[0].bytes, n->pe);
	counters_if_on(n->by_network ? ROW_INSIDE : comms.network->row, SIDE_THERE, n->pe, bytes);
	for (int i = 0; i < 2; i++)
		comms_near_read(n->piece[i].source, n->piece[i].bytes);
	comms.network->notify(request, &out);
	comms_near = outer;
}

void comms_batch_send(struct comms_batch *batch)
{
	if (batch->count > 0)
		comms.network->batching->send_batch(batch);
}

void comms_complete_all(void)
{
	if (comms.network)
		comms.network->complete();
}

bool comms_has_second_cables(void)
{
	return comms.network && comms.network->has_second_cables && comms.network->has_second_cables();
}

bool comms_is_served(void)
{
	return comms.network && comms.network->served();
}
