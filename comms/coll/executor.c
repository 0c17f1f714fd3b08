/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine: one thread of this PE that moves the lists which are its own, however many there are. While none is active it
 * sleeps on `work`; while some are, it waits like a PE does, but with fewer looks, for PEs that compute are to have
 * the processors.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "commands.h"
#include "comms/core/futex.h"
#include "comms/net/network.h"
#include "rte/rte.h"
#include "comms/core/sanitizer.h"
#include "comms/wait/lists.h"
#include "comms/wait/wait.h"

#define POLLS 200

static struct {
	pthread_t thread;
	bool running; /* changed by those who hold the lock */
	pthread_mutex_t lock;
	atomic_bool stop, idle;
	_Atomic uint32_t work;
} engine = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool has_lists(void)
{
	return atomic_load_explicit(&comms_engine_has, memory_order_relaxed) > 0;
}

/*
 * Where a server looks after the network, it moves these lists too, when something has come; the engine only keeps it from that. Where a card
 * does all and nobody rings for it, the engine sees what it has done.
 */
static bool look(void)
{
	sched_yield();
	return comms.network && (!comms.network->served() || comms.network->longest_wait > 0) && comms_spin();
}

static void move_until_over(void)
{
	unsigned polls = POLLS;

	while (has_lists()) {
		uint32_t key;

		if (comms_engine_move() || (polls > 0 && look())) {
			polls = POLLS;
			continue;
		}
		if (polls > 0) {
			polls--;
			continue;
		}
		key = comms_sleep_prepare(COMMS_ANYWHERE);
		if (comms_engine_move() || !has_lists()) {
			comms_sleep_cancel();
			polls = POLLS;
			continue;
		}
		comms_sleep_idle(key);
		polls = 1;
	}
}

/* While it does, waking this thread does not take the processor from the PE that does so: a start costs the same whatever is moved. */
static void yield_processor(bool does)
{
	sched_setscheduler(0, does ? SCHED_BATCH : SCHED_OTHER, &(struct sched_param){0});
}

/*
 * Who wakes changes work before it looks at idle; we say that we are idle before the kernel compares work, behind a fence of its own. And work is read before what
 * it announces, stop as well: what comes later changes it once more.
 */
static void *drive(void *unused)
{
	SANITIZER_IGNORE();
	for (;;) {
		uint32_t seen = atomic_load_explicit(&engine.work, memory_order_acquire);

		if (atomic_load_explicit(&engine.stop, memory_order_relaxed))
			break;
		move_until_over();
		atomic_store_explicit(&engine.idle, true, memory_order_relaxed);
		yield_processor(true);
		if (atomic_load_explicit(&engine.work, memory_order_relaxed) == seen)
			futex(&engine.work, FUTEX_WAIT_PRIVATE, seen, NULL);
		atomic_store_explicit(&engine.idle, false, memory_order_relaxed);
		yield_processor(false);
	}
	SANITIZER_HEED();
	return unused;
}

/* Signals are the program's business, and its threads'. */
void comms_engine_start(const char *routine)
{
	sigset_t every, before;
	int problem = 0;

	pthread_mutex_lock(&engine.lock);
	if (!engine.running) {
		sigfillset(&every);
		pthread_sigmask(SIG_SETMASK, &every, &before);
		atomic_store_explicit(&engine.stop, false, memory_order_relaxed);
		problem = pthread_create(&engine.thread, NULL, drive, NULL);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
		engine.running = problem == 0;
		atomic_store_explicit(&wait_lists.own_threads, engine.running, memory_order_relaxed);
	}
	pthread_mutex_unlock(&engine.lock);
	if (problem)
		rte_die(routine, "no thread to move plans (%s); raise ulimit -u, or set SHMEM_PLAN_ENGINE=list", strerror(problem));
}

void comms_engine_wake(void)
{
	atomic_fetch_add_explicit(&engine.work, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&engine.idle, memory_order_seq_cst))
		futex(&engine.work, FUTEX_WAKE_PRIVATE, 1, NULL);
	else
		comms_wake(comms_peer(comms.pe));
}

void comms_engine_stop(void)
{
	if (!engine.running)
		return;
	atomic_store_explicit(&engine.stop, true, memory_order_relaxed);
	comms_engine_wake();
	pthread_join(engine.thread, NULL);
	engine.running = false;
	atomic_store_explicit(&wait_lists.own_threads, 0, memory_order_relaxed);
}
