/* SPDX-License-Identifier: BSD-3-Clause */
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "softofu/nic/vcq.h"

/*
 * The card's thread: runs the sessions of this process and lets go of what is held back. It sleeps on the process's
 * bell, for good where there is nothing to do, and for a fraction of a millisecond while something is held or was a
 * moment ago: then nobody has to wake it for that.
 */
enum { NAP_NANOSECONDS = 200000 };
#ifndef NAPS /* tests/order has fewer */
#define NAPS 50
#endif

/* Who holds something back looks whether we sleep for good, after it has counted that; we look at the count after we have said so. */
static void sleep_until_rung(struct nic *nic, uint32_t bell, bool nap)
{
	struct timespec while_ = {.tv_nsec = NAP_NANOSECONDS};
	struct process *me = nic->me;

	atomic_store_explicit(&me->asleep, nap ? ASLEEP_A_MOMENT : ASLEEP_FOR_GOOD, memory_order_seq_cst);
	if (nap || !atomic_load_explicit(&nic->held, memory_order_seq_cst))
		syscall(SYS_futex, &me->bell, FUTEX_WAIT, bell, nap ? &while_ : NULL, NULL, 0);
	atomic_store_explicit(&me->asleep, AWAKE, memory_order_relaxed);
}

static bool run_sessions(struct nic *nic)
{
	bool did = false;

	for (int i = 0; i < nic->vcq_count; i++)
		if (atomic_load_explicit(&nic->vcqs[i].live, memory_order_relaxed) &&
		    (nic->vcqs[i].flags & UTOFU_VCQ_FLAG_SESSION_MODE))
			did = queue_run_card(&nic->vcqs[i]) || did;
	return did;
}

static void let_all_go(struct nic *nic)
{
	for (int i = 0; i < nic->vcq_count; i++)
		if (atomic_load_explicit(&nic->vcqs[i].live, memory_order_relaxed) &&
		    !(nic->vcqs[i].flags & UTOFU_VCQ_FLAG_SESSION_MODE))
			queue_run_card(&nic->vcqs[i]);
}

static void *card_thread(void *arg)
{
	struct nic *nic = arg;
	int naps = 0;

	for (;;) {
		uint32_t bell = atomic_load_explicit(&nic->me->bell, memory_order_acquire);
		bool did, holding;

		pthread_mutex_lock(&nic->lock);
		did = run_sessions(nic);
		pthread_mutex_unlock(&nic->lock);
		if (did)
			continue;
		holding = atomic_load_explicit(&nic->held, memory_order_relaxed);
		naps = holding ? NAPS : naps - (naps > 0);
		sleep_until_rung(nic, bell, naps > 0);
		if (!holding)
			continue;
		pthread_mutex_lock(&nic->lock);
		let_all_go(nic);
		pthread_mutex_unlock(&nic->lock);
	}
	return NULL;
}

bool card_thread_start(struct nic *nic)
{
	sigset_t all, before;
	pthread_t thread;
	bool runs;

	if (atomic_load_explicit(&nic->thread_runs, memory_order_acquire))
		return true;
	/* Signals are the program's own business, not this thread's. */
	sigfillset(&all);
	pthread_mutex_lock(&nic->lock);
	runs = atomic_load_explicit(&nic->thread_runs, memory_order_relaxed);
	if (!runs) {
		pthread_sigmask(SIG_SETMASK, &all, &before);
		runs = !pthread_create(&thread, NULL, card_thread, nic);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		if (runs)
			pthread_detach(thread);
		atomic_store_explicit(&nic->thread_runs, runs, memory_order_release);
	}
	pthread_mutex_unlock(&nic->lock);
	return runs;
}
