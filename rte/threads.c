/* SPDX-License-Identifier: BSD-3-Clause */
#include "rte.h"

#include <pthread.h>

#include "signal_handlers.h"

int rte_start_thread(pthread_t *thread, void *(*run)(void *))
{
	sigset_t before;
	int error;

	rte_signals_block_sent(&before);
	error = pthread_create(thread, NULL, run, NULL);
	if (!error)
		pthread_setname_np(*thread, RTE_THREAD_NAME);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}
