/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_NET_SERVER_H
#define COMMS_NET_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "comms/core/network.h"

/*
 * The thread that makes progress for other PEs while this one computes. It polls whenever a
 * descriptor of the network becomes readable, and then wakes this PE's sleepers, which may wait for
 * what arrived. It leaves the network to a PE that polls by itself (network_server_visit).
 *
 * A network with one such thread keeps a struct network_server, sets the first part, and calls the
 * functions of the same names from its own.
 */
struct network_server {
	/* Makes all possible progress. Returns true if something happened. */
	bool (*work)(void);
	/* May the thread sleep until event is readable? NULL: always. */
	bool (*may_sleep)(void);
	int event; /* readable if there may be work; -1: this network has no such descriptor */
	/*
	 * Nanoseconds for which the thread polls on after work, because more often follows at once
	 * and waking up takes longer. 0 if no processor is free for it.
	 */
	int64_t lingers;

	/* The server's own. */
	pthread_t thread;
	bool served;
	int wakeup;		     /* readable when the thread is to wake up */
	atomic_bool stopping, rests; /* rests: it leaves the network to a PE that waits */
	atomic_uint visits;	     /* polls by this PE's waits */
};

/* Starts the thread unless SHMEM_PROGRESS_THREAD=no. */
void network_server_open(struct network_server *server);
/* Starts it if it does not run. The routine is named in complaints. */
void network_server_serve(struct network_server *server, const char *routine);
void network_server_rest(struct network_server *server);
/* This PE makes progress itself now. */
static inline void network_server_visit(struct network_server *server)
{
	atomic_fetch_add_explicit(&server->visits, 1, memory_order_relaxed);
}
void network_server_wake(struct network_server *server);
/* For struct network_blocking. */
enum network_block network_server_wait(struct network_server *server, _Atomic uint32_t *word, uint32_t value,
				       long nanoseconds);

#endif
