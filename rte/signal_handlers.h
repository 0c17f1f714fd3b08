/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_SIGNALS_H
#define RTE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Brackets calls of libraries that may install signal handlers. A signal in between stays pending
 * until the program's handlers are restored, and then takes effect.
 */
enum { RTE_SIGNALS = 65 }; /* one above the largest signal number */

struct rte_signals {
	sigset_t mask; /* of this thread */
	bool known[RTE_SIGNALS];
	struct sigaction actions[RTE_SIGNALS];
};

/*
 * Saves all dispositions, and blocks all signals in this thread; a fault in between ends the
 * process.
 */
void rte_signals_save(struct rte_signals *saved);

/*
 * Restores the dispositions. Signals from other processes stay blocked, but faults of this thread
 * do not: for long work between rte_signals_save and rte_signals_restore.
 */
void rte_signals_settle(const struct rte_signals *saved);

/* Restores the dispositions and this thread's signal mask. */
void rte_signals_restore(const struct rte_signals *saved);

/* Restores this thread's signal mask only. */
void rte_signals_unblock(const struct rte_signals *saved);

/* Blocks signals from other processes in this thread and in threads that it starts. */
void rte_signals_block_sent(sigset_t *before);

#endif
