/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting: poll a bounded number of times, then sleep on a futex. Never sched_yield alone: on
 * today's kernels it may cost a time slice, if the processor goes to a process with much to do.
 *
 * sleeper     comms_sleep_prepare and comms_sleep: key = word ; sleepers++ ; membarrier ; poll
 *             again ; futex_wait(word, key)
 * storing PE  comms_wake_at in core/comms.h: store ; load sleepers ; if there are any: word++ ;
 *             futex_wake(word)
 *
 * The storing PE has no fence between its store and its load. membarrier(GLOBAL_EXPEDITED) runs a
 * fence on every processor that runs a registered process at that moment, so either the load sees
 * the sleeper, or the sleeper's second poll sees the store. A wake between that poll and the futex
 * changes word, and futex_wait returns at once. If a PE is alone on its node, only its own threads
 * store to its memory, and membarrier(PRIVATE_EXPEDITED) is enough. A storing PE that is not
 * running passes a fence when the kernel switches to it. docs/protocols/order/wakeups.md examines
 * the accesses one by one. Stores without a wakeup (through shmem_ptr, by a thread of this PE, or
 * if membarrier is missing) are seen because every sleep is bounded.
 */
#include "wait.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "comms/core/comms.h"
#include "contention.h"
#include "hang.h"
#include "comms/core/network.h"
#include "comms/core/futex.h"
#include "comms/core/processor.h"
#include "rte/clock.h"
#include "rte/rte.h"
#include "rte/settings.h"

#define SLEEP_SHORTEST 50000L	/* ns */
#define SLEEP_LONGEST 20000000L /* ns */
/* Ns; a PE that sleeps in a counter barrier is not woken for a plan. */
#define SLEEP_WITH_LISTS 1000000L
/*
 * With a processor for each PE: some 0.4 ms, longer than a wakeup takes; otherwise two PEs would
 * keep waking each other.
 */
#define SPINS_UNDISTURBED 20000
/*
 * If PEs share processors: divided by the number that share one, because a poll may cost as many
 * switches.
 */
#define SPINS_OVERSUBSCRIBED 400
/* In a barrier of many, not all arrive in the same round of switches. */
#define SPINS_LEAST 50
#define YIELD_LONGEST 50000L /* ns, for each PE that shares the processor */
#define POLLS_WITHOUT_YIELD 1000
#define POLLS_ELSEWHERE 200 /* some 5 us, the time of a few switches */
#define POLLS_WITHOUT_PAUSE 50
#define POLLS_PER_SECOND 50000000

static struct {
	/* The command that reaches all threads that store here; -1: this kernel has none. */
	int membarrier;
	long yield_longest; /* ns */
	int sharers;	    /* PEs of this node per processor, at least 1 */
#if PROCESSOR_HAS_EVENTS
	uint64_t ticks_per_poll;
#endif
} waits;
/* As in COMMS_WAIT. */
static _Thread_local const void *awaited_address __attribute__((tls_model("initial-exec")));

/*
 * Before there are threads this is a flag; later the kernel would have to wait for every processor.
 */
__attribute__((constructor)) static void register_waits_membarrier(void)
{
	bool registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0 &&
			  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;

	waits.membarrier = registered ? MEMBARRIER_CMD_GLOBAL_EXPEDITED : -1;
}

static void choose_membarrier(void)
{
	if (waits.membarrier >= 0 && comms.n_node == 1)
		waits.membarrier = MEMBARRIER_CMD_PRIVATE_EXPEDITED;
}

static unsigned spins_oversubscribed(int processors)
{
	int spins = SPINS_OVERSUBSCRIBED * processors / rte.n_local;

	return (unsigned)(spins > SPINS_LEAST ? spins : SPINS_LEAST);
}

/* On oversubscribed nodes, yield_processor reacts to contention instead. */
static void spin_by_contention(int processors)
{
	atomic_store_explicit(&comms.spin, comms.oversubscribed ? spins_oversubscribed(processors) : SPINS_UNDISTURBED,
			      memory_order_relaxed);
	comms.minds_contention = !comms.oversubscribed;
	if (comms.minds_contention)
		contention_start(SPINS_UNDISTURBED);
}

void wait_stop(void)
{
	if (comms.minds_contention)
		contention_stop();
	comms.minds_contention = false;
}

/* A poll with its pause takes some 20 ns. */
static void allow_stops(void)
{
#if PROCESSOR_HAS_EVENTS
	waits.ticks_per_poll = processor_ticks_per_second() / POLLS_PER_SECOND + 1;
	comms.stops = !comms.oversubscribed && processor_can_wait();
#endif
}

/* For wait_for_one_elsewhere. Others read it often, and it rarely changes. */
static void note_processor(void)
{
	int processor = sched_getcpu();

	if (atomic_load_explicit(&comms.system->processor, memory_order_relaxed) != processor)
		atomic_store_explicit(&comms.system->processor, processor, memory_order_relaxed);
}

void wait_start(void)
{
	int processors = rte_node_processors();
	long spins;

	comms.oversubscribed = comms.system->oversubscribed = rte.n_local > processors;
	choose_membarrier();
	if (comms.oversubscribed)
		note_processor();
	waits.yield_longest = YIELD_LONGEST * (rte.n_local / processors + 1);
	waits.sharers = rte.n_local > processors ? rte.n_local / processors : 1;
	allow_stops();
	comms.bare_polls = comms.oversubscribed ? 0 : POLLS_WITHOUT_PAUSE;
	if (setting_number(SETTING_SPIN, &spins))
		atomic_store_explicit(&comms.spin, (unsigned)spins, memory_order_relaxed);
	else
		spin_by_contention(processors);
}

/*
 * With more PEs than processors, the awaited PE may be the next to run here. If something else took
 * the processor for long, yielding does not pay for a while: a sleeper gets the processor as soon
 * as it is woken, a thread that yielded does not.
 */
static void yield_processor(void)
{
	static _Thread_local int polls_without_yield __attribute__((tls_model("initial-exec")));
	struct timespec before, after;

	if (polls_without_yield > 0) {
		polls_without_yield--;
		processor_pause();
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &before);
	sched_yield();
	note_processor();
	clock_gettime(CLOCK_MONOTONIC, &after);
	if ((after.tv_sec - before.tv_sec) * 1000000000L + after.tv_nsec - before.tv_nsec > waits.yield_longest)
		polls_without_yield = POLLS_WITHOUT_YIELD;
}

bool comms_spin(void)
{
	if (comms.network && comms.network->progress()) {
		/* Other threads of this PE may wait for the data. */
		comms_wake(comms_peer(comms.pe));
		if (comms_lists_active())
			wait_lists.move();
		return true;
	}
	if (comms_lists_active() && wait_lists.move())
		return true;
	if (comms.oversubscribed)
		yield_processor();
	else if (!comms.network)
		processor_pause();
	return false;
}

unsigned comms_poll(unsigned polls)
{
	bool found = comms_spin();

	if (rte_is_broken())
		return 0; /* so that the wait sleeps, and before it does, ends */
	return found ? comms_spins() : contention_fewer(polls);
}

unsigned comms_stop_until_store(unsigned polls)
{
	unsigned passed = 1;
#if PROCESSOR_HAS_EVENTS
	uint64_t before = processor_ticks();

	processor_wait_for_event();
	passed += (unsigned)((processor_ticks() - before) / waits.ticks_per_poll);
#endif
	if (passed >= polls)
		return 0;
	if (comms.minds_contention && (polls - passed) / CONTENTION_POLLS != polls / CONTENTION_POLLS)
		return contention_poll(polls - passed);
	return polls - passed;
}

#define SLEEPER_MASK (COMMS_WAKEUP_KNOWN - 1)

_Static_assert(COMMS_FIXED_SEGMENTS == 2, "one bit of the word of sleepers says which");

/* For the word of sleepers; 0 if unknown or in a region. The last position lies in no memory. */
static uint64_t sleepers_target(const void *address)
{
	enum comms_segment_id segment;
	uint64_t place = COMMS_WAKEUP_PLACES;

	if (address == COMMS_NOWHERE || address == COMMS_BY_NETWORK)
		return place << COMMS_WAKEUP_PLACE | COMMS_WAKEUP_KNOWN;
	segment = comms_find_segment(address);
	if (segment >= COMMS_FIXED_SEGMENTS)
		return 0;
	place = (uint64_t)((const char *)address - comms.segments[segment].base) / COMMS_GRANULE;
	return place << COMMS_WAKEUP_PLACE | (uint64_t)segment << COMMS_WAKEUP_SEGMENT | COMMS_WAKEUP_KNOWN;
}

uint32_t comms_sleep_prepare(const void *address)
{
	struct comms_wakeup *wakeup = &comms.system->wakeup;
	uint32_t key = atomic_load_explicit(&wakeup->word, memory_order_relaxed);
	uint64_t target = sleepers_target(address), now = atomic_load_explicit(&wakeup->sleepers, memory_order_relaxed),
		 then;

	awaited_address = address;
	do {
		then = now == 0 || (now & ~SLEEPER_MASK) == target ? target | (now & SLEEPER_MASK) : now & SLEEPER_MASK;
	} while (!atomic_compare_exchange_weak_explicit(&wakeup->sleepers, &now, then + 1, memory_order_relaxed,
							memory_order_relaxed));
	if (waits.membarrier >= 0)
		syscall(SYS_membarrier, waits.membarrier, 0, 0);
	return key;
}

void comms_sleep_cancel(void)
{
	struct comms_wakeup *wakeup = &comms.system->wakeup;
	uint64_t now = atomic_load_explicit(&wakeup->sleepers, memory_order_relaxed);

	while (!atomic_compare_exchange_weak_explicit(&wakeup->sleepers, &now, (now & SLEEPER_MASK) == 1 ? 0 : now - 1,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

/*
 * Sleeps while the network makes progress; returns the number of polls before the next sleep. A PE
 * that asked this one for something is likely to ask again, and waking this PE takes as long as
 * answering. Under contention it does not poll.
 */
static unsigned block_on_word(_Atomic uint32_t *word, uint32_t value, long nanoseconds, const struct timespec *length)
{
	enum network_block blocked = NETWORK_BLOCK_NOT;

	if (comms.network && comms.network->blocking)
		blocked = comms.network->blocking->wait(word, value, nanoseconds);
	if (blocked == NETWORK_BLOCK_NOT)
		futex(word, FUTEX_WAIT, value, length);
	else
		wait_lists.serve();
	/* Another thread may sleep until this data arrives. */
	if (blocked == NETWORK_BLOCKED_AND_PROGRESSED && comms.threads)
		comms_wake(comms_peer(comms.pe));
	if (comms.minds_contention)
		contention_sample();
	return blocked == NETWORK_BLOCKED_AND_PROGRESSED && !contention_is_there() ? comms_spins() : 0;
}

static bool network_needs_polls(void)
{
	return comms.network && comms.network->longest_wait > 0;
}

/*
 * PEs that share a processor and wait for the network poll it less often, or hundreds would leave
 * no time for other work.
 */
static long longest_sleep(long otherwise)
{
	long longest = network_needs_polls() ? comms.network->longest_wait * waits.sharers : otherwise;

	return longest < SLEEP_LONGEST ? longest : SLEEP_LONGEST;
}

/* The longer the wait, the longer each timed wait: a wakeup ends it at once anyway. */
unsigned comms_sleep(uint32_t key, unsigned *sleeps)
{
	long longest = longest_sleep(SLEEP_LONGEST);
	long length = SLEEP_SHORTEST << (*sleeps < 9 ? *sleeps : 9);
	struct timespec timeout = {0, length < longest ? length : longest};
	unsigned polls;

	++*sleeps;
	polls = block_on_word(&comms.system->wakeup.word, key, timeout.tv_nsec, &timeout);
	if (network_needs_polls())
		comms.network->progress();
	comms_sleep_cancel();
	if (comms_lists_active())
		wait_lists.move();
	if (COMMS_UNLIKELY(*sleeps >= COMMS_SLOW))
		comms_wait_is_slow(awaited_address == COMMS_NOWHERE);
	return polls;
}

bool comms_wait_ends(void)
{
	if (COMMS_LIKELY(!rte_is_broken()))
		return false;
	rte_broken_in(hang_note.routine);
	return true;
}

void comms_sleep_idle(uint32_t key, long longest)
{
	const struct timespec length = {0, longest > 0 ? longest : longest_sleep(SLEEP_WITH_LISTS)};

	futex(&comms.system->wakeup.word, FUTEX_WAIT, key, &length);
	comms_sleep_cancel();
}

/* As comms_poll, while waiting for this word to change. */
static unsigned poll_word(const _Atomic uint32_t *word, uint32_t value, unsigned polls)
{
	if (!comms_may_stop(word))
		return comms_poll(polls);
	comms_monitor_word(word);
	return atomic_load_explicit(word, memory_order_relaxed) == value ? comms_stop_until_store(polls) : polls;
}

void wait_while(_Atomic uint32_t *word, uint32_t value, _Atomic uint32_t *sleepers, bool elsewhere)
{
	const struct timespec length = {0, SLEEP_LONGEST}, sleep_with_lists = {0, SLEEP_WITH_LISTS};
	unsigned polls = comms_spins(), sleeps = 0, keeping = elsewhere ? POLLS_ELSEWHERE : 0;

	while (polls > 0) {
		if (atomic_load_explicit(word, memory_order_acquire) != value)
			return;
		if (keeping == 0) {
			polls = poll_word(word, value, polls);
			continue;
		}
		keeping--;
		processor_pause();
	}
	atomic_fetch_add_explicit(sleepers, 1, memory_order_seq_cst);
	while (atomic_load_explicit(word, memory_order_seq_cst) == value && !comms_wait_ends()) {
		if (polls > 0) {
			polls = comms_poll(polls);
			continue;
		}
		polls = block_on_word(word, value, SLEEP_SHORTEST, comms_lists_active() ? &sleep_with_lists : &length);
		if (comms_lists_active())
			wait_lists.move();
		if (++sleeps >= COMMS_SLOW)
			comms_wait_is_slow(false);
	}
	if (sleeps >= COMMS_SLOW)
		comms_wait_is_over();
	atomic_fetch_sub_explicit(sleepers, 1, memory_order_relaxed);
}

void wait_for_one_elsewhere(const _Atomic uint64_t *word, uint64_t value, int pe)
{
	if (atomic_load_explicit(&comms_system_of(pe)->processor, memory_order_relaxed) ==
	    atomic_load_explicit(&comms.system->processor, memory_order_relaxed))
		return;
	for (int polls = POLLS_ELSEWHERE; polls > 0 && atomic_load_explicit(word, memory_order_relaxed) < value;
	     polls--)
		processor_pause();
}

void wait_wake(_Atomic uint32_t *word)
{
	futex(word, FUTEX_WAKE, INT32_MAX, NULL);
}

int64_t wait_end(double seconds, const char *routine)
{
	const double most = 1e9; /* 30 years, in which the clock does not overflow */

	if (!(seconds >= 0)) {
		rte_misuse(routine, "seconds=%g: give 0 or more", seconds);
		return 0;
	}
	return rte_clock_ns() + (int64_t)((seconds < most ? seconds : most) * 1e9);
}

bool wait_is_past(int64_t end)
{
	return rte_clock_ns() >= end;
}
