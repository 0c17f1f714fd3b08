/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/nic/carry.h"
#include "softofu/nic/record.h"

/* What a card does when a carrier tells it something: notices, and the scheduling pointer of sessions. */

_Thread_local int64_t card_time;

uint64_t descriptor_span(const struct descriptor *what)
{
	if (what->kind == KIND_ARMW)
		return what->armw.size;
	if (what->kind == KIND_PIGGYBACK || what->memory.blocks < 2)
		return what->length;
	return what->memory.stride * (what->memory.blocks - 1) + what->length;
}

static uint64_t bytes_of(const struct descriptor *what)
{
	if (what->kind == KIND_PIGGYBACK)
		return what->length;
	return what->kind == KIND_PUT ? (uint64_t)what->length * what->memory.blocks : 0;
}

void card_sent(struct vcq *from, const struct descriptor *what, void *cbdata, int code)
{
	if (!code)
		atomic_fetch_add_explicit(&from->counts.bytes_out, bytes_of(what), memory_order_relaxed);
	if (code || (what->flags & UTOFU_ONESIDED_FLAG_TCQ_NOTICE))
		tcq_put(from, cbdata, code);
}

static uint8_t type_of(const struct descriptor *what, bool remote)
{
	static const uint8_t types[][2] = {
		[KIND_PUT] = {UTOFU_MRQ_TYPE_LCL_PUT, UTOFU_MRQ_TYPE_RMT_PUT},
		[KIND_PIGGYBACK] = {UTOFU_MRQ_TYPE_LCL_PUT, UTOFU_MRQ_TYPE_RMT_PUT},
		[KIND_GET] = {UTOFU_MRQ_TYPE_LCL_GET, UTOFU_MRQ_TYPE_RMT_GET},
		[KIND_ARMW] = {UTOFU_MRQ_TYPE_LCL_ARMW, UTOFU_MRQ_TYPE_RMT_ARMW},
	};

	return types[what->kind][remote];
}

/* Addresses in notices are those after the last byte; an atomic operation's is the word's. */
static uint64_t end_of(const struct descriptor *what, uint64_t stadd)
{
	return what->kind == KIND_ARMW ? stadd : stadd + descriptor_span(what);
}

static void move_pointer(struct nic *nic, struct shared_vcq *to, const struct descriptor *what)
{
	uint64_t steps = what->flags >> 24 & MOST_SPS;

	if (!steps || !(to->flags & UTOFU_VCQ_FLAG_SESSION_MODE))
		return;
	if (nic->settings.sps_by_block && what->kind == KIND_PUT)
		steps *= what->memory.blocks;
	record_let_go(nic, to, atomic_fetch_add_explicit(&to->scheduled, steps, memory_order_release), steps);
	process_ring(job_process(nic->job, to->rank));
}

static void tell_target(struct nic *nic, struct shared_vcq *from, struct shared_vcq *to, const struct descriptor *what)
{
	struct mrq_entry notice = {
		.vcq_id = shared_vcq_id(from),
		.rmt_value = end_of(what, what->rmt_stadd),
		.rmt_stadd = end_of(what, what->rmt_stadd),
		.type = type_of(what, true),
		.edata = what->edata,
	};
	uint64_t turn;

	if ((what->flags & UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE) && mrq_reserve(nic, to, &turn))
		mrq_fill(nic, to, turn, &notice);
	move_pointer(nic, to, what);
}

/*
 * Programs that start without a barrier put until the other side is there and listens: that it was not yet is no error to
 * them, and only told where a notice was asked for.
 */
static bool sender_wants(const struct descriptor *what, int code)
{
	bool too_early = code == UTOFU_ERR_MRQ_PEER || code == UTOFU_ERR_MRQ_RMT_STADD;

	return (code && !too_early) || (what->flags & UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE);
}

/*
 * On the machine the sender hears of the arrival before anything that the target does about it can come back. So its notice
 * has its place before the target is told.
 */
void card_arrived(struct nic *nic, struct shared_vcq *from, struct shared_vcq *to, const struct descriptor *what, int code,
		  uint64_t value)
{
	bool has_source = what->kind == KIND_PUT || what->kind == KIND_GET;
	struct mrq_entry notice = {
		.vcq_id = id_plain(what->vcq_id),
		.rmt_value = value,
		.lcl_stadd = has_source ? end_of(what, what->memory.lcl_stadd) : 0,
		.rmt_stadd = end_of(what, what->rmt_stadd),
		.type = type_of(what, false),
		.edata = what->edata,
		.code = (int16_t)code,
	};
	uint64_t turn;
	bool tells = sender_wants(what, code) && mrq_reserve(nic, from, &turn);

	if (!code)
		tell_target(nic, from, to, what);
	if (tells)
		mrq_fill(nic, from, turn, &notice);
}
