/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Progress of the endpoint: by the PE in a wait, or by a thread, the server. Many providers move
 * data at the target only while the target polls for completions, and no completion at the target
 * reports arrivals. So the server polls whenever the queue's descriptor becomes readable, and then
 * wakes this PE's sleepers, which may wait for the data.
 */
#include "ofi_inside.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "comms/wait/lists.h"
#include "rte/rte.h"
#include "rte/settings.h"

#define UNATTENDED 500000L /* ns for which the server leaves the queue to a PE that polls it */
#define INTERVAL 100000L   /* ns between two polls if the queue has no descriptor */

bool ofi_served(void)
{
	return ofi.served;
}

bool ofi_progress(void)
{
	atomic_fetch_add_explicit(&ofi.visits, 1, memory_order_relaxed);
	return ofi_work();
}

static void ofi_wake_server(void)
{
	if (ofi.served)
		eventfd_write(ofi.wakeup, 1);
}

/*
 * Sleeps until ofi_wake_server, until the time has passed (-1: never), or until the queue is
 * readable (-1: not checked).
 */
static void sleep_until_woken(long nanoseconds, int queue)
{
	struct pollfd events[] = {{.fd = ofi.wakeup, .events = POLLIN}, {.fd = queue, .events = POLLIN}};
	const struct timespec timeout = {nanoseconds / 1000000000, nanoseconds % 1000000000};
	eventfd_t count;

	if (ppoll(events, 2, nanoseconds < 0 ? NULL : &timeout, NULL) > 0)
		eventfd_read(ofi.wakeup, &count);
}

/* May the server sleep until the queue's descriptor is readable? */
static bool may_sleep(void)
{
	struct fid *queue = &ofi.cq->fid;

	return ofi.event < 0 || fi_trywait(ofi.fabric, &queue, 1) == 0;
}

static void ofi_progress_for_others(void)
{
	do {
		while (ofi_work())
			;
		wait_lists.serve();
		comms_wake(comms_peer(comms.pe));
	} while (!may_sleep() && !atomic_load_explicit(&ofi.stopping, memory_order_relaxed));
}

static void *ofi_run_server(void *unused)
{
	unsigned seen = 0;

	while (!atomic_load_explicit(&ofi.stopping, memory_order_seq_cst)) {
		unsigned visits = atomic_load_explicit(&ofi.visits, memory_order_relaxed);

		if (visits != seen) {
			seen = visits;
			atomic_store_explicit(&ofi.rests, true, memory_order_seq_cst);
			sleep_until_woken(UNATTENDED, -1);
			atomic_store_explicit(&ofi.rests, false, memory_order_seq_cst);
			continue;
		}
		ofi_progress_for_others();
		sleep_until_woken(ofi.event < 0 ? INTERVAL : -1, ofi.event);
	}
	return unused;
}

void ofi_serve(const char *routine)
{
	int error;

	if (ofi.served)
		return;
	atomic_store_explicit(&ofi.stopping, false, memory_order_seq_cst);
	error = rte_start_thread(&ofi.server, ofi_run_server);
	if (error)
		rte_die(routine, "no thread to serve other nodes (%s); raise ulimit -u", strerror(error));
	ofi.served = true;
}

void ofi_open(void)
{
	bool wanted = true;

	setting_bool(SETTING_PROGRESS_THREAD, &wanted); /* stays as it is for "auto" */
	ofi.wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ofi.wakeup < 0)
		rte_die("shmem_init", "no descriptor for the thread that serves other nodes; raise ulimit -n");
	if (wanted)
		ofi_serve("shmem_init");
}

void ofi_rest(void)
{
	if (ofi.served) {
		atomic_store_explicit(&ofi.stopping, true, memory_order_seq_cst);
		ofi_wake_server();
		pthread_join(ofi.server, NULL);
		ofi.served = false;
	}
	close(ofi.wakeup);
}

static enum network_block ofi_wait_blocking(_Atomic uint32_t *word, uint32_t value, long nanoseconds)
{
	if (ofi.served) {
		if (atomic_load_explicit(&ofi.rests, memory_order_seq_cst))
			ofi_wake_server();
		return NETWORK_BLOCK_NOT;
	}
	if (atomic_load_explicit(word, memory_order_seq_cst) != value)
		return NETWORK_BLOCKED;
	if (ofi_progress())
		return NETWORK_BLOCKED_AND_PROGRESSED;
	if (may_sleep())
		sleep_until_woken(nanoseconds, ofi.event);
	return ofi_progress() ? NETWORK_BLOCKED_AND_PROGRESSED : NETWORK_BLOCKED;
}

const struct network_blocking ofi_blocking = {ofi_wait_blocking, ofi_wake_server};
