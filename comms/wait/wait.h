/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_WAIT_H
#define COMMS_WAIT_H

#include "comms/core/comms.h"
#include "comms/core/processor.h"
#include "lists.h"

/* A PE waits for a word in its own memory: it polls for a while, and then sleeps on its wakeup. */

/* Decides how long a wait polls before it sleeps. */
void wait_start(void);
void wait_stop(void);

/*
 * Waits while a word of a node's shared memory has a value. A PE that changes it calls wait_wake if
 * there are sleepers. With `elsewhere`, the PEs that the caller waits for run on other processors:
 * it then keeps its processor for a while, even with more PEs than processors.
 */
void wait_while(_Atomic uint32_t *word, uint32_t value, _Atomic uint32_t *sleepers, bool elsewhere);
void wait_wake(_Atomic uint32_t *word);

/*
 * If PEs share processors and this PE of the node runs on another processor, keeps polling for a
 * while, until the word has at least the value. The caller waits for it afterwards. PEs move, so
 * this is a guess.
 */
void wait_for_one_elsewhere(const _Atomic uint64_t *word, uint64_t value, int pe);

/*
 * Between two polls of a wait: progresses the network, or leaves the core to its other hardware
 * thread. Returns true if something arrived.
 */
bool comms_spin(void);
/* The same; takes and returns the number of polls left before the wait sleeps. */
unsigned comms_poll(unsigned polls);
/* The number of polls that a wait begins with. */
COMMS_INLINE unsigned comms_spins(void)
{
	return atomic_load_explicit(&comms.spin, memory_order_relaxed);
}

/*
 * May a wait stop the processor until the word is stored to? No if this thread has a network or
 * command lists to progress, PEs share processors, or the wait is for several words.
 */
COMMS_INLINE bool comms_may_stop(const void *address)
{
#if PROCESSOR_HAS_EVENTS
	return comms.stops && !comms.network && (uintptr_t)address - 1 < UINTPTR_MAX - 3 && !comms_lists_active();
#else
	(void)address;
	return false;
#endif
}

/* Makes the processor monitor the word for stores. */
COMMS_INLINE void comms_monitor_word(const void *address)
{
#if PROCESSOR_HAS_EVENTS
	processor_monitor(address);
#else
	(void)address;
#endif
}

/*
 * Used in place of comms_poll after another poll of the word: stops until a store, and subtracts
 * the polls that would have fit into that time.
 */
unsigned comms_stop_until_store(unsigned polls);

/* A sleep in three steps. The caller polls once more between the first and the second. */
uint32_t comms_sleep_prepare(const void *address);
void comms_sleep_cancel(void);
/*
 * Returns the number of polls before the next sleep: none, unless something came for the network.
 */
unsigned comms_sleep(uint32_t key, unsigned *sleeps);
/*
 * The last step for a thread that leaves the network to others and whose waits are not reported; at
 * most so many nanoseconds (0: as others with lists to move).
 */
void comms_sleep_idle(uint32_t key, long longest);

/*
 * A wait of COMMS_SLOW sleeps, some 0.1 s, is slow: these are called after each further sleep, and
 * at its end.
 */
#define COMMS_SLOW 12
void comms_wait_is_slow(bool for_own); /* for an answer to this PE's own request */
void comms_wait_is_over(void);

/*
 * Values of the address: no other PE changes what the caller waits for; any address may change it.
 */
#define COMMS_NOWHERE ((const void *)UINTPTR_MAX)
#define COMMS_ANYWHERE NULL
/* No other PE changes the word, but the network does when other PEs arrive. */
#define COMMS_BY_NETWORK ((const void *)(UINTPTR_MAX - 1))

/* Is the job broken, so that a wait that sleeps ends? Notes the routine that waits. */
bool comms_wait_ends(void);

/*
 * Returns when the condition holds, or soon after the job is broken (rte_is_broken). A change of
 * the word at `address`, in this PE's memory, makes it hold. The first polls follow each other
 * without a pause, for as long as a cache line travels.
 */
#define COMMS_WAIT(address, condition)                                      \
	do {                                                                \
		unsigned polls_ = comms_spins(), sleeps_ = 0;               \
		for (unsigned bare_ = comms.bare_polls; bare_ > 0; bare_--) \
			if (condition)                                      \
				break;                                      \
		while (!(condition)) {                                      \
			uint32_t key_;                                      \
			if (polls_ > 0 && comms_may_stop(address)) {        \
				comms_monitor_word(address);                \
				if (condition)                              \
					break;                              \
				polls_ = comms_stop_until_store(polls_);    \
				continue;                                   \
			}                                                   \
			if (polls_ > 0) {                                   \
				polls_ = comms_poll(polls_);                \
				continue;                                   \
			}                                                   \
			key_ = comms_sleep_prepare(address);                \
			if ((condition) || comms_wait_ends()) {             \
				comms_sleep_cancel();                       \
				break;                                      \
			}                                                   \
			polls_ = comms_sleep(key_, &sleeps_);               \
		}                                                           \
		if (COMMS_UNLIKELY(sleeps_ >= COMMS_SLOW))                  \
			comms_wait_is_over();                               \
	} while (0)

/*
 * For waits with a time: the end of so many seconds from now, and whether it is past. A wait that
 * sleeps looks again after 20 ms at the latest. Seconds below 0 end the job.
 */
int64_t wait_end(double seconds, const char *routine);
bool wait_is_past(int64_t end);

#endif
