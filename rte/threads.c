/* SPDX-License-Identifier: BSD-3-Clause */
#include "rte.h"

#include <pthread.h>
#include <signal.h>

int rte_start_thread(pthread_t *thread, void *(*run)(void *))
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t all, before;
	int error;

	sigfillset(&all);
	for (unsigned i = 0; i < sizeof own / sizeof *own; i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, NULL, run, NULL);
	if (!error)
		pthread_setname_np(*thread, RTE_THREAD_NAME);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}
