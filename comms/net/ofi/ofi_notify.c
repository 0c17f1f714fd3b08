/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications: data, then a flag, which is an atomic of the provider. Where the provider keeps
 * puts and atomics in order (FI_ORDER_WAW), the flag follows the data at once. Otherwise it leaves
 * when the data has arrived, and the call waits for a notification without a request, so that the
 * next one does not overtake it. This file also handles memory that is not symmetric.
 */
#include "ofi_inside.h"

#include <stdlib.h>

#include "rte/rte.h"

static bool stays_in_order(const struct network_notification *n)
{
	return sizeof n->value <= ofi.ordered_bytes && n->piece[0].bytes <= ofi.ordered_bytes &&
	       n->piece[1].bytes <= ofi.ordered_bytes;
}

static struct transfer piece_transfer(const struct network_notification *n, int i)
{
	struct transfer put = ofi_transfer(TRANSFER_PUT, &(struct comms_place){n->peer, n->segment, n->piece[i].offset},
					   n->piece[i].bytes);

	if (n->buffer && i == 0) {
		put.there = n->buffer->network[0] + n->piece[0].offset;
		put.key = n->buffer->network[1];
	}
	return put;
}

static struct comms_place flag_place(const struct network_notification *n)
{
	return (struct comms_place){n->peer, n->flag_segment, n->flag_offset};
}

/*
 * Waits until the caller may continue: the data has left, been copied, or arrived, as counted by
 * pending.
 */
static void notify_now(const struct network_notification *n, atomic_int *pending)
{
	const enum comms_amo op = n->counted ? n->op : COMMS_SWAP;
	const struct comms_place flag = flag_place(n);
	const bool in_order = stays_in_order(n);
	atomic_int waiter = 0;

	for (int i = 0; i < 2; i++) {
		const struct transfer put = piece_transfer(n, i);

		if (in_order && !n->nbi)
			ofi_start_put_copied(&put, n->piece[i].source, pending, &waiter);
		else
			ofi_start_put(&put, n->piece[i].source,
				      (struct ofi_end){.counter = in_order ? pending : &waiter});
	}
	ofi_wait_for(&waiter);
	if (n->flag_offset == COMMS_NO_FLAG)
		return;
	ofi_atomic(&flag, &(struct comms_atomic){op, sizeof n->value, n->value, 0},
		   (struct ofi_end){.counter = n->counted || in_order ? pending : &waiter});
	ofi_wait_for(&waiter);
}

static void notify_later(struct comms_request *request, const struct network_notification *n)
{
	const bool has_flag = n->flag_offset != COMMS_NO_FLAG, at_once = stays_in_order(n);
	const struct ofi_end end = {.notification = request};
	const struct comms_place place = flag_place(n);
	struct transfer *flag = &ofi_record(request)->flag;

	ofi_notification_open(request, has_flag && !at_once);
	if (has_flag) {
		*flag = ofi_transfer(TRANSFER_ATOMIC, &place, sizeof n->value);
		flag->atomic = (struct comms_atomic){COMMS_SWAP, sizeof n->value, n->value, 0};
	}
	for (int i = 0; i < 2; i++) {
		const struct transfer put = piece_transfer(n, i);

		ofi_start_put(&put, n->piece[i].source, end);
	}
	if (has_flag && at_once)
		ofi_start_request(ofi_begin(flag, end));
	if (ofi_notification_less(request))
		ofi_start_request(ofi_begin(flag, end));
}

void ofi_notify(struct comms_request *request, const struct network_notification *n)
{
	if (request)
		notify_later(request, n);
	else
		notify_now(n, n->counted ? ofi_pending(n->channel) : NULL);
}

/* --- Memory beyond heap and global data: base and key are stored in its buffer --- */

static void *share_buffer(struct comms_buffer *buffer, const char *routine)
{
	struct ofi_memory *memory = malloc(sizeof *memory);

	if (!memory)
		rte_die(routine, "no memory");
	ofi_register(memory, (void *)(uintptr_t)buffer->base, buffer->size, routine);
	buffer->network[0] = memory->base;
	buffer->network[1] = memory->key;
	return memory;
}

static void unshare_buffer(const struct comms_buffer *buffer, void *handle)
{
	struct ofi_memory *memory = handle;
	int code = fi_close(&memory->mr->fid);

	(void)buffer;
	if (!rte_is_broken())
		ofi_check(code, "fi_close");
	free(memory);
}

static void get_from_buffer(struct comms_request *request, struct comms_peer *peer, const struct comms_buffer *buffer,
			    size_t offset, struct comms_piece *to)
{
	const struct transfer get = {.kind = TRANSFER_GET,
				     .peer = peer,
				     .there = buffer->network[0] + offset,
				     .key = buffer->network[1],
				     .bytes = to->bytes};

	ofi_notification_open(request, false);
	ofi_start_pieces(&get, to->dest, (struct ofi_end){.notification = request});
	ofi_notification_less(request);
}

const struct network_buffers ofi_buffers = {share_buffer, unshare_buffer, get_from_buffer};
