/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_WAIT_H
#define COMMS_WAIT_H

#include "comms/core/comms.h"
#include "comms/core/processor.h"
#include "lists.h"

/* How a PE waits for a word of its own memory: it looks, for a while, and then sleeps on its wakeup. */

/* Decides how long to look before sleeping. */
void wait_start(void);
void wait_stop(void);

/* Waits on a word of a node's shared memory that whoever changes it wakes: wait_wake if there are sleepers. */
void wait_while(_Atomic uint32_t *word, uint32_t value, _Atomic uint32_t *sleepers);
void wait_wake(_Atomic uint32_t *word);

/* One look's worth of waiting: lets the network work, else the other hardware thread. Did something come? Then more may. */
bool comms_spin(void);
/* Likewise in a wait: takes and returns how many looks there are left before it sleeps. */
unsigned comms_look(unsigned looks);
/* How many looks a wait begins with. */
COMMS_INLINE unsigned comms_spins(void)
{
	return atomic_load_explicit(&comms.spin, memory_order_relaxed);
}

/*
 * May a wait stop the processor until somebody stores to the word? Not where this thread has a network or command lists to look after,
 * where PEs share processors, or where the wait is for more than one word.
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

/* Makes the processor notice a store to the word. */
COMMS_INLINE void comms_watch_word(const void *address)
{
#if PROCESSOR_HAS_EVENTS
	processor_watch(address);
#else
	(void)address;
#endif
}

/* After another look at the word, instead of comms_look: stops until somebody stores there, and counts as the looks that fit into that time. */
unsigned comms_stop_until_store(unsigned looks);

/* Sleep in three steps; between the first and the second the caller looks once more at what it waits for. */
uint32_t comms_bell_prepare(const void *address);
void comms_bell_cancel(void);
/* Returns how many looks to take before sleeping again: none, unless something came for the network. */
unsigned comms_bell_sleep(uint32_t key, unsigned *naps);
/* The last step for a thread that leaves the network to others, and whose waits tell nobody anything. */
void comms_bell_rest(uint32_t key);

/* A wait of so many naps, some 0.1 s, is slow. To be told after each nap then, and in the end. */
#define COMMS_SLOW 12
void comms_wait_is_slow(bool for_own); /* for an answer to what this PE has asked for */
void comms_wait_is_over(void);

/* What to give for the address where no other PE changes what is waited for, and where any address may matter. */
#define COMMS_NOWHERE ((const void *)UINTPTR_MAX)
#define COMMS_ANYWHERE NULL
/* No other PE changes the word, but the network does when other PEs come. */
#define COMMS_BY_NETWORK ((const void *)(UINTPTR_MAX - 1))

/*
 * Returns when the condition holds, which a change of the word at the address, an own one, may bring about. The first looks
 * follow each other without a pause, which lasts as long as a cache line takes.
 */
#define COMMS_WAIT(address, condition)                                          \
	do {                                                                    \
		unsigned looks_ = comms_spins(), naps_ = 0;                     \
		for (unsigned bare_ = comms.bare_looks; bare_ > 0; bare_--)     \
			if (condition)                                          \
				break;                                          \
		while (!(condition)) {                                          \
			uint32_t key_;                                          \
			if (looks_ > 0 && comms_may_stop(address)) {            \
				comms_watch_word(address);                      \
				if (condition)                                  \
					break;                                  \
				looks_ = comms_stop_until_store(looks_);        \
				continue;                                       \
			}                                                       \
			if (looks_ > 0) {                                       \
				looks_ = comms_look(looks_);                    \
				continue;                                       \
			}                                                       \
			key_ = comms_bell_prepare(address);                     \
			if (condition) {                                        \
				comms_bell_cancel();                            \
				break;                                          \
			}                                                       \
			looks_ = comms_bell_sleep(key_, &naps_);                \
		}                                                               \
		if (COMMS_UNLIKELY(naps_ >= COMMS_SLOW))                        \
			comms_wait_is_over();                                   \
	} while (0)

#endif
