/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What SHMEM_CHECK finds in collectives: callers that do not agree, a source that overlaps dest, a
 * pSync in use. Members compare their arguments while all of them are in the call, so no member
 * waits for one that would not come.
 */
#include "collectives.h"

#include <string.h>

#include "comms/ops/reorder.h"

/* --- Do the callers agree? --- */

/*
 * Numbers that are equal on all members for equal arguments: names by their letters, dest by its
 * position in its segment.
 */
static long fingerprint(const char *text)
{
	unsigned long hash = 5381;

	while (*text)
		hash = hash * 33 + (unsigned char)*text++;
	return (long)(hash >> 1);
}

static long place_in_segment(const void *address)
{
	enum comms_segment_id segment = comms_find_segment(address);

	if (!address || segment == COMMS_NO_SEGMENT)
		return -1;
	return (long)((const char *)address - comms.segments[segment].base) * COMMS_MOST_SEGMENTS + (long)segment;
}

/*
 * If several members differ from the first, one message is enough: from the lowest, if it can print
 * it.
 */
static void let_lower_member_speak(const struct set *set, const struct agreement *shown, const struct agreement *first)
{
	for (int i = 1; i < set->group->me; i++) {
		struct agreement theirs = *first;

		comms_get(&theirs, shown, sizeof theirs, set_pe(set, i), set->routine);
		if (memcmp(&theirs, first, sizeof theirs)) {
			rte_let_others_speak();
			return;
		}
	}
}

static const char *users_name(const char *routine)
{
	return strncmp(routine, "pshmem_", 7) ? routine : routine + 1;
}

static void complain_of_routine(const struct set *set)
{
	char theirs[sizeof team_scratch(set->team)->called] = "";

	if (set->team)
		comms_get(theirs, team_scratch(set->team)->called, sizeof theirs, set_pe(set, 0), set->routine);
	theirs[sizeof theirs - 1] = '\0';
	rte_misuse(set->routine,
		   "PE %d is in another collective%s%s; all PEs must make the same calls in the same order",
		   set_pe(set, 0), theirs[0] ? ", " : "", theirs);
}

static void complain_of_value(const struct set *set, const char *what, long mine, long theirs)
{
	rte_misuse(set->routine, "%s is %ld here and %ld on PE %d; all PEs of the call must pass the same", what, mine,
		   theirs, set_pe(set, 0));
}

static void show_name(const struct set *set)
{
	char *shown = set->team ? team_scratch(set->team)->called : NULL;

	if (shown)
		strncpy(shown, users_name(set->routine), sizeof team_scratch(set->team)->called - 1);
}

void set_must_agree(const struct set *set, const char *name, long value, const char *name2, long value2,
		    const void *dest)
{
	struct agreement *shown, mine, first;

	if (rte_is_broken())
		return;
	shown = set->team ? &team_scratch(set->team)->agreement : (struct agreement *)&set->psync[ROUNDS + 1];
	mine = (struct agreement){fingerprint(set->routine), value, value2, place_in_segment(dest)};
	*shown = mine;
	show_name(set);
	set_sync(set);
	comms_get(&first, shown, sizeof first, set_pe(set, 0), set->routine);
	if (rte_is_broken()) /* nothing may have come */
		return;
	if (memcmp(&first, &mine, sizeof mine))
		let_lower_member_speak(set, shown, &first);
	if (first.routine != mine.routine)
		complain_of_routine(set);
	else if (name && first.value != mine.value)
		complain_of_value(set, name, mine.value, first.value);
	else if (name2 && first.value2 != mine.value2)
		complain_of_value(set, name2, mine.value2, first.value2);
	else if (first.dest != mine.dest)
		rte_misuse(set->routine,
			   "dest=%p is a different object than on PE %d; all PEs of the call must pass the same", dest,
			   set_pe(set, 0));
	set_sync(set);
	memset(shown, 0, sizeof *shown);
}

/* --- Are source and dest in blocks of the heap, and do they overlap? --- */

void set_check_overlap(const struct set *set, struct set_span dest, struct set_span source, bool may_be_same)
{
	const char *d = dest.data, *s = source.data;

	if (COMMS_LIKELY(!comms.checks))
		return;
	if (!comms_check_block(d, dest.bytes, "dest", set->routine) ||
	    !comms_check_block(s, source.bytes, "source", set->routine))
		return;
	if (dest.bytes == 0 || source.bytes == 0 || (may_be_same && d == s))
		return;
	if (s < d + dest.bytes && d < s + source.bytes)
		rte_misuse_together(set->routine,
				    "source=%p of %zu bytes overlaps dest=%p of %zu bytes; give %stwo that do not",
				    (const void *)s, source.bytes, (const void *)d, dest.bytes,
				    may_be_same ? "one and the same address, or " : "");
}

/* --- Is pSync free? --- */

/*
 * A member's use of a pSync, in a word that other members read: the number of its call, whether it
 * only synchronises, the address of the array. 0: it is in no such call.
 */
#define CALL_BITS 20
#define PAUSES 16 /* for the first calls; later ones become rare */
#define PLACE_SHIFT (CALL_BITS + 1)
#define ONLY_SYNC ((uint64_t)1 << CALL_BITS)

static uint64_t use_of(const struct set *set, uint64_t call, bool only_sync)
{
	return ((uint64_t)place_in_segment(set->psync) + 1) << PLACE_SHIFT | (only_sync ? ONLY_SYNC : 0) |
	       (call & (ONLY_SYNC - 1));
}

/*
 * Is another member still in an earlier call with the pSync of this call? That is an error, because
 * the calls would use the array at the same time. It is none between two calls of shmem_barrier or
 * shmem_sync: the standard lets them follow each other with one pSync.
 */
static bool is_in_the_way(uint64_t theirs, uint64_t mine)
{
	return theirs >> PLACE_SHIFT == mine >> PLACE_SHIFT && (theirs ^ mine) & (ONLY_SYNC - 1) &&
	       !(theirs & mine & ONLY_SYNC);
}

void set_check_psync_new(const long *psync, const char *routine)
{
	for (int i = 0; i < SHMEM_SYNC_SIZE; i++) {
		/*
		 * Other members may be in the call already and have changed this PE's pSync: added
		 * 1 to the counter of a round of a barrier (sync_by_counters), for the next barrier
		 * too, or stored an offer, which is negative (active_sets.c).
		 */
		bool early = i < ROUNDS ? psync[i] >= 0 && psync[i] <= 2 : i > ROUNDS && psync[i] < -1;

		if (psync[i] != SHMEM_SYNC_VALUE && !early)
			rte_misuse_together(routine,
					    "pSync[%d]=%ld is not SHMEM_SYNC_VALUE, which is %ld; initialise all "
					    "SHMEM_SYNC_SIZE elements on "
					    "all PEs, and synchronise before the first call",
					    i, psync[i], (long)SHMEM_SYNC_VALUE);
	}
}

static void check_psync_values(const struct set *set)
{
	for (int i = 0; i < SHMEM_SYNC_SIZE && !rte_is_broken(); i++)
		if (set->psync[i] != SHMEM_SYNC_VALUE)
			rte_misuse_together(set->routine,
					    "pSync[%d]=%ld is not SHMEM_SYNC_VALUE, which is %ld; nobody may change it "
					    "after it was "
					    "initialised",
					    i, set->psync[i], (long)SHMEM_SYNC_VALUE);
}

/* All others may see it; the lowest of them reports it, if it can. */
static void complain_of_use(const struct set *set, int other)
{
	if (set->group->me != (other == 0 ? 1 : 0))
		rte_let_others_speak();
	rte_misuse(set->routine,
		   "pSync=%p: PE %d has not returned yet from an earlier call with it; let the PEs synchronise between "
		   "the two "
		   "calls, or take another pSync",
		   (void *)set->psync, set_pe(set, other));
}

struct psync_use set_psync_take(const struct set *set, bool only_sync)
{
	struct psync_use use = {NULL, 0};
	_Atomic uint64_t *shown;
	uint64_t mine, theirs = 0;

	if (!set->team || rte_is_broken())
		return use;
	shown = &team_scratch(set->team)->psync_use;
	check_psync_values(set);
	use = (struct psync_use){set, ++set->team->active_calls};
	mine = use_of(set, use.call, only_sync);
	for (int i = 0; i < set->group->size; i++) {
		comms_get(&theirs, shown, sizeof theirs, set_pe(set, i), set->routine);
		if (i != set->group->me && is_in_the_way(theirs, mine))
			complain_of_use(set, i);
	}
	atomic_store_explicit(shown, mine, memory_order_release);
	return use;
}

/* Keeps a member in the call for a while, so that members that do not wait for it are noticed. */
void set_psync_give_back(struct psync_use *use)
{
	if (reorder_random(use->call) % (uint64_t)use->set->group->size == (uint64_t)use->set->group->me)
		reorder_pause(use->call, PAUSES);
	atomic_store_explicit(&team_scratch(use->set->team)->psync_use, 0, memory_order_release);
}
