/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Meetings of all PEs, or of one PE of each node, at barrier gates, which pass them on without a processor. Of n members, m, the
 * largest power of two, join in a butterfly; each of the others goes in by a member of it, and hears from it.
 *
 * start    where a member begins and where it ends
 * fold     of a member by which another one goes in: joins what both have
 * stage s  joins what this member and the one 2^s away have
 *
 * At the first meeting each tells the others where its gates are and whether it got them; the votes go round as a meeting
 * does, so that all know if one did not. Then they meet without gates once more, and after that the gates are joined.
 */
#include "inside.h"

#include <stdlib.h>

#include "rte/rte.h"

enum { START, FOLD, STAGE, GATES = COMMS_TOFU_GATES };
enum { FOR = 1, AGAINST };
static const char routine[] = "shmem_init";

static struct {
	enum { NOT_ASKED, NOT_TO_BE_HAD, JOINED } state;
	utofu_vbg_id_t own[GATES];
	int members, stages, count;
	bool passed;
} gates;

static void *word_of(_Atomic uint64_t *word)
{
	return (void *)word;
}

static bool get_gates(const struct comms_group *group)
{
	utofu_tni_id_t *tnis;
	size_t count;
	int code;

	gates.members = group->size;
	for (gates.stages = 0; 2 << gates.stages <= group->size; gates.stages++)
		;
	gates.count = STAGE + gates.stages;
	if (gates.count > GATES || utofu.get_barrier_tnis(&tnis, &count) != UTOFU_SUCCESS)
		return false;
	code = count ? utofu.alloc_vbg(tnis[(size_t)group->me % count], (size_t)gates.count,
				       comms.threads ? UTOFU_VBG_FLAG_THREAD_SAFE : 0, gates.own)
		     : UTOFU_ERR_NOT_SUPPORTED;
	free(tnis);
	return code == UTOFU_SUCCESS;
}

/* Nobody is against it; and all have said where their gates are. */
static bool agree(const struct comms_group *group, bool mine)
{
	uint64_t vote = mine ? FOR : AGAINST;
	int round = 0;

	for (int step = 1; step < group->size; step = step < group->size - step ? 2 * step : group->size, round++) {
		_Atomic uint64_t *heard = &comms.system->gate_votes[round];

		comms_tell(NULL, NULL, 0, heard, vote, comms_group_pe(group, (group->me + step) % group->size), routine);
		COMMS_WAIT(heard, atomic_load_explicit(heard, memory_order_acquire) != 0);
		if (atomic_load(heard) == AGAINST)
			vote = AGAINST;
	}
	return vote == FOR;
}

static utofu_vbg_id_t theirs(const struct comms_group *group, int member, int gate)
{
	uint64_t id;

	comms_get(&id, word_of(&comms.system->gates[gate]), sizeof id, comms_group_pe(group, member), routine);
	return id;
}

static bool folds(int member)
{
	return member + (1 << gates.stages) < gates.members;
}

/* Where a member of the butterfly goes into it. */
static int entrance(int member)
{
	return folds(member) ? FOLD : START;
}

static struct utofu_vbg_setting joined(int gate, utofu_vbg_id_t from_own, utofu_vbg_id_t from_other, utofu_vbg_id_t to_own,
				       utofu_vbg_id_t to_other)
{
	return (struct utofu_vbg_setting){gates.own[gate], from_own, from_other, to_own, to_other, {UTOFU_PATH_COORD_NULL, 0, 0}};
}

static void join_butterfly(const struct comms_group *group)
{
	const utofu_vbg_id_t none = UTOFU_VBG_ID_NULL, *own = gates.own;
	struct utofu_vbg_setting settings[GATES];
	int me = group->me, guest = me + (1 << gates.stages), last = STAGE + gates.stages - 1, count = 0;
	utofu_vbg_id_t guests_start = folds(me) ? theirs(group, guest, START) : none, first = theirs(group, me ^ 1, STAGE);

	settings[count++] = joined(START, own[last], none, folds(me) ? own[FOLD] : own[STAGE], folds(me) ? none : first);
	if (folds(me))
		settings[count++] = joined(FOLD, own[START], guests_start, own[STAGE], first);
	for (int s = 0; s < gates.stages; s++) {
		int gate = STAGE + s, partner = me ^ 1 << s;

		settings[count++] = joined(gate, s ? own[gate - 1] : own[entrance(me)],
					   theirs(group, partner, s ? gate - 1 : entrance(partner)),
					   gate == last ? own[START] : own[gate + 1],
					   gate == last ? guests_start : theirs(group, me ^ 2 << s, gate + 1));
	}
	tofu_check(utofu.set_vbg(settings, (size_t)count), "utofu_set_vbg");
}

static void join_as_guest(const struct comms_group *group)
{
	int host = group->me - (1 << gates.stages);
	struct utofu_vbg_setting setting = joined(START, UTOFU_VBG_ID_NULL, theirs(group, host, STAGE + gates.stages - 1),
						  UTOFU_VBG_ID_NULL, theirs(group, host, FOLD));

	tofu_check(utofu.set_vbg(&setting, 1), "utofu_set_vbg");
}

static void join(const struct comms_group *group)
{
	bool got = get_gates(group);

	for (int i = 0; got && i < gates.count; i++)
		atomic_store(&comms.system->gates[i], gates.own[i]);
	if (!got)
		gates.count = 0;
	if (!agree(group, got)) {
		gates.state = NOT_TO_BE_HAD;
		return;
	}
	if (group->me >= 1 << gates.stages)
		join_as_guest(group);
	else
		join_butterfly(group);
	gates.state = JOINED;
}

static bool has_passed(void)
{
	int code = gates.passed ? UTOFU_SUCCESS : utofu.poll_barrier(gates.own[START], 0);

	if (code != UTOFU_SUCCESS && code != UTOFU_ERR_NOT_COMPLETED)
		tofu_fail("utofu_poll_barrier", -1, code);
	gates.passed = code == UTOFU_SUCCESS;
	return gates.passed;
}

bool tofu_gates_meet(const struct comms_group *group)
{
	if (group->slot != COMMS_WORLD_SLOT || group->size < 2)
		return false;
	if (gates.state == NOT_ASKED) {
		join(group);
		return false;
	}
	if (gates.state != JOINED)
		return false;
	gates.passed = false;
	tofu_check(utofu.barrier(gates.own[START], 0), "utofu_barrier");
	COMMS_WAIT(COMMS_NOWHERE, has_passed());
	return true;
}

void tofu_gates_stop(void)
{
	if (gates.count > 0)
		tofu_check(utofu.free_vbg(gates.own, (size_t)gates.count), "utofu_free_vbg");
	gates.state = NOT_ASKED;
	gates.count = 0;
}
