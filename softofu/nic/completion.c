/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/nic/carrier.h"
#include "softofu/nic/recording.h"

/* Completion of communications in the NIC: notices, and the scheduling pointer of sessions. */

_Thread_local int64_t nic_time;

uint64_t descriptor_span(const struct descriptor *what)
{
	if (what->kind == KIND_ARMW)
		return what->armw.size;
	if (what->kind == KIND_PIGGYBACK || what->memory.blocks < 2)
		return what->length;
	return what->memory.stride * (what->memory.blocks - 1) + what->length;
}

static uint64_t put_bytes_of(const struct descriptor *what)
{
	if (what->kind == KIND_PIGGYBACK)
		return what->length;
	return what->kind == KIND_PUT ? (uint64_t)what->length * what->memory.blocks : 0;
}

void nic_sent(struct vcq *from, const struct descriptor *what, void *cbdata, int code)
{
	if (!code)
		atomic_fetch_add_explicit(&from->counts.bytes_out, put_bytes_of(what), memory_order_relaxed);
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

/*
 * Addresses in notices are those after the last byte. An atomic operation reports the address of
 * its word.
 */
static uint64_t end_stadd(const struct descriptor *what, uint64_t stadd)
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
	record_released(nic, to, atomic_fetch_add_explicit(&to->scheduled, steps, memory_order_release), steps);
	process_wake(job_process(nic->job, to->rank));
}

static void notify_target(struct nic *nic, struct shared_vcq *from, struct shared_vcq *to,
			  const struct descriptor *what)
{
	struct mrq_entry notice = {
		.vcq_id = shared_vcq_id(from),
		.rmt_value = end_stadd(what, what->rmt_stadd),
		.rmt_stadd = end_stadd(what, what->rmt_stadd),
		.type = type_of(what, true),
		.edata = what->edata,
	};
	uint64_t number;

	if ((what->flags & UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE) && mrq_reserve(nic, to, &number))
		mrq_fill(nic, to, number, &notice);
	move_pointer(nic, to, what);
}

/*
 * Programs that start without a barrier repeat their put until the target is ready. So a missing
 * target is no error, and is reported only if the sender asked for a local notice.
 */
static bool sender_wants(const struct descriptor *what, int code)
{
	bool too_early = code == UTOFU_ERR_MRQ_PEER || code == UTOFU_ERR_MRQ_RMT_STADD;

	return (code && !too_early) || (what->flags & UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE);
}

/*
 * On the machine the notice of the sender comes before any reaction of the target can. So this
 * reserves the place of the notice before it notifies the target.
 */
void nic_arrived(struct nic *nic, struct shared_vcq *from, struct shared_vcq *to, const struct descriptor *what,
		 int code, uint64_t value)
{
	bool has_source = what->kind == KIND_PUT || what->kind == KIND_GET;
	struct mrq_entry notice = {
		.vcq_id = id_plain(what->vcq_id),
		.rmt_value = value,
		.lcl_stadd = has_source ? end_stadd(what, what->memory.lcl_stadd) : 0,
		.rmt_stadd = end_stadd(what, what->rmt_stadd),
		.type = type_of(what, false),
		.edata = what->edata,
		.code = (int16_t)code,
	};
	uint64_t number;
	bool wanted = sender_wants(what, code) && mrq_reserve(nic, from, &number);

	if (!code)
		notify_target(nic, from, to, what);
	if (wanted)
		mrq_fill(nic, from, number, &notice);
}
