/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Locks: a queue of waiting PEs, first come first served, each waiting on its own memory.
 *
 * A lock is one long, and every PE has its own copy, in two halves:
 *
 * tail    (used on the lock's home PE only) the last PE in the queue, plus one; 0: the lock is free
 * link    (used on every PE that queues) the PE behind this one, plus one; the top bit, WAIT: this
 *         PE still waits
 *
 * set     link = WAIT; before = swap(home.tail, me); if there was one: its link |= me, wait until
 *         my WAIT is gone
 * clear   if nobody is linked behind me and tail is still me, tail = 0; else wait for the link,
 *         take the next one's WAIT away
 *
 * Homes are spread over the PEs by the lock's address, so that many locks do not load one PE.
 */
#include "api.h"
#include "comms/wait/wait.h"

#define WAIT 0x80000000u

struct lock_word {
	uint32_t tail;
	uint32_t link;
};
_Static_assert(sizeof(struct lock_word) == sizeof(long), "a lock is one long");

/* -1: misuse of a job whose errors return. */
static int home_of(const long *lock, const char *routine)
{
	enum comms_segment_id segment;

	if (!comms_check_symmetric(lock, sizeof *lock, "lock", routine))
		return -1;
	segment = comms_find_segment(lock);
	return (int)((size_t)((const char *)lock - comms.segments[segment].base) / sizeof *lock % (size_t)comms.n_pes);
}

static uint32_t me_in_queue(void)
{
	return (uint32_t)comms.pe + 1;
}

API void pshmem_set_lock(long *lock)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	struct lock_word *word = (struct lock_word *)lock;
	int home = home_of(lock, __func__);
	uint32_t before;

	if (home < 0)
		return;
	__atomic_store_n(&word->link, WAIT, __ATOMIC_RELAXED);
	before = (uint32_t)comms_amo_fetch(&word->tail, (struct comms_atomic){COMMS_SWAP, 4, me_in_queue(), 0}, home,
					   __func__);
	if (before == me_in_queue())
		rte_misuse(__func__, "lock=%p is held by this PE already; clear it first", (void *)lock);
	if (rte_is_broken())
		return;
	if (before != 0) {
		comms_amo(&word->link, (struct comms_atomic){COMMS_OR, 4, me_in_queue(), 0}, (int)before - 1, __func__);
		hang_note_lock(__func__, lock, (int)before - 1);
		COMMS_WAIT(word, !(__atomic_load_n(&word->link, __ATOMIC_ACQUIRE) & WAIT));
	} else {
		/* Another PE may be linking itself at this moment. */
		comms_amo_fetch(&word->link, (struct comms_atomic){COMMS_AND, 4, ~WAIT, 0}, comms.pe, __func__);
	}
}
PROFILED(shmem_set_lock)

API int pshmem_test_lock(long *lock)
{
	COMMS_CALL_OR(0, __func__, 0, COMMS_NOBODY); /* so that loops end */
	struct lock_word *word = (struct lock_word *)lock;
	int home = home_of(lock, __func__);

	if (home < 0)
		return 0;
	/*
	 * No PE links behind a PE that is not the tail, so the link can be prepared before the swap
	 * returns.
	 */
	if (comms_amo_fetch(&word->tail, (struct comms_atomic){COMMS_FETCH, 4, 0, 0}, home, __func__) != 0)
		return 1;
	__atomic_store_n(&word->link, 0, __ATOMIC_RELAXED);
	return comms_amo_fetch(&word->tail, (struct comms_atomic){COMMS_CSWAP, 4, me_in_queue(), 0}, home, __func__) !=
	       0;
}
PROFILED(shmem_test_lock)

/* Completes what was done under the lock before the next PE has it. */
API void pshmem_clear_lock(long *lock)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	struct lock_word *word = (struct lock_word *)lock;
	int home = home_of(lock, __func__);
	uint32_t next;

	if (home < 0)
		return;
	comms_quiet();
	if (__atomic_load_n(&word->link, __ATOMIC_RELAXED) == 0) {
		uint32_t tail =
			(uint32_t)comms_amo_fetch(&word->tail, (struct comms_atomic){COMMS_CSWAP, 4, 0, me_in_queue()},
						  home, __func__);

		if (tail == me_in_queue())
			return;
		if (tail == 0)
			rte_misuse(__func__, "lock=%p is not held by anyone", (void *)lock);
		if (rte_is_broken())
			return;
		hang_note_word(__func__, &word->link, sizeof word->link, false, "!=", 0);
		/* A PE is about to link itself. */
		COMMS_WAIT(word, __atomic_load_n(&word->link, __ATOMIC_RELAXED) != 0);
	}
	if (rte_is_broken())
		return;
	/* It linked itself after setting its WAIT. */
	next = __atomic_exchange_n(&word->link, 0, __ATOMIC_ACQUIRE);
	comms_amo(&word->link, (struct comms_atomic){COMMS_AND, 4, ~WAIT, 0}, (int)next - 1, __func__);
	comms_fence();
}
PROFILED(shmem_clear_lock)
