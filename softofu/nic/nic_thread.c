/* SPDX-License-Identifier: BSD-3-Clause */
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "softofu/nic/vcq.h"

/*
 * The NIC's thread: runs the sessions of this process and releases what reorder injection holds
 * back. It sleeps on the futex `wakeups`: without a limit if there is nothing to do, and in timed
 * waits while something is held back or was so a moment ago. So holding something back does not
 * have to wake it.
 */
enum { TIMED_WAIT_NANOSECONDS = 200000 };
#ifndef TIMED_WAITS /* tests/order has fewer */
#define TIMED_WAITS 50
#endif

/*
 * A caller that holds something back first counts it, then checks whether this thread sleeps
 * without a limit. This thread first announces its sleep, then checks the count.
 */
static void sleep_until_woken(struct nic *nic, uint32_t wakeups, bool timed)
{
	struct timespec duration = {.tv_nsec = TIMED_WAIT_NANOSECONDS};
	struct process *me = nic->me;

	atomic_store_explicit(&me->asleep, timed ? ASLEEP_TIMED : ASLEEP_UNTIL_WOKEN, memory_order_seq_cst);
	if (timed || !atomic_load_explicit(&nic->held, memory_order_seq_cst))
		syscall(SYS_futex, &me->wakeups, FUTEX_WAIT, wakeups, timed ? &duration : NULL, NULL, 0);
	atomic_store_explicit(&me->asleep, AWAKE, memory_order_relaxed);
}

static bool run_sessions(struct nic *nic)
{
	bool did = false;

	for (int i = 0; i < nic->vcq_count; i++)
		if (atomic_load_explicit(&nic->vcqs[i].live, memory_order_relaxed) &&
		    (nic->vcqs[i].flags & UTOFU_VCQ_FLAG_SESSION_MODE))
			did = queue_run_by_nic(&nic->vcqs[i]) || did;
	return did;
}

static void release_all_held(struct nic *nic)
{
	for (int i = 0; i < nic->vcq_count; i++)
		if (atomic_load_explicit(&nic->vcqs[i].live, memory_order_relaxed) &&
		    !(nic->vcqs[i].flags & UTOFU_VCQ_FLAG_SESSION_MODE))
			queue_run_by_nic(&nic->vcqs[i]);
}

static void *nic_thread(void *arg)
{
	struct nic *nic = arg;
	int timed_waits = 0;

	for (;;) {
		uint32_t wakeups = atomic_load_explicit(&nic->me->wakeups, memory_order_acquire);
		bool did, holding;

		pthread_mutex_lock(&nic->lock);
		did = run_sessions(nic);
		pthread_mutex_unlock(&nic->lock);
		if (did)
			continue;
		holding = atomic_load_explicit(&nic->held, memory_order_relaxed);
		timed_waits = holding ? TIMED_WAITS : timed_waits - (timed_waits > 0);
		sleep_until_woken(nic, wakeups, timed_waits > 0);
		if (!holding)
			continue;
		pthread_mutex_lock(&nic->lock);
		release_all_held(nic);
		pthread_mutex_unlock(&nic->lock);
	}
	return NULL;
}

bool nic_thread_start(struct nic *nic)
{
	sigset_t all, before;
	pthread_t thread;
	bool runs;

	if (atomic_load_explicit(&nic->thread_runs, memory_order_acquire))
		return true;
	/* Signals belong to the threads of the program. */
	sigfillset(&all);
	pthread_mutex_lock(&nic->lock);
	runs = atomic_load_explicit(&nic->thread_runs, memory_order_relaxed);
	if (!runs) {
		pthread_sigmask(SIG_SETMASK, &all, &before);
		runs = !pthread_create(&thread, NULL, nic_thread, nic);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		if (runs)
			pthread_detach(thread);
		atomic_store_explicit(&nic->thread_runs, runs, memory_order_release);
	}
	pthread_mutex_unlock(&nic->lock);
	return runs;
}
