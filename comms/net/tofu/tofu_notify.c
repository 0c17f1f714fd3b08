/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications over Tofu: puts with strong order, so that the flag arrives after the data. A
 * notification with a completion number has no flag: the NIC reports to the receiver that its last
 * put has arrived.
 */
#include "tofu_inside.h"

#include "comms/wait/wait.h"

/* The request counts itself as a transfer until all its transfers have started. */
struct tofu_counters tofu_begin_request(struct comms_request *request)
{
	atomic_int *left = tofu_left(request);

	atomic_store_explicit(left, 1, memory_order_seq_cst);
	atomic_store_explicit(&request->under_way, true, memory_order_relaxed);
	return (struct tofu_counters){.arrived = left, .completes = request};
}

void tofu_end_beginning(struct comms_request *request)
{
	if (atomic_fetch_sub_explicit(tofu_left(request), 1, memory_order_seq_cst) == 1)
		atomic_store_explicit(&request->under_way, false, memory_order_release);
}

static utofu_stadd_t piece_address(const struct network_notification *n, int i)
{
	if (n->buffer && i == 0)
		return tofu_buffer(n->peer, n->buffer, n->piece[i].offset);
	return tofu_remote(&(const struct comms_place){n->peer, n->segment, n->piece[i].offset});
}

static void tofu_put_data(const struct tofu_counters *counters, const struct network_notification *n)
{
	int last = n->piece[1].bytes > 0;
	struct tofu_counters each = *counters;

	for (int i = 0; i <= last; i++) {
		each.notice = i == last ? n->completion : 0;
		tofu_start_puts(&each, n->peer, piece_address(n, i), &n->piece[i]);
	}
	if (n->completion)
		atomic_store_explicit(&tofu_peer(n->peer)->unconfirmed, true, memory_order_release);
}

static void put_flag(const struct tofu_counters *counters, const struct network_notification *n, const uint64_t *value)
{
	if (n->flag_offset != COMMS_NO_FLAG)
		tofu_start_puts(counters, n->peer,
				tofu_remote(&(const struct comms_place){n->peer, n->flag_segment, n->flag_offset}),
				&(struct network_piece){0, value, sizeof *value});
}

static void tofu_put_signal(const struct network_notification *n)
{
	const struct comms_place there = {n->peer, n->flag_segment, n->flag_offset};
	const struct comms_atomic atomic = {n->op, sizeof n->value, n->value, 0};
	atomic_int sent = 0;
	struct tofu_counters counters = {.arrived = tofu_pending(n->channel),
					 .sent = n->nbi ? NULL : &sent,
					 .flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER};

	tofu_put_data(&counters, n);
	tofu_wait_for(&sent);
	counters.sent = NULL;
	tofu_atomic(&counters, &there, &atomic, NULL);
}

static void notify_and_wait(const struct network_notification *n)
{
	atomic_int sent = 0;
	struct tofu_counters counters = {.sent = &sent, .flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER};

	tofu_put_data(&counters, n);
	put_flag(&counters, n, &n->value);
	tofu_wait_for(&sent);
}

void tofu_notify(struct comms_request *request, const struct network_notification *n)
{
	struct tofu_counters counters;

	if (n->counted) {
		tofu_put_signal(n);
		return;
	}
	if (!request) {
		notify_and_wait(n);
		return;
	}
	counters = tofu_begin_request(request);
	counters.flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER;
	tofu_put_data(&counters, n);
	put_flag(&counters, n, &request->value);
	tofu_end_beginning(request);
}

/*
 * If the last put to a peer only reported that it was sent, one more put reports that everything
 * has arrived.
 */
void tofu_complete(void)
{
	const uint64_t nothing = 0;

	for (int pe = 0; pe < comms.n_pes; pe++) {
		struct tofu_peer *peer = tofu_peer(comms_peer(pe));

		if (peer && atomic_exchange_explicit(&peer->unconfirmed, false, memory_order_seq_cst))
			notify_and_wait(&(struct network_notification){
				.peer = comms_peer(pe),
				.segment = COMMS_HEAP,
				.piece = {{offsetof(struct comms_system, nothing), &nothing, sizeof nothing}},
				.flag_offset = COMMS_NO_FLAG,
			});
	}
	tofu_wait_for(&tofu.under_way);
}
