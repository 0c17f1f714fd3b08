/* SPDX-License-Identifier: BSD-3-Clause */
#include "server.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "comms/core/processor.h"
#include "comms/wait/lists.h"
#include "rte/clock.h"
#include "rte/rte.h"
#include "rte/settings.h"

#define UNATTENDED 500000L /* ns for which the thread leaves the network to a PE that polls it */
#define INTERVAL 100000L   /* ns between two polls if the network has no descriptor */

void network_server_wake(struct network_server *server)
{
	if (server->served)
		eventfd_write(server->wakeup, 1);
}

/*
 * Sleeps until network_server_wake, until the time has passed (-1: never), or until the event is
 * readable (-1: not checked). Returns true if somebody woke it.
 */
static bool sleep_until_woken(struct network_server *server, long nanoseconds, int event)
{
	struct pollfd events[] = {{.fd = server->wakeup, .events = POLLIN}, {.fd = event, .events = POLLIN}};
	const struct timespec timeout = {nanoseconds / 1000000000, nanoseconds % 1000000000};
	eventfd_t count;

	return ppoll(events, 2, nanoseconds < 0 ? NULL : &timeout, NULL) > 0 &&
	       eventfd_read(server->wakeup, &count) == 0;
}

static bool server_may_sleep(struct network_server *server)
{
	return !server->may_sleep || server->may_sleep();
}

static bool is_stopping(struct network_server *server)
{
	return atomic_load_explicit(&server->stopping, memory_order_relaxed);
}

static bool work_for_others(struct network_server *server)
{
	bool any = false;

	while (server->work())
		any = true;
	wait_lists.serve();
	comms_wake(comms_peer(comms.pe));
	return any;
}

/* Polls until nothing has happened for as long as the thread lingers, or this PE polls itself. */
static void linger(struct network_server *server, unsigned visits)
{
	int64_t end = rte_clock_ns() + server->lingers;

	while (!is_stopping(server) && rte_clock_ns() < end &&
	       atomic_load_explicit(&server->visits, memory_order_relaxed) == visits) {
		if (server->work()) {
			work_for_others(server);
			end = rte_clock_ns() + server->lingers;
		}
		processor_pause();
	}
}

static void progress_for_others(struct network_server *server, unsigned visits)
{
	bool any;

	do {
		any = work_for_others(server);
		if (any && server->lingers > 0)
			linger(server, visits);
	} while (!server_may_sleep(server) && !is_stopping(server) && !rte_is_broken());
}

/* A PE that wakes the thread leaves the network to it: its polls until then do not count. */
static void *run_server(struct network_server *server)
{
	unsigned seen = 0;

	while (!atomic_load_explicit(&server->stopping, memory_order_seq_cst)) {
		unsigned visits = atomic_load_explicit(&server->visits, memory_order_relaxed);

		if (rte_is_broken()) { /* what has come stays where it is */
			sleep_until_woken(server, -1, -1);
			continue;
		}
		if (visits != seen) {
			seen = visits;
			atomic_store_explicit(&server->rests, true, memory_order_seq_cst);
			if (sleep_until_woken(server, UNATTENDED, -1))
				seen = atomic_load_explicit(&server->visits, memory_order_relaxed);
			atomic_store_explicit(&server->rests, false, memory_order_seq_cst);
			continue;
		}
		progress_for_others(server, visits);
		sleep_until_woken(server, server->event < 0 ? INTERVAL : -1, server->event);
	}
	return NULL;
}

/* rte_start_thread passes no argument, and a job has one network. */
static struct network_server *of_this_job;

static void *run_of_this_job(void *unused)
{
	(void)unused;
	return run_server(of_this_job);
}

void network_server_serve(struct network_server *server, const char *routine)
{
	int error;

	if (server->served)
		return;
	of_this_job = server;
	atomic_store_explicit(&server->stopping, false, memory_order_seq_cst);
	error = rte_start_thread(&server->thread, run_of_this_job);
	if (error)
		rte_die(routine, "no thread to serve other nodes (%s); raise ulimit -u", strerror(error));
	server->served = true;
}

void network_server_open(struct network_server *server)
{
	bool wanted = true;

	setting_bool(SETTING_PROGRESS_THREAD, &wanted); /* stays as it is for "auto" */
	server->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (server->wakeup < 0)
		rte_die("shmem_init", "no descriptor for the thread that serves other nodes; raise ulimit -n");
	if (wanted)
		network_server_serve(server, "shmem_init");
}

void network_server_rest(struct network_server *server)
{
	if (server->served) {
		atomic_store_explicit(&server->stopping, true, memory_order_seq_cst);
		network_server_wake(server);
		pthread_join(server->thread, NULL);
		server->served = false;
	}
	close(server->wakeup);
}

enum network_block network_server_wait(struct network_server *server, _Atomic uint32_t *word, uint32_t value,
				       long nanoseconds)
{
	if (server->served) {
		if (atomic_load_explicit(&server->rests, memory_order_seq_cst))
			network_server_wake(server);
		return NETWORK_BLOCK_NOT;
	}
	if (atomic_load_explicit(word, memory_order_seq_cst) != value)
		return NETWORK_BLOCKED;
	if (server->work())
		return NETWORK_BLOCKED_AND_PROGRESSED;
	if (server_may_sleep(server))
		sleep_until_woken(server, nanoseconds, server->event);
	return server->work() ? NETWORK_BLOCKED_AND_PROGRESSED : NETWORK_BLOCKED;
}
