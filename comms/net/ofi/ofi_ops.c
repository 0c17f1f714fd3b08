/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of this network.
 *
 * Completion: a channel counts an operation until libfabric reports that it has taken effect
 * (FI_DELIVERY_COMPLETE). Order: providers differ in what they promise, so a fence waits until
 * everything has taken effect. Atomics: the provider's. They may not be atomic with the
 * processor's, so PEs of a node use the provider's, too (NETWORK_OWN_ATOMICS). Puts of a word of 4
 * or 8 bytes are atomics: a PE that waits for the word never sees half of it. Gets of a word are
 * reads: libfabric does not promise one access, but NICs read an aligned word in one access, and so
 * do tcp's copies.
 */
#include "ofi_inside.h"
#include "comms/observe/counters.h"
#include "rte/rte.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ns; arrivals wake a sleeper, unless a provider's event was missed. */
#define LONGEST_WAIT 1000000L

struct transfer ofi_transfer(enum transfer_kind kind, const struct comms_place *there, size_t bytes)
{
	const struct ofi_peer *peer = ofi_peer(there->peer);
	struct transfer transfer = {.kind = kind, .peer = there->peer, .there = there->offset, .bytes = bytes};

	if (there->segment < COMMS_FIXED_SEGMENTS) {
		transfer.there += peer->base[there->segment];
		transfer.key = peer->key[there->segment];
	} else {
		const struct comms_region *region = comms_region_of(there->peer, there->segment);

		transfer.there += region->network[0];
		transfer.key = region->network[1];
	}
	return transfer;
}

/* --- Puts and gets --- */

static bool is_word(const struct transfer *put)
{
	return (put->bytes == sizeof(uint32_t) || put->bytes == sizeof(uint64_t)) && put->there % put->bytes == 0;
}

static void put_word(const struct transfer *put, const void *source, struct ofi_end end)
{
	struct transfer atomic = *put;

	atomic.kind = TRANSFER_ATOMIC;
	atomic.atomic.op = COMMS_SWAP;
	memcpy(&atomic.atomic.operand, source, put->bytes);
	ofi_start_request(ofi_begin(&atomic, end));
}

void ofi_start_pieces(const struct transfer *transfer, void *here, struct ofi_end end)
{
	struct transfer piece = *transfer;

	for (size_t at = 0; at < transfer->bytes; at += piece.bytes) {
		piece.there = transfer->there + at;
		piece.here = (char *)here + at;
		piece.bytes = transfer->bytes - at < ofi.most_bytes ? transfer->bytes - at : ofi.most_bytes;
		ofi_start_request(ofi_begin(&piece, end));
	}
}

void ofi_start_put(const struct transfer *put, const void *source, struct ofi_end end)
{
	if (is_word(put))
		put_word(put, source, end);
	else
		ofi_start_pieces(put, (void *)(uintptr_t)source, end);
}

void ofi_start_put_copied(const struct transfer *put, const void *source, atomic_int *pending, atomic_int *waiter)
{
	struct ofi_request *request;

	if (put->bytes > OFI_STAGING) {
		ofi_start_pieces(put, (void *)(uintptr_t)source, (struct ofi_end){.counter = waiter});
	} else if (is_word(put)) {
		put_word(put, source, (struct ofi_end){.counter = pending});
	} else if (put->bytes > 0) {
		request = ofi_begin(put, (struct ofi_end){.counter = pending});
		if (request)
			request->transfer.here = memcpy(request->staging, source, put->bytes);
		ofi_start_request(request);
	}
}

static void ofi_put(struct comms_channel *channel, const struct comms_place *there, const void *source, size_t bytes,
		    bool nbi)
{
	const struct transfer transfer = ofi_transfer(TRANSFER_PUT, there, bytes);
	atomic_int waiter = 0;

	if (nbi)
		ofi_start_put(&transfer, source, (struct ofi_end){.counter = ofi_pending(channel)});
	else
		ofi_start_put_copied(&transfer, source, ofi_pending(channel), &waiter);
	ofi_wait_for(&waiter);
}

static void ofi_get(struct comms_channel *channel, const struct comms_place *there, void *dest, size_t bytes, bool nbi)
{
	const struct transfer transfer = ofi_transfer(TRANSFER_GET, there, bytes);
	atomic_int waiter = 0;

	ofi_start_pieces(&transfer, dest, (struct ofi_end){.counter = nbi ? ofi_pending(channel) : &waiter});
	ofi_wait_for(&waiter);
}

/* --- Atomics --- */

/* For a narrow word, libfabric reads 4 bytes of the operands, the low half. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low half is in front");

static struct transfer atomic_transfer(enum transfer_kind kind, const struct comms_place *there,
				       const struct comms_atomic *atomic)
{
	struct transfer transfer = ofi_transfer(kind, there, atomic->width);

	transfer.atomic = *atomic;
	return transfer;
}

/* libfabric has a conditional swap only with a result. */
void ofi_atomic(const struct comms_place *there, const struct comms_atomic *atomic, struct ofi_end end)
{
	const struct transfer transfer =
		atomic_transfer(atomic->op == COMMS_CSWAP ? TRANSFER_FETCH : TRANSFER_ATOMIC, there, atomic);

	ofi_start_request(ofi_begin(&transfer, end));
}

static void ofi_amo(struct comms_channel *channel, const struct comms_place *there, const struct comms_atomic *atomic)
{
	ofi_atomic(there, atomic, (struct ofi_end){.counter = ofi_pending(channel)});
}

static void ofi_amo_fetch(struct comms_channel *channel, const struct comms_place *there,
			  const struct comms_atomic *atomic, void *result, bool nbi)
{
	struct transfer transfer = atomic_transfer(TRANSFER_FETCH, there, atomic);
	atomic_int waiter = 0;

	transfer.here = result;
	ofi_start_request(ofi_begin(&transfer, (struct ofi_end){.counter = nbi ? ofi_pending(channel) : &waiter}));
	ofi_wait_for(&waiter);
}

/* --- Order and completion --- */

static void ofi_quiet(struct comms_channel *channel)
{
	ofi_wait_for(ofi_pending(channel));
}

static void ofi_quiet_pes(struct comms_channel *channel, const int *pes, size_t n)
{
	(void)pes, (void)n;
	ofi_quiet(channel);
}

static void ofi_complete(void)
{
	ofi_wait_for(&ofi.under_way);
}

static void ofi_finish(void)
{
	atomic_store_explicit(&ofi.ending, true, memory_order_seq_cst);
	/*
	 * Also with SHMEM_PROGRESS_THREAD=no: other PEs may still wait for this one, which makes no
	 * more calls.
	 */
	network_server_serve(&ofi.server, "shmem_finalize");
	ofi_complete();
}

static struct comms_channel *ofi_channel_open(bool private)
{
	(void)private; /* all channels use the same endpoint */
	return calloc(1, sizeof(struct ofi_channel));
}

static void ofi_channel_close(struct comms_channel *channel)
{
	if (rte_is_broken())
		ofi_settle();
	free(channel);
}

/* --- For reports --- */

static void ofi_count_traffic(struct comms_traffic *traffic)
{
	traffic->pending = atomic_load_explicit(&ofi.under_way, memory_order_relaxed) > 0;
}

static void ofi_name_under_way(char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (int pe = 0; pe < comms.n_pes && used < size; pe++) {
		const struct ofi_peer *peer = ofi_peer(comms_peer(pe));

		if (peer && atomic_load_explicit(&peer->under_way, memory_order_relaxed) > 0)
			used += (size_t)snprintf(text + used, size - used, "%s %d",
						 used ? "," : "; operations under way to PEs", pe);
	}
}

static const char *ofi_connections(void)
{
	return "from any host that can reach it (libfabric does not authenticate)";
}

const struct comms_network ofi_network = {
	.name = "libfabric",
	.traits = NETWORK_OWN_ATOMICS,
	.row = ROW_OFI,
	.longest_wait = LONGEST_WAIT,
	.start = ofi_start,
	.describe = ofi_describe,
	.open = ofi_open,
	.connect = ofi_connect,
	.finish = ofi_finish,
	.rest = ofi_rest,
	.forget = ofi_forget,
	.stop = ofi_stop,
	.channel_open = ofi_channel_open,
	.channel_close = ofi_channel_close,
	.put = ofi_put,
	.get = ofi_get,
	.amo = ofi_amo,
	.amo_fetch = ofi_amo_fetch,
	.notify = ofi_notify,
	.fence = ofi_quiet,
	.quiet = ofi_quiet,
	.quiet_pes = ofi_quiet_pes,
	.complete = ofi_complete,
	.progress = ofi_progress,
	.served = ofi_served,
	.count_traffic = ofi_count_traffic,
	.name_under_way = ofi_name_under_way,
	.sent_to = ofi_sent_to,
	.connections = ofi_connections,
	.buffers = &ofi_buffers,
	.blocking = &ofi_blocking,
};
