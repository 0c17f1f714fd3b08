/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program decides what a signal does. Libraries that this one loads install handlers when they
 * are loaded, or while they look for devices: libinfinipath, which Debian's libfabric needs, takes
 * SIGTERM and SIGINT and calls exit, UCX takes SIGHUP. An exit inside such a call waits for ever
 * for a lock that the call holds.
 */
#include "signal_handlers.h"

/*
 * Signals caused by a thread's own instructions. If one of them is blocked, the kernel ends the
 * process.
 */
static const int own_signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};

void rte_signals_block_sent(sigset_t *before)
{
	sigset_t sent;

	sigfillset(&sent);
	for (unsigned i = 0; i < sizeof own_signals / sizeof *own_signals; i++)
		sigdelset(&sent, own_signals[i]);
	pthread_sigmask(SIG_SETMASK, &sent, before);
}

void rte_signals_save(struct rte_signals *saved)
{
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &saved->mask);
	for (int number = 1; number < RTE_SIGNALS; number++)
		saved->known[number] = sigaction(number, NULL, &saved->actions[number]) == 0;
}

static bool is_changed(const struct sigaction *before, const struct sigaction *now)
{
	return before->sa_handler != now->sa_handler || before->sa_flags != now->sa_flags;
}

static void restore_handlers(const struct rte_signals *saved)
{
	for (int number = 1; number < RTE_SIGNALS; number++) {
		struct sigaction now;

		if (saved->known[number] && sigaction(number, NULL, &now) == 0 &&
		    is_changed(&saved->actions[number], &now))
			sigaction(number, &saved->actions[number], NULL);
	}
}

void rte_signals_settle(const struct rte_signals *saved)
{
	restore_handlers(saved);
	rte_signals_block_sent(NULL);
}

void rte_signals_restore(const struct rte_signals *saved)
{
	restore_handlers(saved);
	rte_signals_unblock(saved);
}

void rte_signals_unblock(const struct rte_signals *saved)
{
	pthread_sigmask(SIG_SETMASK, &saved->mask, NULL);
}
