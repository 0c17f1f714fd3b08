/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The executor: one thread of this PE that moves all lists assigned to it. While none is active it
 * sleeps on `work`. While some are active it waits like a PE, but with fewer polls, to leave the
 * processors to PEs that compute.
 *
 * It also polls words that start plans. Nobody wakes it when they change, so it keeps polling for a
 * while if each PE has a processor, and then sleeps for a short time only.
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
#include "comms/core/network.h"
#include "rte/rte.h"
#include "comms/core/sanitizer.h"
#include "comms/wait/lists.h"
#include "comms/wait/wait.h"

#define POLLS 200
#define POLLS_OF_WORDS 4000    /* about a millisecond */
#define SLEEP_WITH_WORDS 50000 /* nanoseconds */

atomic_int comms_executor_polls;
bool (*comms_executor_poll)(void);

static struct {
	pthread_t thread;
	bool running; /* protected by the lock */
	pthread_mutex_t lock;
	atomic_bool stop, idle;
	_Atomic uint32_t work;
} executor = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool has_lists(void)
{
	return atomic_load_explicit(&comms_executor_has, memory_order_relaxed) > 0;
}

static bool has_words(void)
{
	return atomic_load_explicit(&comms_executor_polls, memory_order_acquire) > 0;
}

static bool move(void)
{
	bool moved = has_words() && comms_executor_poll();

	return (has_lists() && comms_executor_move()) || moved;
}

static unsigned polls_before_sleep(void)
{
	return has_words() && !comms.oversubscribed ? POLLS_OF_WORDS : POLLS;
}

/*
 * A server that progresses the network also moves these lists after an arrival, so the executor
 * would only delay it. If a NIC does everything and sends no wakeup, the executor polls it.
 */
static bool poll_network(void)
{
	sched_yield();
	return comms.network && (!comms.network->served() || comms.network->longest_wait > 0) && comms_spin();
}

static void move_until_over(void)
{
	unsigned polls = polls_before_sleep();

	while (has_lists() || has_words()) {
		uint32_t key;

		if (move() || (polls > 0 && poll_network())) {
			polls = polls_before_sleep();
			continue;
		}
		if (polls > 0) {
			polls--;
			continue;
		}
		key = comms_sleep_prepare(COMMS_ANYWHERE);
		if (move() || !(has_lists() || has_words())) {
			comms_sleep_cancel();
			polls = polls_before_sleep();
			continue;
		}
		comms_sleep_idle(key, has_words() ? SLEEP_WITH_WORDS : 0);
		polls = 1;
	}
}

/*
 * Keeps a woken executor from preempting the PE that wakes it, so that a start has the same cost
 * whichever thread moves the list.
 */
static void set_batch_policy(bool does)
{
	sched_setscheduler(0, does ? SCHED_BATCH : SCHED_OTHER, &(struct sched_param){0});
}

/*
 * A waker changes work before it reads idle. The executor sets idle before the kernel compares
 * work, with a fence in between. It reads work before the flags that work announces, stop included,
 * so a later change of a flag changes work again.
 */
static void *run_executor(void *unused)
{
	SANITIZER_IGNORE();
	for (;;) {
		uint32_t seen = atomic_load_explicit(&executor.work, memory_order_acquire);

		if (atomic_load_explicit(&executor.stop, memory_order_relaxed))
			break;
		move_until_over();
		atomic_store_explicit(&executor.idle, true, memory_order_relaxed);
		set_batch_policy(true);
		if (atomic_load_explicit(&executor.work, memory_order_relaxed) == seen)
			futex(&executor.work, FUTEX_WAIT_PRIVATE, seen, NULL);
		atomic_store_explicit(&executor.idle, false, memory_order_relaxed);
		set_batch_policy(false);
	}
	SANITIZER_HEED();
	return unused;
}

void comms_executor_start(const char *routine)
{
	int problem = 0;

	pthread_mutex_lock(&executor.lock);
	if (!executor.running) {
		atomic_store_explicit(&executor.stop, false, memory_order_relaxed);
		problem = rte_start_thread(&executor.thread, run_executor);
		executor.running = problem == 0;
	}
	pthread_mutex_unlock(&executor.lock);
	if (problem)
		rte_die(routine, "no thread to move plans (%s); raise ulimit -u, or set SHMEM_PLAN_EXECUTOR=list",
			strerror(problem));
}

void comms_executor_wake(void)
{
	atomic_fetch_add_explicit(&executor.work, 1, memory_order_seq_cst);
	if (atomic_load_explicit(&executor.idle, memory_order_seq_cst))
		futex(&executor.work, FUTEX_WAKE_PRIVATE, 1, NULL);
	else
		comms_wake(comms_peer(comms.pe));
}

void comms_executor_stop(void)
{
	if (!executor.running)
		return;
	atomic_store_explicit(&executor.stop, true, memory_order_relaxed);
	comms_executor_wake();
	pthread_join(executor.thread, NULL);
	executor.running = false;
}
