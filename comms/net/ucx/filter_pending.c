/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections that have come and not proven yet that they are of the job. */
#include "filter_inside.h"

#include <sys/timerfd.h>
#include <time.h>

#include "rte/clock.h"

bool filter_address_of(int fd, int (*side)(int, struct sockaddr *, socklen_t *), struct sockaddr_storage *address)
{
	socklen_t size = sizeof *address;

	return side(fd, (struct sockaddr *)address, &size) == 0 &&
	       (address->ss_family == AF_INET || address->ss_family == AF_INET6);
}

bool filter_epoll_set(const struct listener *listener, int operation, int fd, uint32_t number, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.u32 = number};

	return epoll_ctl(listener->events, operation, fd, &event) == 0;
}

void filter_tick(struct listener *listener, bool wanted)
{
	const struct timespec span = {0, wanted ? TICK_MS * 1000000L : 0};

	if (listener->ticking != wanted)
		timerfd_settime(listener->timer, 0, &(struct itimerspec){span, span}, NULL);
	listener->ticking = wanted;
}

/* For a connection that goes on to UCX or is closed by the caller. */
static void forget_pending(struct pending *pending)
{
	epoll_ctl(pending->of->events, EPOLL_CTL_DEL, pending->fd, NULL);
	pending->of = NULL;
}

void pending_refuse(struct pending *pending)
{
	forget_pending(pending);
	close(pending->fd);
}

/* NULL: there is none. */
struct pending *pending_oldest(void)
{
	struct pending *oldest = NULL;

	for (int i = 0; i < filter.most; i++)
		if (filter.pending[i].of && (!oldest || filter.pending[i].since < oldest->since))
			oldest = &filter.pending[i];
	return oldest;
}

static struct pending *place_for_pending(void)
{
	struct pending *oldest;

	for (int i = 0; i < filter.most; i++)
		if (!filter.pending[i].of)
			return &filter.pending[i];
	oldest = pending_oldest();
	pending_refuse(oldest);
	return oldest;
}

bool pending_has(const struct listener *listener)
{
	for (int i = 0; i < filter.most; i++)
		if (filter.pending[i].of == listener)
			return true;
	return false;
}

enum verdict { VERDICT_WAIT, VERDICT_REFUSE, VERDICT_ACCEPT };

/* Reads no further than the greeting: what follows is for UCX. */
static enum verdict read_greeting(struct pending *pending)
{
	char *at = (char *)&pending->greeting + pending->bytes;
	ssize_t got = recv(pending->fd, at, sizeof pending->greeting - pending->bytes, MSG_DONTWAIT);
	struct sockaddr_storage here;

	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? VERDICT_WAIT : VERDICT_REFUSE;
	pending->bytes += (size_t)got;
	if (got == 0 || !greeting_may_begin(&pending->greeting, pending->bytes))
		return VERDICT_REFUSE;
	if (pending->bytes < sizeof pending->greeting)
		return VERDICT_WAIT;
	return filter_address_of(pending->fd, getsockname, &here) &&
			       greeting_is_genuine(&pending->greeting, filter.key, &here) &&
			       greetings_seen_add(&filter.seen, &pending->greeting)
		       ? VERDICT_ACCEPT
		       : VERDICT_REFUSE;
}

/* The connection, if it has proven itself; else -1. */
int pending_read(struct pending *pending)
{
	int fd = pending->fd;

	switch (read_greeting(pending)) {
	case VERDICT_ACCEPT: forget_pending(pending); return fd;
	case VERDICT_REFUSE: pending_refuse(pending); return -1;
	case VERDICT_WAIT: return -1;
	}
	return -1;
}

/* Most greetings are there already when a connection is. */
int pending_read_new(struct listener *listener, int fd)
{
	struct pending first = {.of = listener, .fd = fd, .since = rte_clock_ms()}, *place;
	enum verdict verdict = read_greeting(&first);

	if (verdict == VERDICT_ACCEPT)
		return fd;
	if (verdict == VERDICT_WAIT) {
		place = place_for_pending();
		*place = first;
		if (filter_epoll_set(listener, EPOLL_CTL_ADD, fd, (uint32_t)(place - filter.pending), EPOLLIN)) {
			filter_tick(listener, true);
			return -1;
		}
		place->of = NULL;
	}
	close(fd);
	return -1;
}
