/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets: common code of all collectives, for teams and active sets. */
#include "collectives.h"

#include "comms/ops/reorder.h"

void api_barrier_all(const char *routine)
{
	hang_note_group(routine, &api_world.group);
	comms_complete();
	comms_sync(&api_world.group);
}

void api_barrier_at_end(void)
{
	struct comms_group final;

	comms_group_twin(&final, &api_world.group, COMMS_FINAL_SLOT);
	hang_note_group("shmem_finalize", &final);
	if (comms.checks)
		reorder_quiet_all();
	comms_complete();
	comms_sync(&final);
	hang_note_group("shmem_finalize", &api_world.group);
	comms_twin_forget(&final);
}

void set_finish(const struct set *set)
{
	comms_complete();
	set_sync(set);
}

struct set set_of_leaders(const struct set *set)
{
	struct set leaders = *set;

	comms_group_prepare(set->group);
	if (set->group->levels)
		leaders.group = &set->group->levels->leaders;
	return leaders;
}

static void sync_by_counters(const struct set *set)
{
	int n = set->group->size, round = 0;

	for (long step = 1; step < n; step *= 2, round++) {
		_Atomic uint64_t *word = (_Atomic uint64_t *)&set->psync[round];

		comms_amo(word, (struct comms_atomic){COMMS_ADD, sizeof *word, 1, 0},
			  set_pe(set, (int)((set->group->me + step) % n)), set->routine);
		COMMS_WAIT(word, atomic_load_explicit(word, memory_order_acquire) > 0);
		/*
		 * By an atomic like the others' increments: one of the next barrier may be under
		 * way, and a network's atomics are not atomic with the processor's.
		 */
		comms_amo_fetch(word, (struct comms_atomic){COMMS_ADD, sizeof *word, (uint64_t)-1, 0}, comms.pe,
				set->routine);
	}
}

void set_sync(const struct set *set)
{
	if (set->team)
		comms_sync(set->group);
	else
		sync_by_counters(set);
}
