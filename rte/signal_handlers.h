/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_SIGNALS_H
#define RTE_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Around calls of libraries that may install handlers of signals. A signal that comes in between
 * stays pending until the handlers are the program's again, and then takes its effect.
 */
enum { RTE_SIGNALS = 65 }; /* numbers of signals are below */

struct rte_signals {
	sigset_t mask; /* of this thread */
	bool known[RTE_SIGNALS];
	struct sigaction actions[RTE_SIGNALS];
};

/* Notes all dispositions, and blocks all signals in this thread; a fault ends the process then. */
void rte_signals_save(struct rte_signals *saved);

/*
 * Restores the dispositions. Signals that somebody sends stay blocked, those of what this thread does
 * itself do not: for what comes between rte_signals_save and rte_signals_restore and may take long.
 */
void rte_signals_settle(const struct rte_signals *saved);

/* Restores the dispositions, and the signals that this thread blocks. */
void rte_signals_restore(const struct rte_signals *saved);

/* Restores the signals that this thread blocks, and leaves the dispositions as they are. */
void rte_signals_unblock(const struct rte_signals *saved);

/* Blocks in this thread, and in those that it starts, the signals that somebody sends. */
void rte_signals_block_sent(sigset_t *before);

#endif
