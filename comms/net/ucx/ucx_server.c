/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The PE progresses the main worker in a wait, or a thread does, the server. The server sleeps in
 * poll until UCX has an event, and after progress wakes this PE's sleepers, which may wait for the
 * data.
 */
#include "ucx_messages.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "comms/wait/contention.h"
#include "comms/wait/lists.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "comms/core/futex.h"
#include "comms/core/sanitizer.h"
#include "ucx_failure.h"

#define SLEEP_SHORTEST 200000L /* ns */
#define SLEEP_LONGEST 2000000L /* ns */
/* Ns; if others want the processors, and occupy them for that long. */
#define SLEEP_CONTENDED 10000000L
#define SLICE 100000 /* ns, the shortest slice there is */

unsigned ucx_work(void)
{
	unsigned done;

	SANITIZER_IGNORE();
	done = ucx_worker_progress(ucx.main.worker);
	ucx_target_acknowledge();
	SANITIZER_HEED();
	return done;
}

bool ucx_progress(void)
{
	ucx_visit();
	return ucx_work() != 0;
}

bool ucx_served(void)
{
	return ucx.served;
}

/* The shorter of two sleeping times; -1 is for ever. */
static int shorter_sleep(int one, int other)
{
	return one < 0 || (other >= 0 && other < one) ? other : one;
}

static long longer_sleep(long nanoseconds)
{
	long longest = contention_is_there() ? SLEEP_CONTENDED : SLEEP_LONGEST;

	return 2 * nanoseconds < longest ? 2 * nanoseconds : longest;
}

/* A timed wait of the server. Returns true if another thread wants it. */
static bool wait_until_handed_over(long nanoseconds)
{
	const struct timespec timeout = {0, nanoseconds};

	atomic_store_explicit(&ucx.in_timed_wait, 1, memory_order_seq_cst);
	futex(&ucx.in_timed_wait, FUTEX_WAIT_PRIVATE, 1, &timeout);
	return atomic_exchange_explicit(&ucx.in_timed_wait, 0, memory_order_seq_cst) == 0;
}

/*
 * A PE with one thread that is alone on its node is woken only by UCX, which takes half as long
 * without the server. If the server has just changed the word, either this PE sees the new value,
 * or the server finds this thread blocking and signals.
 */
enum network_block ucx_wait_blocking(_Atomic uint32_t *word, uint32_t value, long nanoseconds)
{
	struct pollfd event = {.fd = ucx.event_fd, .events = POLLIN};
	int milliseconds;
	bool served = false;

	if (ucx.served && (comms.n_node > 1 || comms.threads)) {
		ucx_hand_over();
		return NETWORK_BLOCK_NOT;
	}
	milliseconds = shorter_sleep((int)((nanoseconds + 999999) / 1000000), ucx.longest_sleep);
	milliseconds = shorter_sleep(milliseconds, shorter_sleep(channels_push(), failure_check()));
	atomic_store_explicit(&ucx.blocking, true, memory_order_seq_cst);
	if (atomic_load_explicit(word, memory_order_seq_cst) == value) {
		served = ucx_progress();
		if (!served && ucp.worker_arm(ucx.main.worker) == UCS_OK && poll(&event, 1, milliseconds) > 0)
			served = ucx_progress();
	}
	atomic_store_explicit(&ucx.blocking, false, memory_order_seq_cst);
	return served ? NETWORK_BLOCKED_AND_PROGRESSED : NETWORK_BLOCKED;
}

void ucx_wake_server(void)
{
	if (!ucx.served)
		return;
	ucx_hand_over();
	ucp.worker_signal(ucx.main.worker);
}

/*
 * Runs until another thread progresses the worker. Returns true if there is more to do without an
 * event.
 */
static bool progress_for_others(void)
{
	const unsigned visits = atomic_load_explicit(&ucx.visits, memory_order_relaxed);
	bool worked = false, moved;

	while (ucx_work()) {
		worked = true;
		if (atomic_load_explicit(&ucx.visits, memory_order_relaxed) != visits)
			break;
	}
	moved = wait_lists.serve();
	if (!worked && !moved)
		return false;
	comms_wake(comms_peer(comms.pe));
	if (atomic_load_explicit(&ucx.blocking, memory_order_seq_cst))
		ucp.worker_signal(ucx.main.worker);
	return moved;
}

/*
 * Messages for a PE that computes are urgent and short work. If no processor is idle, the kernel
 * runs the server at once if it asked for a short time slice (Linux since 6.12); otherwise it waits
 * for the end of another slice, milliseconds later.
 */
static void shorten_slice(void)
{
	/*
	 * The kernel's sched_attr, in its first form; its header and glibc's cannot both be
	 * included.
	 */
	struct {
		uint32_t size, policy;
		uint64_t flags;
		int32_t nice;
		uint32_t priority;
		uint64_t runtime, deadline, period;
	} attributes = {0};

	if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) || attributes.policy != SCHED_OTHER)
		return;
	attributes.runtime = SLICE;
	syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/*
 * While the PE progresses the worker in a wait, each event would wake the server for nothing and
 * take the processor from the PE. So the server then leaves UCX alone, and after a sleep checks
 * whether the PE still does. It does not even poll: if the two share a processor, it would wait for
 * UCX's lock, which the PE holds most of the time.
 */
static void *ucx_run_server(void *unused)
{
	struct pollfd event = {.fd = ucx.event_fd, .events = POLLIN};
	const long shortest = comms.oversubscribed ? SLEEP_LONGEST : SLEEP_SHORTEST;
	unsigned seen = 0;
	long length = shortest;

	ucx_serves = true;
	shorten_slice();
	while (!atomic_load_explicit(&ucx.resting, memory_order_seq_cst)) {
		int next_check = shorter_sleep(channels_push(), failure_check());
		unsigned visits = atomic_load_explicit(&ucx.visits, memory_order_seq_cst);

		if ((visits != seen || atomic_load_explicit(&ucx.blocking, memory_order_seq_cst)) &&
		    !wait_until_handed_over(length)) {
			seen = visits;
			length = longer_sleep(length);
			continue;
		}
		seen = atomic_load_explicit(&ucx.visits, memory_order_seq_cst);
		length = shortest;
		if (!progress_for_others() && ucp.worker_arm(ucx.main.worker) == UCS_OK)
			poll(&event, 1, shorter_sleep(ucx.longest_sleep, next_check));
	}
	return unused;
}

static void start_server(void)
{
	int error;

	atomic_store_explicit(&ucx.resting, false, memory_order_seq_cst);
	error = rte_start_thread(&ucx.server, ucx_run_server);
	if (error)
		rte_die("shmem_init",
			"no thread to serve other nodes (%s); raise ulimit -u, or set "
			"SHMEM_PROGRESS_THREAD=no",
			strerror(error));
	ucx.served = true;
}

void ucx_serve(void)
{
	bool wanted = true;

	setting_bool(SETTING_PROGRESS_THREAD, &wanted); /* stays as it is for "auto" */
	if (wanted)
		start_server();
}

void ucx_expect_end(void)
{
	atomic_store_explicit(&ucx.ending, true, memory_order_seq_cst);
	failure_end();
	if (!ucx.served && !rte_is_broken())
		start_server();
}

void ucx_rest(void)
{
	if (!ucx.served)
		return;
	atomic_store_explicit(&ucx.resting, true, memory_order_seq_cst);
	ucx_hand_over();
	ucx_check(ucp.worker_signal(ucx.main.worker), "ucp_worker_signal");
	pthread_join(ucx.server, NULL);
	ucx.served = false;
}
