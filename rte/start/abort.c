/* SPDX-License-Identifier: BSD-3-Clause */
/* The abnormal end. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "provider.h"
#include "rte/rte.h"

/* Ends the process if the provider does not return: it may first try to reach a lost host. */
static void *exit_after_delay(void *status)
{
	const struct timespec patience = {5, 0};

	nanosleep(&patience, NULL);
	_exit((int)(intptr_t)status);
}

void rte_abort(int status, const char *message)
{
	const struct rte_provider *provider = rte_provider;
	pthread_t thread;

	/* Flushes the output of the program, unless another thread holds the lock of stdout. */
	if (ftrylockfile(stdout) == 0) {
		fflush_unlocked(stdout);
		funlockfile(stdout);
	}
	if (rte.last_words)
		rte.last_words();
	pthread_create(&thread, NULL, exit_after_delay, (void *)(intptr_t)status);
	if (!provider && rte_find_start().by == START_PMIX)
		provider = &rte_pmix; /* others may wait for this PE already */
	if (provider)
		provider->abort(status, message);
	_exit(status);
}
