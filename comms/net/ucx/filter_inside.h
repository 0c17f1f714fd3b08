/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_UCX_FILTER_INSIDE_H
#define COMMS_UCX_FILTER_INSIDE_H

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "ucx_filter.h"

/*
 * What the files of the accept filter share: filter_pending.c, filter_listeners.c, ucx_filter.c
 * (what UCX and its path call).
 */

#define PENDING_MOST 64
#define PENDING_MS 5000
/* How often the time of pending connections is checked, and how long a listener rests. */
#define TICK_MS 100
#define ACCEPTS_AT_ONCE 32 /* before UCX's thread does something else */
#define EVENTS_AT_ONCE 16
#define BITS 65536

#define EVENT_LISTENER PENDING_MOST
#define EVENT_TIMER (PENDING_MOST + 1)

struct listener {
	int fd;	    /* UCX's, which UCX closes */
	int events; /* the epoll set; -1: UCX no longer asks for connections here */
	int timer;
	bool resting, ticking;
	struct listener *next;
};

struct pending {
	struct listener *of; /* NULL: the place is free */
	int fd;
	int64_t since; /* ms */
	size_t bytes;
	struct greeting greeting;
};

enum filter_mode { MODE_OFF, MODE_CLOSED, MODE_OPEN }; /* closed: the key is not known yet */

extern struct filter {
	pthread_mutex_t lock;
	bool hooked; /* stays so until the process ends */
	_Atomic enum filter_mode mode;
	const char *text;
	uint8_t key[GREETING_KEY_BYTES];
	struct listener *listeners;
	int listened, filtered; /* how many there were since the start */
	struct pending pending[PENDING_MOST];
	int most; /* pending ones */
	struct greetings_seen seen;
	_Atomic uint64_t may_be_listener[BITS / 64]; /* by descriptor, modulo the bits */
} filter;

static inline enum filter_mode filter_mode(void)
{
	return atomic_load_explicit(&filter.mode, memory_order_acquire);
}

bool filter_address_of(int fd, int (*side)(int, struct sockaddr *, socklen_t *), struct sockaddr_storage *address);
bool filter_epoll_set(const struct listener *listener, int operation, int fd, uint32_t number, uint32_t events);
void filter_tick(struct listener *listener, bool wanted);

void pending_refuse(struct pending *pending);
/* NULL: there is none. */
struct pending *pending_oldest(void);
bool pending_has(const struct listener *listener);
/* The connection, if it has proven itself; else -1. */
int pending_read(struct pending *pending);
/* The same of one that has just come. */
int pending_read_new(struct listener *listener, int fd);

struct listener *listener_find(int fd);
bool listener_may_be(int fd);
void listener_close(struct listener *listener);
void listener_free(struct listener *listener);
bool listener_open(const struct listener *listener);
/* NULL, with errno: there is no descriptor or no memory left. */
struct listener *listener_make(int fd);
/* A connection that has proven itself, -1: there is none now. */
int listener_next_proven(struct listener *listener);

#endif
