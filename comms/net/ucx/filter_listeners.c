/* SPDX-License-Identifier: BSD-3-Clause */
/* UCX's listeners, each with the epoll set that UCX polls in its place. */
#include "filter_inside.h"

#include <stdlib.h>
#include <sys/timerfd.h>

#include "rte/clock.h"

struct listener *listener_find(int fd)
{
	struct listener *listener = filter.listeners;

	while (listener && listener->fd != fd)
		listener = listener->next;
	return listener;
}

bool listener_may_be(int fd)
{
	return fd >= 0 &&
	       atomic_load_explicit(&filter.may_be_listener[fd % BITS / 64], memory_order_acquire) >> fd % 64 & 1;
}

/*
 * No connection from outside the job now reaches UCX: an accept that is under way finds an epoll
 * set of -1.
 */
void listener_close(struct listener *listener)
{
	for (int i = 0; i < filter.most; i++)
		if (filter.pending[i].of == listener)
			pending_refuse(&filter.pending[i]);
	if (listener->events >= 0) {
		close(listener->events);
		close(listener->timer);
	}
	listener->events = -1;
}

void listener_free(struct listener *listener)
{
	struct listener **link = &filter.listeners;

	while (*link != listener)
		link = &(*link)->next;
	*link = listener->next;
	listener_close(listener);
	free(listener);
}

bool listener_open(const struct listener *listener)
{
	return listener->events < 0 || filter_epoll_set(listener, EPOLL_CTL_ADD, listener->fd, EVENT_LISTENER, EPOLLIN);
}

/* NULL, with errno: there is no descriptor or no memory left. */
struct listener *listener_make(int fd)
{
	struct listener *listener = listener_find(fd);

	if (listener)
		listener_free(listener);
	listener = calloc(1, sizeof *listener);
	if (!listener)
		return NULL;
	listener->fd = fd;
	listener->events = epoll_create1(EPOLL_CLOEXEC);
	listener->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	listener->next = filter.listeners;
	filter.listeners = listener;
	if (listener->events < 0 || listener->timer < 0 ||
	    !filter_epoll_set(listener, EPOLL_CTL_ADD, listener->timer, EVENT_TIMER, EPOLLIN) ||
	    (filter_mode() == MODE_OPEN && !listener_open(listener))) {
		listener_free(listener);
		errno = EMFILE;
		return NULL;
	}
	filter.filtered++;
	atomic_fetch_or_explicit(&filter.may_be_listener[fd % BITS / 64], (uint64_t)1 << fd % 64, memory_order_release);
	return listener;
}

static void rest_listener(struct listener *listener, bool wanted)
{
	filter_epoll_set(listener, EPOLL_CTL_MOD, listener->fd, EVENT_LISTENER, wanted ? 0 : EPOLLIN);
	listener->resting = wanted;
	if (wanted)
		filter_tick(listener, true);
}

/* The process, or the machine, has no room for another connection. */
static void make_room_or_rest(struct listener *listener)
{
	struct pending *oldest = pending_oldest();

	if (oldest)
		pending_refuse(oldest);
	else
		rest_listener(listener, true);
}

static int accept_some(struct listener *listener)
{
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int fd = accept4(listener->fd, NULL, NULL, 0);

		if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
			make_room_or_rest(listener);
		if (fd < 0)
			return -1;
		fd = pending_read_new(listener, fd);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

static void check_deadlines(struct listener *listener)
{
	int64_t now = rte_clock_ms();
	uint64_t ticks;

	if (read(listener->timer, &ticks, sizeof ticks) < 0)
		return;
	for (int i = 0; i < filter.most; i++)
		if (filter.pending[i].of && now - filter.pending[i].since >= PENDING_MS)
			pending_refuse(&filter.pending[i]);
	if (listener->resting)
		rest_listener(listener, false);
	filter_tick(listener, pending_has(listener));
}

/* A connection that has proven itself, -1: there is none now. */
int listener_next_proven(struct listener *listener)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = listener->events >= 0 ? epoll_wait(listener->events, events, EVENTS_AT_ONCE, 0) : 0, fd = -1;

	for (int i = 0; i < n && fd < 0; i++) {
		uint32_t number = events[i].data.u32;

		if (number == EVENT_TIMER)
			check_deadlines(listener);
		else if (number == EVENT_LISTENER)
			fd = accept_some(listener);
		else if (filter.pending[number].of == listener)
			fd = pending_read(&filter.pending[number]);
	}
	return fd;
}
