/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * comms/net/server.c: the thread leaves the network to a PE that polls, and comes back when the PE
 * wakes it, at once, whatever the PE has polled before.
 */
#include "comms/net/server.h"

#include <stdlib.h>
#include <unistd.h>

#include "comms/wait/lists.h"
#include "rte/clock.h"
#include "rte/rte.h"
#include "tests/lib/unit.h"

/* What the library has around it. */
struct comms comms;
struct wait_lists wait_lists;
atomic_bool rte_is_broken_now;
void comms_wake_sleepers(struct comms_wakeup *wakeup)
{
	(void)wakeup;
}

int rte_start_thread(pthread_t *thread, void *(*run)(void *))
{
	return pthread_create(thread, NULL, run, NULL);
}
void rte_die(const char *routine, const char *format, ...)
{
	fprintf(stderr, "%s: %s\n", routine, format);
	abort();
}

static struct comms_wakeup wakeup;
static struct comms_peer peer = {.wakeup = &wakeup};
static struct comms_peer *_Atomic peers[1] = {&peer};
static atomic_long works;

static bool work(void)
{
	atomic_fetch_add(&works, 1);
	return false;
}

static bool serve(void)
{
	return false;
}

/* Nanoseconds from a wake to the next work. */
static int64_t time_of_wake(struct network_server *server)
{
	int64_t began;
	long before;

	for (int i = 0; i < 10; i++) { /* the thread rests, and the PE polls on */
		network_server_visit(server);
		usleep(30);
	}
	network_server_visit(server);
	before = atomic_load(&works);
	began = rte_clock_ns();
	network_server_wake(server);
	while (atomic_load(&works) == before && rte_clock_ns() - began < 1000000000)
		usleep(10);
	return rte_clock_ns() - began;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Others may have the processor in most tries, but not in nearly all. */
int main(void)
{
	enum { TRIES = 200 };
	struct network_server server = {.work = work, .event = -1};
	int64_t took[TRIES];

	comms.peers = peers;
	wait_lists.serve = serve;
	network_server_open(&server);
	for (int i = 0; i < TRIES; i++)
		took[i] = time_of_wake(&server);
	network_server_rest(&server);
	qsort(took, TRIES, sizeof took[0], by_value);
	EXPECT(took[TRIES / 10] < 400000, "a tenth of the wakes took less than %ld ns", (long)took[TRIES / 10]);
	return unit_failures > 0;
}
