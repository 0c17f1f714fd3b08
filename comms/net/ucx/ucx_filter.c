/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The accept filter. UCX's TCP transport listens at a port that strangers reach too, and what it does not understand ends the process. So a
 * process of the job sends a greeting first on each connection, which proves that it knows the job's key, and UCX gets to see a connection
 * only after its greeting was read and found right (docs/protocols/greeting.md).
 *
 * UCX has no call for this. The filter replaces functions of the C library where UCX calls them (ucx_hooks.h):
 *
 * listen      counts UCX's listeners, to see that none is missed
 * epoll_ctl   UCX asks to be told of connections at a listener. It gets, in the listener's place, an epoll set of the filter, which has
 *             the listener, the pending connections and a timer in it. So UCX's own thread wakes up for any of them.
 * accept      works on what the set reports, and returns a connection that has proven itself, or EAGAIN
 * connect     sends the greeting when the connection is there, and returns then
 *
 * Connections that have not proven themselves are pending: few at a time, and for a short time; the oldest makes room for a new one. When the
 * process has no descriptor left, the listener rests for a moment: UCX would close it.
 *
 * The lock covers everything but the atomic members. It is taken below UCX's locks; nothing here calls UCX.
 */
#include "ucx_filter.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "comms/core/comms.h"
#include "ucx_hooks.h"
#include "rte/rte.h"
#include "rte/settings.h"

#define PENDING_MOST 64
#define PENDING_MS 5000
#define TICK_MS 100	   /* how often the time of pending connections is looked at, and how long a listener rests */
#define ACCEPTS_AT_ONCE 32 /* before UCX's thread looks after something else */
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

enum mode { MODE_OFF, MODE_CLOSED, MODE_OPEN }; /* closed: the key is not known yet */

static struct {
	pthread_mutex_t lock;
	bool hooked; /* stays so until the process ends */
	_Atomic enum mode mode;
	const char *text;
	uint8_t key[GREETING_KEY_BYTES];
	struct listener *listeners;
	int listened, filtered; /* how many there were since the start */
	struct pending pending[PENDING_MOST];
	int most; /* pending ones */
	struct greetings_seen seen;
	_Atomic uint64_t may_be_listener[BITS / 64]; /* by descriptor, modulo the bits */
} filter = {.lock = PTHREAD_MUTEX_INITIALIZER, .text = "not filtered"};

_Thread_local int ucx_filter_calls __attribute__((tls_model("initial-exec")));

static enum mode mode_now(void)
{
	return atomic_load_explicit(&filter.mode, memory_order_acquire);
}

static bool is_of_this_job(void)
{
	return ucx_filter_calls > 0 && mode_now() != MODE_OFF;
}

static int64_t now_in_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static bool address_of(int fd, int (*side)(int, struct sockaddr *, socklen_t *), struct sockaddr_storage *address)
{
	socklen_t size = sizeof *address;

	return side(fd, (struct sockaddr *)address, &size) == 0 &&
	       (address->ss_family == AF_INET || address->ss_family == AF_INET6);
}

static bool is_listening(int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(int);
	int yes = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &size) == 0 && yes &&
	       address_of(fd, getsockname, &address);
}

/* --- Epoll sets and timers --- */

static bool watch(const struct listener *listener, int operation, int fd, uint32_t number, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.u32 = number};

	return epoll_ctl(listener->events, operation, fd, &event) == 0;
}

static void tick(struct listener *listener, bool wanted)
{
	const struct timespec span = {0, wanted ? TICK_MS * 1000000L : 0};

	if (listener->ticking != wanted)
		timerfd_settime(listener->timer, 0, &(struct itimerspec){span, span}, NULL);
	listener->ticking = wanted;
}

/* --- Pending connections --- */

/* For a connection that goes on to UCX or is closed by the caller. */
static void forget_pending(struct pending *pending)
{
	epoll_ctl(pending->of->events, EPOLL_CTL_DEL, pending->fd, NULL);
	pending->of = NULL;
}

static void refuse(struct pending *pending)
{
	forget_pending(pending);
	close(pending->fd);
}

/* NULL: there is none. */
static struct pending *oldest_pending(void)
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
	oldest = oldest_pending();
	refuse(oldest);
	return oldest;
}

static bool has_pending(const struct listener *listener)
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
	return address_of(pending->fd, getsockname, &here) &&
			       greeting_is_genuine(&pending->greeting, filter.key, &here) &&
			       greetings_seen_add(&filter.seen, &pending->greeting)
		       ? VERDICT_ACCEPT
		       : VERDICT_REFUSE;
}

/* The connection, if it has proven itself; else -1. */
static int hear_pending(struct pending *pending)
{
	int fd = pending->fd;

	switch (read_greeting(pending)) {
	case VERDICT_ACCEPT: forget_pending(pending); return fd;
	case VERDICT_REFUSE: refuse(pending); return -1;
	case VERDICT_WAIT: return -1;
	}
	return -1;
}

/* Most greetings are there already when a connection is. */
static int hear_new(struct listener *listener, int fd)
{
	struct pending first = {.of = listener, .fd = fd, .since = now_in_ms()}, *place;
	enum verdict verdict = read_greeting(&first);

	if (verdict == VERDICT_ACCEPT)
		return fd;
	if (verdict == VERDICT_WAIT) {
		place = place_for_pending();
		*place = first;
		if (watch(listener, EPOLL_CTL_ADD, fd, (uint32_t)(place - filter.pending), EPOLLIN)) {
			tick(listener, true);
			return -1;
		}
		place->of = NULL;
	}
	close(fd);
	return -1;
}

/* --- Listeners --- */

static struct listener *find_listener(int fd)
{
	struct listener *listener = filter.listeners;

	while (listener && listener->fd != fd)
		listener = listener->next;
	return listener;
}

static bool may_be_listener(int fd)
{
	return fd >= 0 &&
	       atomic_load_explicit(&filter.may_be_listener[fd % BITS / 64], memory_order_acquire) >> fd % 64 & 1;
}

/* Nothing that strangers do now reaches UCX: an accept that is under way finds an epoll set of -1. */
static void close_listener(struct listener *listener)
{
	for (int i = 0; i < filter.most; i++)
		if (filter.pending[i].of == listener)
			refuse(&filter.pending[i]);
	if (listener->events >= 0) {
		close(listener->events);
		close(listener->timer);
	}
	listener->events = -1;
}

static void free_listener(struct listener *listener)
{
	struct listener **link = &filter.listeners;

	while (*link != listener)
		link = &(*link)->next;
	*link = listener->next;
	close_listener(listener);
	free(listener);
}

static bool open_listener(const struct listener *listener)
{
	return listener->events < 0 || watch(listener, EPOLL_CTL_ADD, listener->fd, EVENT_LISTENER, EPOLLIN);
}

/* NULL, with errno: there is no descriptor or no memory left. */
static struct listener *make_listener(int fd)
{
	struct listener *listener = find_listener(fd);

	if (listener)
		free_listener(listener);
	listener = calloc(1, sizeof *listener);
	if (!listener)
		return NULL;
	listener->fd = fd;
	listener->events = epoll_create1(EPOLL_CLOEXEC);
	listener->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	listener->next = filter.listeners;
	filter.listeners = listener;
	if (listener->events < 0 || listener->timer < 0 ||
	    !watch(listener, EPOLL_CTL_ADD, listener->timer, EVENT_TIMER, EPOLLIN) ||
	    (mode_now() == MODE_OPEN && !open_listener(listener))) {
		free_listener(listener);
		errno = EMFILE;
		return NULL;
	}
	filter.filtered++;
	atomic_fetch_or_explicit(&filter.may_be_listener[fd % BITS / 64], (uint64_t)1 << fd % 64, memory_order_release);
	return listener;
}

static void rest(struct listener *listener, bool wanted)
{
	watch(listener, EPOLL_CTL_MOD, listener->fd, EVENT_LISTENER, wanted ? 0 : EPOLLIN);
	listener->resting = wanted;
	if (wanted)
		tick(listener, true);
}

/* The process, or the machine, has no room for another connection. */
static void give_way(struct listener *listener)
{
	struct pending *oldest = oldest_pending();

	if (oldest)
		refuse(oldest);
	else
		rest(listener, true);
}

static int accept_some(struct listener *listener)
{
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int fd = accept4(listener->fd, NULL, NULL, 0);

		if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM))
			give_way(listener);
		if (fd < 0)
			return -1;
		fd = hear_new(listener, fd);
		if (fd >= 0)
			return fd;
	}
	return -1;
}

static void look_at_time(struct listener *listener)
{
	int64_t now = now_in_ms();
	uint64_t ticks;

	if (read(listener->timer, &ticks, sizeof ticks) < 0)
		return;
	for (int i = 0; i < filter.most; i++)
		if (filter.pending[i].of && now - filter.pending[i].since >= PENDING_MS)
			refuse(&filter.pending[i]);
	if (listener->resting)
		rest(listener, false);
	tick(listener, has_pending(listener));
}

/* A connection that has proven itself, -1: there is none now. */
static int next_proven(struct listener *listener)
{
	struct epoll_event events[EVENTS_AT_ONCE];
	int n = listener->events >= 0 ? epoll_wait(listener->events, events, EVENTS_AT_ONCE, 0) : 0, fd = -1;

	for (int i = 0; i < n && fd < 0; i++) {
		uint32_t number = events[i].data.u32;

		if (number == EVENT_TIMER)
			look_at_time(listener);
		else if (number == EVENT_LISTENER)
			fd = accept_some(listener);
		else if (filter.pending[number].of == listener)
			fd = hear_pending(&filter.pending[number]);
	}
	return fd;
}

/* --- What UCX calls --- */

static int hooked_listen(int fd, int backlog)
{
	int result = listen(fd, backlog);

	if (result == 0 && is_of_this_job() && is_listening(fd)) {
		pthread_mutex_lock(&filter.lock);
		filter.listened++;
		pthread_mutex_unlock(&filter.lock);
	} else if (result == 0 && may_be_listener(fd)) { /* of somebody else, where one of ours was */
		pthread_mutex_lock(&filter.lock);
		if (find_listener(fd))
			free_listener(find_listener(fd));
		pthread_mutex_unlock(&filter.lock);
	}
	return result;
}

static int hooked_epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
	bool add = operation == EPOLL_CTL_ADD && is_of_this_job() && is_listening(fd);
	struct listener *listener;
	int result;

	if (!add && (operation == EPOLL_CTL_ADD || !may_be_listener(fd)))
		return epoll_ctl(set, operation, fd, event);
	pthread_mutex_lock(&filter.lock);
	listener = add ? make_listener(fd) : find_listener(fd);
	if (add && !listener)
		result = -1;
	else if (listener && listener->events >= 0)
		result = epoll_ctl(set, operation, listener->events, event);
	else
		result = epoll_ctl(set, operation, fd, event);
	if (listener && operation == EPOLL_CTL_DEL)
		close_listener(listener);
	pthread_mutex_unlock(&filter.lock);
	return result;
}

static int hooked_accept(int fd, struct sockaddr *address, socklen_t *length)
{
	struct listener *listener = NULL;
	int connection = -1;

	pthread_mutex_lock(&filter.lock);
	if (may_be_listener(fd))
		listener = find_listener(fd);
	if (mode_now() == MODE_OFF)
		listener = NULL;
	if (listener)
		connection = next_proven(listener);
	pthread_mutex_unlock(&filter.lock);
	if (!listener)
		return accept(fd, address, length);
	if (connection >= 0 && address && getpeername(connection, address, length)) { /* it is gone already */
		close(connection);
		connection = -1;
	}
	if (connection < 0)
		errno = EAGAIN;
	return connection;
}

/* Waits for a connection that the kernel goes on making. False: it came to nothing, for the reason in errno. */
static bool wait_for_connection(int fd)
{
	struct pollfd writable = {.fd = fd, .events = POLLOUT};
	socklen_t size = sizeof(int);
	int error = 0;

	while (poll(&writable, 1, -1) < 0)
		if (errno != EINTR)
			return false;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
		return false;
	errno = error;
	return error == 0;
}

/* A connection that has just been made takes so few bytes at once. If it breaks meanwhile, UCX notices, and connects again. */
static void greet(int fd)
{
	struct sockaddr_storage there;
	struct greeting greeting;

	if (address_of(fd, getpeername, &there) && greeting_make(&greeting, filter.key, &there) &&
	    send(fd, &greeting, sizeof greeting, MSG_NOSIGNAL) < 0)
		rte_debug("no greeting could be sent on a connection: %s", strerror(errno));
}

/* Also where UCX_TCP_CONN_NB asks UCX not to wait for connections: nothing may go in front of the greeting. */
static int hooked_connect(int fd, const struct sockaddr *address, socklen_t length)
{
	int result = connect(fd, address, length);

	if (!is_of_this_job() || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
		return result;
	if (result < 0 && (errno == EINPROGRESS || errno == EINTR) && wait_for_connection(fd))
		result = 0;
	if (result == 0)
		greet(fd);
	return result;
}

/* --- What the UCX path calls --- */

static bool set_hooks(void)
{
	const struct hook hooks[] = {
		{"accept", (void (*)(void))hooked_accept},
		{"connect", (void (*)(void))hooked_connect},
		{"epoll_ctl", (void (*)(void))hooked_epoll_ctl},
		{"listen", (void (*)(void))hooked_listen},
	};

	if (!filter.hooked)
		filter.hooked =
			hooks_set((const void *)(uintptr_t)ucs.status_string, hooks, sizeof hooks / sizeof hooks[0]);
	return filter.hooked;
}

static void set_mode(enum mode mode, const char *text)
{
	filter.text = text;
	atomic_store_explicit(&filter.mode, mode, memory_order_release);
}

/* This UCX keeps its connections where no hook reaches. */
static void do_without(void)
{
	static const char *const words[] = {"auto", "yes", "no"};

	if (setting_choice(SETTING_ACCEPT_FILTER, words, 3) == 1)
		rte_die_together(
			"shmem_init",
			"SHMEM_ACCEPT_FILTER=yes: connections to this UCX (%s) cannot be filtered; use another "
			"UCX, or set SHMEM_ACCEPT_FILTER=auto",
			UCX_VERSION);
	set_mode(MODE_OFF, "not filtered: this UCX keeps its connections to itself");
	if (comms.pe == 0)
		rte_report(
			"shmem_init",
			"warning: connections to this UCX cannot be filtered, so anybody who reaches its TCP port can "
			"end the job; keep strangers off the network, or set SHMEM_ACCEPT_FILTER=no to start without "
			"this warning");
}

/* Descriptors are the program's: strangers may have a sixteenth of them. */
static int most_pending(void)
{
	struct rlimit limit;
	rlim_t most = PENDING_MOST;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 16 < most)
		most = limit.rlim_cur / 16;
	return most < 4 ? 4 : (int)most;
}

void ucx_filter_start(void)
{
	bool wanted = true;

	setting_bool(SETTING_ACCEPT_FILTER, &wanted); /* unless it is auto */
	filter.listened = filter.filtered = 0;
	filter.most = most_pending();
	if (!wanted) {
		set_mode(MODE_OFF, "not filtered: SHMEM_ACCEPT_FILTER=no");
		return;
	}
	if (!set_hooks()) {
		do_without();
		return;
	}
	if (comms.pe == 0 && getrandom(filter.key, sizeof filter.key, 0) != (ssize_t)sizeof filter.key)
		rte_die("shmem_init",
			"the kernel has no random bytes for the key of the job's connections (getrandom)");
	set_mode(MODE_CLOSED, "from processes of this job only");
}

void ucx_filter_check(void)
{
	bool all;

	pthread_mutex_lock(&filter.lock);
	all = filter.listened == filter.filtered;
	for (const struct listener *listener = filter.listeners; !all && listener; listener = listener->next)
		open_listener(listener);
	pthread_mutex_unlock(&filter.lock);
	if (!all)
		do_without();
}

void ucx_filter_describe(struct ucx_filter_info *info)
{
	memset(info, 0, sizeof *info);
	info->filters = mode_now() != MODE_OFF;
	if (info->filters && comms.pe == 0)
		memcpy(info->key, filter.key, sizeof info->key);
}

void ucx_filter_open(const struct ucx_filter_info *first)
{
	bool good = true;

	if (mode_now() == MODE_OFF)
		return;
	pthread_mutex_lock(&filter.lock);
	memcpy(filter.key, first->key, sizeof filter.key);
	set_mode(MODE_OPEN, filter.text);
	for (const struct listener *listener = filter.listeners; listener; listener = listener->next)
		good = good && open_listener(listener);
	pthread_mutex_unlock(&filter.lock);
	if (!good)
		rte_die("shmem_init", "no descriptors or memory to take connections with (%s); raise ulimit -n",
			strerror(errno));
}

void ucx_filter_stop(void)
{
	pthread_mutex_lock(&filter.lock);
	while (filter.listeners)
		free_listener(filter.listeners);
	greetings_seen_free(&filter.seen);
	explicit_bzero(filter.key, sizeof filter.key);
	set_mode(MODE_OFF, "not filtered");
	pthread_mutex_unlock(&filter.lock);
}

const char *ucx_filter_text(void)
{
	return filter.text;
}
