/* SPDX-License-Identifier: BSD-3-Clause */
/* The operations of the UCX path, each on a channel. */
#include <stdio.h>
#include <string.h>

#include "ucx_inside.h"

#define LONG_PUT (128 << 10) /* bytes; below, UCX's own puts are as fast */

/* The channel's count is the last that is touched. */
static void count(struct mark *mark, int change)
{
	struct comms_channel *channel = mark->channel;

	if (COMMS_UNLIKELY(ucx.overtaking))
		atomic_fetch_add(&mark->peer->inside, change);
	channel_count(channel, &channel->unsent, change);
}

/* Runs in whoever progresses the worker. */
static void free_when_done(void *request, ucs_status_t status, void *mark)
{
	ucp_request_free(request);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "an operation on another PE");
	count(mark, -1);
}

/*
 * The parameters of a nonblocking operation that nobody waits for by itself. It is counted from here on: the callback of one
 * that UCX keeps may run at any time, also before we see the request.
 */
static ucp_request_param_t when_done(struct mark *mark)
{
	count(mark, 1);
	return (ucp_request_param_t){
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.cb.send = free_when_done,
		.user_data = mark,
	};
}

/* After an operation with when_done. */
static void started(struct mark *mark, ucs_status_ptr_t request, const char *what)
{
	if (!UCS_PTR_IS_PTR(request))
		count(mark, -1); /* there will be no callback */
	channel_touch(mark);
	if (UCS_PTR_IS_ERR(request))
		ucx_must_succeed(UCS_PTR_STATUS(request), what);
}

static ucp_atomic_op_t ucp_op(enum comms_amo op)
{
	static const ucp_atomic_op_t names[] = {
		[COMMS_FETCH] = UCP_ATOMIC_OP_ADD, /* of zero */
		[COMMS_ADD] = UCP_ATOMIC_OP_ADD,   [COMMS_AND] = UCP_ATOMIC_OP_AND,
		[COMMS_OR] = UCP_ATOMIC_OP_OR,	   [COMMS_XOR] = UCP_ATOMIC_OP_XOR,
		[COMMS_SWAP] = UCP_ATOMIC_OP_SWAP, [COMMS_CSWAP] = UCP_ATOMIC_OP_CSWAP,
	};

	return names[op];
}

/* UCP reads its operand when called, at the given width: on a little-endian machine the low half is in front. */
static const void *narrow(const uint64_t *operand, size_t width, uint32_t *half)
{
	if (width == sizeof *operand)
		return operand;
	*half = (uint32_t)*operand;
	return half;
}

static void answer_came(void *request, ucs_status_t status, void *mark)
{
	ucp_request_free(request);
	if (status != UCS_ERR_CANCELED)
		ucx_must_succeed(status, "an operation on another PE");
	channel_answered(mark);
}

/* An atomic whose result nobody wants, but for that it says that all is done. */
static void ask(struct mark *mark, uint64_t dest, ucp_rkey_h key, ucp_atomic_op_t op, const void *operand, size_t width)
{
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_DATATYPE |
				UCP_OP_ATTR_FIELD_REPLY_BUFFER,
		.cb.send = answer_came,
		.user_data = mark,
		.datatype = ucp_dt_make_contig(width),
		.reply_buffer = &mark->channel->nobody_reads,
	};
	ucs_status_ptr_t request;

	channel_ask(mark);
	request = ucp_atomic_op_nbx(mark->peer->endpoint, op, operand, 1, dest, key, &param);
	if (!UCS_PTR_IS_PTR(request)) {
		ucx_must_succeed(UCS_PTR_STATUS(request), "ucp_atomic_op_nbx");
		channel_answered(mark);
	}
	channel_asked(mark);
}

/*
 * Without a card that writes by itself, a put is a message that the other side's software answers, as it answers a swap. But the answer to a
 * put completes nothing: that takes a flush, which is one more message there and back.
 */
static bool swap_instead(struct mark *mark, uint64_t dest, ucp_rkey_h key, const void *source, size_t bytes)
{
	uint64_t word = 0; /* as aligned as UCX reads it */

	if (!ucx.by_software || (bytes != sizeof word && bytes != sizeof(uint32_t)) || dest % bytes != 0)
		return false;
	memcpy(&word, source, bytes);
	ask(mark, dest, key, UCP_ATOMIC_OP_SWAP, &word, bytes);
	return true;
}

/* So that an answer says that a long put is there, a question follows it: what lies in its place, which the addition of zero leaves. */
static bool messages_instead(struct mark *mark, uint64_t dest, ucp_rkey_h key, const void *source, size_t bytes)
{
	static const uint64_t zero;
	uint64_t inside = (dest + sizeof zero - 1) / sizeof zero * sizeof zero;

	if (!ucx.by_software || bytes < LONG_PUT)
		return false;
	ucx_put_by_messages(mark->channel, mark->peer, dest, source, bytes);
	ask(mark, inside, key, UCP_ATOMIC_OP_ADD, &zero, sizeof zero);
	return true;
}

void ucx_put(struct comms_channel *channel, struct comms_peer *to, enum comms_segment_id segment, size_t offset,
	     const void *source, size_t bytes, bool nbi)
{
	struct mark *mark = channel_begin(&channel, to);
	struct ucx_peer *peer = mark->peer;
	uint64_t dest = ucx_remote(peer, segment, offset);

	if (swap_instead(mark, dest, peer->key[segment], source, bytes) ||
	    (!nbi && messages_instead(mark, dest, peer->key[segment], source, bytes))) {
		channel_end(mark);
		return;
	}
	if (nbi) {
		ucp_request_param_t param = when_done(mark);

		started(mark, ucp_put_nbx(peer->endpoint, source, bytes, dest, peer->key[segment], &param),
			"ucp_put_nbx");
	} else {
		ucx_must_succeed(channel_finish(channel, ucp_put_nbx(peer->endpoint, source, bytes, dest,
								     peer->key[segment], &ucx_plain)),
				 "ucp_put_nbx");
		channel_touch(mark);
	}
	channel_end(mark);
}

void ucx_get(struct comms_channel *channel, struct comms_peer *from, enum comms_segment_id segment, size_t offset,
	     void *dest, size_t bytes, bool nbi)
{
	struct mark *mark = channel_begin(&channel, from);
	struct ucx_peer *peer = mark->peer;
	uint64_t source = ucx_remote(peer, segment, offset);

	if (nbi) {
		ucp_request_param_t param = when_done(mark);

		started(mark, ucp_get_nbx(peer->endpoint, dest, bytes, source, peer->key[segment], &param),
			"ucp_get_nbx");
	} else {
		ucx_must_succeed(channel_finish(channel, ucp_get_nbx(peer->endpoint, dest, bytes, source,
								     peer->key[segment], &ucx_plain)),
				 "ucp_get_nbx");
	}
	channel_end(mark);
}

static void ucx_amo_fetch(struct comms_channel *channel, struct comms_peer *to, enum comms_segment_id segment, size_t offset,
		   enum comms_amo op, size_t width, uint64_t operand, uint64_t cond, void *result, bool nbi)
{
	struct mark *mark = channel_begin(&channel, to);
	struct ucx_peer *peer = mark->peer;
	ucp_request_param_t param = nbi ? when_done(mark) : ucx_plain;
	const uint64_t *first = op == COMMS_CSWAP ? &cond : &operand;
	ucs_status_ptr_t request;
	uint32_t half;

	param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE | UCP_OP_ATTR_FIELD_REPLY_BUFFER;
	param.datatype = ucp_dt_make_contig(width);
	param.reply_buffer = result;
	if (op == COMMS_CSWAP) /* the new value travels in the result's place */
		memcpy(result, narrow(&operand, width, &half), width);
	request = ucp_atomic_op_nbx(peer->endpoint, ucp_op(op), narrow(first, width, &half), 1,
				    ucx_remote(peer, segment, offset), peer->key[segment], &param);
	if (nbi)
		started(mark, request, "ucp_atomic_op_nbx");
	else
		ucx_must_succeed(channel_finish(channel, request), "ucp_atomic_op_nbx");
	channel_end(mark);
}

static void ucx_amo(struct comms_channel *channel, struct comms_peer *to, enum comms_segment_id segment, size_t offset,
	     enum comms_amo op, size_t width, uint64_t operand)
{
	ucp_request_param_t param;
	struct ucx_peer *peer;
	struct mark *mark;
	uint32_t half;

	if (op == COMMS_SWAP && !ucx.by_software) { /* without a result, UCX's software atomics do not know it */
		channel = channel ? channel : &ucx.main;
		ucx_amo_fetch(channel, to, segment, offset, op, width, operand, 0, &channel->nobody_reads, true);
		return;
	}
	mark = channel_begin(&channel, to);
	peer = mark->peer;
	if (ucx.by_software) {
		ask(mark, ucx_remote(peer, segment, offset), peer->key[segment], ucp_op(op), narrow(&operand, width, &half), width);
		channel_end(mark);
		return;
	}
	param = when_done(mark);
	param.op_attr_mask |= UCP_OP_ATTR_FIELD_DATATYPE;
	param.datatype = ucp_dt_make_contig(width);
	started(mark,
		ucp_atomic_op_nbx(peer->endpoint, ucp_op(op), narrow(&operand, width, &half), 1,
				  ucx_remote(peer, segment, offset), peer->key[segment], &param),
		"ucp_atomic_op_nbx");
	channel_end(mark);
}

static void ucx_put_signal(struct comms_channel *channel, struct comms_peer *peer, enum comms_segment_id segment, size_t offset,
			   const void *source, size_t bytes, bool nbi, enum comms_segment_id word_segment, size_t word_offset,
			   enum comms_amo op, uint64_t value)
{
	ucx_put(channel, peer, segment, offset, source, bytes, nbi);
	ucx_fence(channel);
	ucx_amo(channel, peer, word_segment, word_offset, op, sizeof value, value);
}

/* "; operations under way to PEs 1, 3", or nothing. */
static void name_under_way(char *text, size_t size)
{
	size_t used = 0;
	int count = 0;

	text[0] = '\0';
	for (int pe = 0; pe < comms.n_pes; pe++) {
		struct ucx_peer *peer = __atomic_load_n(&comms_peer(pe)->ucx, __ATOMIC_ACQUIRE);

		if (!peer || !(atomic_load(&peer->mark.touched) || atomic_load(&peer->mark.in_flush)))
			continue;
		used += (size_t)snprintf(text + used, size - used, count++ ? ", %d" : "; operations under way to PEs %d", pe);
		if (used + sizeof ", ..., 158976" > size) {
			snprintf(text + used, size - used, ", ...");
			return;
		}
	}
}

const struct comms_network ucx_network = {
	.name = "UCX",
	.row = WATCH_UCX,
	.channel_open = ucx_channel_open,
	.channel_close = ucx_channel_close,
	.put = ucx_put,
	.put_signal = ucx_put_signal,
	.get = ucx_get,
	.amo = ucx_amo,
	.amo_fetch = ucx_amo_fetch,
	.fence = ucx_fence,
	.quiet = ucx_quiet,
	.quiet_pes = ucx_quiet_pes,
	.tell = ucx_tell,
	.tell_later = ucx_tell_later,
	.share = ucx_share,
	.unshare = ucx_unshare,
	.tell_buffer = ucx_tell_buffer,
	.get_buffer = ucx_get_buffer,
	.keep = ucx_keep,
	.send_kept = ucx_send_kept,
	.complete = ucx_complete,
	.progress = ucx_progress,
	.served = ucx_served,
	.doze = ucx_doze,
	.nudge = ucx_nudge,
	.name_under_way = name_under_way,
};
