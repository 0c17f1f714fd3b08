/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The deprecated collectives on active sets: PEs start, start + 2^log, ...
 *
 * Programs use a set repeatedly. So at its first use the members make it a team, if they find a
 * slot that is free on all of them, and each remembers the team. Calls of a set follow one another,
 * whatever their pSync arrays, unless several threads call: if a member may have such threads, each
 * array gets its own team. The members agree on all this through pSync. Without a slot, pSync
 * serves every later barrier, too: its first elements count the flags of each round of a
 * dissemination. A member that arrives adds one to its partner's count, and a member that waits
 * subtracts one from its own; so a partner that is already in the next call does no harm. The array
 * is zero before and after.
 */
#include "collectives.h"

#include <stdlib.h>

/* Position of an offer's words in pSync. */
#define OFFERS (ROUNDS + 1 + sizeof(struct agreement) / sizeof(long))
#define OFFERED ((uint64_t)1 << 63)
#define SLOTS_AT_MOST 32

_Static_assert(SHMEM_SYNC_SIZE >= OFFERS + ROUNDS,
	       "a word for each round, one for counts, what members compare, and a word for each round of an offer");
_Static_assert(SHMEM_SYNC_VALUE == 0, "counters begin at zero");

struct active_set {
	int start, log_stride, size;
	long *psync; /* NULL: any */
	bool has_slot;
	struct shmemx_team team;
	struct active_set *next;
};

static struct {
	_Atomic(struct active_set *) first;
	atomic_int slots_taken;
} active_sets;

/* Old programs let all PEs call a collective of which only some are members. */
static void warn_of_outsider(int start, int log_stride, int size, const char *routine)
{
	static atomic_bool warned;

	if (!atomic_exchange_explicit(&warned, true, memory_order_relaxed))
		rte_report(routine,
			   "warning: PE_start=%d, logPE_stride=%d, PE_size=%d: the caller is not in this set, so "
			   "the call does nothing; others like it do nothing, too, without a warning",
			   start, log_stride, size);
}

/* Returns false if the caller is not in the set. */
static bool check_active(int start, int log_stride, int size, const long *psync, const char *routine)
{
	long stride = log_stride >= 0 && log_stride < 31 ? 1L << log_stride : 0,
	     last = start + stride * ((long)size - 1);

	if (size < 1 || stride == 0 || start < 0 || last >= comms.n_pes) {
		rte_misuse(routine, "PE_start=%d, logPE_stride=%d, PE_size=%d: this set is not within PEs 0 to %d",
			   start, log_stride, size, comms.n_pes - 1);
		return false;
	}
	if (comms.pe < start || comms.pe > last || (comms.pe - start) % stride) {
		warn_of_outsider(start, log_stride, size, routine);
		return false;
	}
	return comms_check_symmetric(psync, SHMEM_SYNC_SIZE * sizeof *psync, "pSync", routine);
}

static struct set set_of_active_set(struct active_set *active, long *psync, const char *routine)
{
	hang_note_group(routine, &active->team.group);
	return (struct set){&active->team.group, active->has_slot ? &active->team : NULL, psync, routine};
}

static struct active_set *make_active(int start, int log_stride, int size, long *psync, const char *routine)
{
	struct active_set *active = calloc(1, sizeof *active);
	struct set set;
	int slot;

	if (!active)
		rte_die(routine, "no memory");
	*active = (struct active_set){.start = start, .log_stride = log_stride, .size = size};
	active->team.group = (struct comms_group){.size = size,
						  .me = (comms.pe - start) >> log_stride,
						  .start = start,
						  .stride = 1 << log_stride};
	active->team.group.on_node = comms_all_on_node(&active->team.group);
	set = set_of_active_set(active, psync, routine);
	active->psync = set_and(&set, !api_threads_at_once()) ? NULL : psync;
	slot = api_agree_on_slot(&set,
				 atomic_load_explicit(&active_sets.slots_taken, memory_order_relaxed) < SLOTS_AT_MOST
					 ? SLOT_IF_FREE
					 : SLOT_NEVER);
	if (slot != COMMS_SLOTS) {
		active->team.group.slot = slot;
		active->has_slot = true;
		atomic_fetch_add_explicit(&active_sets.slots_taken, 1, memory_order_relaxed);
	}
	active->next = atomic_load_explicit(&active_sets.first, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(&active_sets.first, &active->next, active, memory_order_release,
						      memory_order_relaxed))
		;
	return active;
}

struct set set_of_active(int start, int log_stride, int size, long *psync, const char *routine)
{
	struct active_set *active;

	comms_check_up(routine);
	for (active = atomic_load_explicit(&active_sets.first, memory_order_acquire); active; active = active->next)
		if (active->start == start && active->size == size && active->log_stride == log_stride &&
		    (!active->psync || active->psync == psync))
			return set_of_active_set(active, psync, routine);
	if (!check_active(start, log_stride, size, psync, routine))
		return (struct set){0};
	if (COMMS_UNLIKELY(comms.checks))
		set_check_psync_new(psync, routine);
	return set_of_active_set(make_active(start, log_stride, size, psync, routine), psync, routine);
}

void api_forget_active_sets(void)
{
	struct active_set *active = atomic_exchange_explicit(&active_sets.first, NULL, memory_order_acquire), *next;

	for (; active; active = next) {
		next = active->next;
		comms_group_forget(&active->team.group);
		torus_topology_free(active->team.topology);
		free(active);
	}
	atomic_store_explicit(&active_sets.slots_taken, 0, memory_order_relaxed);
}

/*
 * Twice as far in each round, every member forwards what it knows. The last bit shows that a word
 * has arrived.
 */
static uint64_t and_by_offers(const struct set *set, uint64_t mine)
{
	int n = set->group->size, me = set->group->me;
	_Atomic uint64_t *word = (_Atomic uint64_t *)&set->psync[OFFERS];

	for (int step = 1; step < n; step = step < n - step ? 2 * step : n, word++) {
		int to = me < n - step ? me + step : me - (n - step);

		comms_notify(word, mine | OFFERED, set_pe(set, to), set->routine);
		COMMS_WAIT(word, atomic_load_explicit(word, memory_order_acquire) != 0);
		mine &= atomic_exchange_explicit(word, 0, memory_order_acquire);
	}
	set_sync(set);
	return mine & ~OFFERED;
}

uint64_t set_and(const struct set *set, uint64_t mine)
{
	return set->team ? set_reduce_and(set, mine) : and_by_offers(set, mine);
}
