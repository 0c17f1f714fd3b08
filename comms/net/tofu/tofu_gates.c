/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers and small reductions at barrier gates, which forward and combine without a processor,
 * for the members of a team, or for one PE of each of its nodes. Of n members, m, the largest power
 * of two, form a butterfly. Each of the others enters through a member of it, and receives the
 * result from that member.
 *
 * start    where a member enters and leaves
 * fold     at a member through which another one enters: combines both inputs
 * stage s  combines the inputs of this member and the one 2^s away
 *
 * The team of all PEs uses gates from its first barrier on. Other teams do so after some barriers,
 * because gates are few. In that barrier each member publishes its gates and votes whether it got
 * them. The votes travel as in a dissemination barrier, so that all members know if one got none.
 * The members synchronise, or reduce, once more without gates, and then connect the gates.
 */
#include "comms/ops/ops.h"
#include "comms/core/group.h"
#include "tofu_inside.h"

#include <stdlib.h>
#include <string.h>

#include "comms/wait/wait.h"
#include "rte/rte.h"
#include "comms/ops/notify.h"

enum { START, FOLD, STAGE, GATES = COMMS_NETWORK_WORDS / 2 };
/* Of the words of a slot, the first are the identifiers of gates, and the votes follow. */
enum { VOTES = GATES };
enum { FOR = 1, AGAINST };
enum { BARRIERS = 3 }; /* that a team first has without gates */
static const char routine[] = "the barrier of a team";

struct gates {
	enum { NOT_ASKED, NOT_AVAILABLE, JOINED } state;
	utofu_vbg_id_t own[GATES];
	int members, stages, count;
	int barriers;
	bool passed;
};

static struct {
	struct gates of_slot[COMMS_SLOTS]; /* for the team that has the slot */
	size_t most_words, most_doubles;   /* of a reduction */
	unsigned long reduce_ops;	   /* that the gates support */
} barrier_gates;

static void *plain_word(_Atomic uint64_t *word)
{
	return (void *)word;
}

static bool allocate_gates(const struct comms_group *group, struct gates *gates)
{
	struct utofu_barrier_caps *caps;
	utofu_tni_id_t *tnis;
	size_t count;
	int code;

	gates->members = group->size;
	for (gates->stages = 0; 2 << gates->stages <= group->size; gates->stages++)
		;
	gates->count = STAGE + gates->stages;
	if (gates->count > GATES || utofu.get_barrier_tnis(&tnis, &count) != UTOFU_SUCCESS)
		return false;
	code = count ? utofu.alloc_vbg(tnis[(size_t)(group->me + group->slot) % count], (size_t)gates->count,
				       comms.threads ? UTOFU_VBG_FLAG_THREAD_SAFE : 0, gates->own)
		     : UTOFU_ERR_NOT_SUPPORTED;
	if (code == UTOFU_SUCCESS && utofu.query_barrier_caps(tnis[0], &caps) == UTOFU_SUCCESS) {
		barrier_gates.reduce_ops = caps->reduce_ops;
		barrier_gates.most_words = caps->max_uint64_reduction;
		barrier_gates.most_doubles = caps->max_double_reduction;
	}
	free(tnis);
	return code == UTOFU_SUCCESS;
}

/* True if all members have published their gates and none votes against it. */
static bool agree_on_gates(const struct comms_group *group, bool mine)
{
	uint64_t vote = mine ? FOR : AGAINST;
	int round = 0;

	for (int step = 1; step < group->size; step = step < group->size - step ? 2 * step : group->size, round++) {
		_Atomic uint64_t *received = &comms.system->slot[group->slot].network[VOTES + round];

		comms_notify(received, vote, comms_group_pe(group, (group->me + step) % group->size), routine);
		COMMS_WAIT(received, atomic_load_explicit(received, memory_order_acquire) != 0);
		if (atomic_load_explicit(received, memory_order_seq_cst) == AGAINST)
			vote = AGAINST;
	}
	return vote == FOR;
}

static utofu_vbg_id_t gate_of_member(const struct comms_group *group, int member, int gate)
{
	uint64_t id;

	comms_get(&id, plain_word(&comms.system->slot[group->slot].network[gate]), sizeof id,
		  comms_group_pe(group, member), routine);
	return id;
}

static bool has_guest(const struct gates *gates, int member)
{
	return member + (1 << gates->stages) < gates->members;
}

/* Where a member enters the butterfly. */
static int entrance_gate(const struct gates *gates, int member)
{
	return has_guest(gates, member) ? FOLD : START;
}

static struct utofu_vbg_setting gate_setting(utofu_vbg_id_t gate, utofu_vbg_id_t from_own, utofu_vbg_id_t from_other,
					     utofu_vbg_id_t to_own, utofu_vbg_id_t to_other)
{
	return (struct utofu_vbg_setting){gate, from_own, from_other, to_own, to_other, {UTOFU_PATH_COORD_NULL, 0, 0}};
}

static void join_butterfly(const struct comms_group *group, const struct gates *gates)
{
	const utofu_vbg_id_t none = UTOFU_VBG_ID_NULL, *own = gates->own;
	struct utofu_vbg_setting settings[GATES];
	int me = group->me, guest = me + (1 << gates->stages), last = STAGE + gates->stages - 1, count = 0;
	bool host = has_guest(gates, me);
	utofu_vbg_id_t guests_start = host ? gate_of_member(group, guest, START) : none,
		       first = gate_of_member(group, me ^ 1, STAGE);

	settings[count++] =
		gate_setting(own[START], own[last], none, host ? own[FOLD] : own[STAGE], host ? none : first);
	if (host)
		settings[count++] = gate_setting(own[FOLD], own[START], guests_start, own[STAGE], first);
	for (int s = 0; s < gates->stages; s++) {
		int gate = STAGE + s, partner = me ^ 1 << s;

		settings[count++] =
			gate_setting(own[gate], s ? own[gate - 1] : own[entrance_gate(gates, me)],
				     gate_of_member(group, partner, s ? gate - 1 : entrance_gate(gates, partner)),
				     gate == last ? own[START] : own[gate + 1],
				     gate == last ? guests_start : gate_of_member(group, me ^ 2 << s, gate + 1));
	}
	tofu_check(utofu.set_vbg(settings, (size_t)count), "utofu_set_vbg");
}

static void join_as_guest(const struct comms_group *group, const struct gates *gates)
{
	int host = group->me - (1 << gates->stages);
	struct utofu_vbg_setting setting = gate_setting(gates->own[START], UTOFU_VBG_ID_NULL,
							gate_of_member(group, host, STAGE + gates->stages - 1),
							UTOFU_VBG_ID_NULL, gate_of_member(group, host, FOLD));

	tofu_check(utofu.set_vbg(&setting, 1), "utofu_set_vbg");
}

static void free_gates(struct gates *gates)
{
	if (gates->count > 0)
		tofu_check(utofu.free_vbg(gates->own, (size_t)gates->count), "utofu_free_vbg");
	gates->count = 0;
}

static void join_gates(const struct comms_group *group, struct gates *gates)
{
	bool got = allocate_gates(group, gates);

	for (int i = 0; got && i < gates->count; i++)
		atomic_store_explicit(&comms.system->slot[group->slot].network[i], gates->own[i], memory_order_seq_cst);
	if (!got)
		gates->count = 0;
	if (!agree_on_gates(group, got)) {
		free_gates(gates);
		gates->state = NOT_AVAILABLE;
		return;
	}
	if (group->me >= 1 << gates->stages)
		join_as_guest(group, gates);
	else
		join_butterfly(group, gates);
	gates->state = JOINED;
}

/* The gates of these members; NULL: they do without this time. */
static struct gates *gates_of(const struct comms_group *group)
{
	struct gates *gates = &barrier_gates.of_slot[group->slot];

	if (group->on_node || group->size < 2)
		return NULL;
	if (gates->state == JOINED)
		return gates;
	if (gates->state == NOT_ASKED && (group->slot == COMMS_WORLD_SLOT || gates->barriers++ == BARRIERS))
		join_gates(group, gates);
	return NULL;
}

static bool gate_operation_is_over(struct gates *gates, int code)
{
	if (code != UTOFU_SUCCESS && code != UTOFU_ERR_NOT_COMPLETED)
		tofu_fail("a barrier at barrier gates", -1, code);
	gates->passed = code == UTOFU_SUCCESS;
	return gates->passed;
}

bool tofu_gates_barrier(const struct comms_group *group)
{
	struct gates *gates = gates_of(group);

	if (!gates)
		return false;
	gates->passed = false;
	tofu_check(utofu.barrier(gates->own[START], 0), "utofu_barrier");
	COMMS_WAIT(COMMS_BY_NETWORK,
		   gates->passed || gate_operation_is_over(gates, utofu.poll_barrier(gates->own[START], 0)));
	return true;
}

static void add_doubles(struct gates *gates, uint64_t *words, size_t count)
{
	double values[COMMS_REDUCE_WORDS];

	memcpy(values, words, count * sizeof *values);
	tofu_check(utofu.reduce_double(gates->own[START], UTOFU_REDUCE_OP_BFPSUM, values, count, 0),
		   "utofu_reduce_double");
	COMMS_WAIT(COMMS_BY_NETWORK,
		   gates->passed ||
			   gate_operation_is_over(gates, utofu.poll_reduce_double(gates->own[START], 0, values)));
	memcpy(words, values, count * sizeof *values);
}

bool tofu_gates_reduce(const struct comms_group *group, enum comms_reduce_op op, uint64_t *words, size_t count)
{
	static const enum utofu_reduce_op ops[] = {
		[COMMS_REDUCE_SUM] = UTOFU_REDUCE_OP_SUM,  [COMMS_REDUCE_MAX] = UTOFU_REDUCE_OP_MAX,
		[COMMS_REDUCE_AND] = UTOFU_REDUCE_OP_BAND, [COMMS_REDUCE_OR] = UTOFU_REDUCE_OP_BOR,
		[COMMS_REDUCE_XOR] = UTOFU_REDUCE_OP_BXOR, [COMMS_REDUCE_DOUBLE_SUM] = UTOFU_REDUCE_OP_BFPSUM,
	};
	struct gates *gates = gates_of(group);

	if (!gates || !(barrier_gates.reduce_ops & 1UL << ops[op]) ||
	    count > (op == COMMS_REDUCE_DOUBLE_SUM ? barrier_gates.most_doubles : barrier_gates.most_words))
		return false;
	gates->passed = false;
	if (op == COMMS_REDUCE_DOUBLE_SUM) {
		add_doubles(gates, words, count);
		return true;
	}
	tofu_check(utofu.reduce_uint64(gates->own[START], ops[op], words, count, 0), "utofu_reduce_uint64");
	COMMS_WAIT(COMMS_BY_NETWORK,
		   gates->passed ||
			   gate_operation_is_over(gates, utofu.poll_reduce_uint64(gates->own[START], 0, words)));
	return true;
}

void tofu_gates_part(const struct comms_group *group)
{
	free_gates(&barrier_gates.of_slot[group->slot]);
	barrier_gates.of_slot[group->slot] = (struct gates){0};
}

void tofu_gates_stop(void)
{
	for (int slot = 0; slot < COMMS_SLOTS; slot++) {
		free_gates(&barrier_gates.of_slot[slot]);
		barrier_gates.of_slot[slot] = (struct gates){0};
	}
}
