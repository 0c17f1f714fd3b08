/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The accept filter. UCX's TCP transport listens at a port that anybody can reach, and garbage ends
 * the process. So a process of the job sends a greeting first on each connection, which proves that
 * it knows the job's key, and UCX gets to see a connection only after its greeting was read and
 * found right (docs/protocols/greeting.md).
 *
 * UCX has no call for this. The filter replaces functions of the C library where UCX calls them
 * (ucx_hooks.h):
 *
 * listen      counts UCX's listeners, to see that none is missed
 * epoll_ctl   UCX asks for events of connections at a listener. It gets, in the listener's place,
 *             an epoll set of the filter, which has the listener, the pending connections and a
 *             timer in it. So UCX's own thread wakes up for any of them.
 * accept      works on what the set reports, and returns a connection that has proven itself, or
 *             EAGAIN
 * connect     sends the greeting when the connection is there, and returns then
 *
 * Connections that have not proven themselves are pending: few at a time, and for a short time; the
 * oldest makes room for a new one. When the process has no descriptor left, the listener rests for
 * a moment: UCX would close it.
 *
 * The lock covers everything but the atomic members. It is taken below UCX's locks; nothing here
 * calls UCX.
 */
#include "filter_inside.h"

#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "comms/core/comms.h"
#include "ucx_hooks.h"
#include "rte/rte.h"
#include "rte/settings.h"

struct filter filter = {.lock = PTHREAD_MUTEX_INITIALIZER, .text = "not filtered"};
_Thread_local int ucx_filter_calls __attribute__((tls_model("initial-exec")));
_Thread_local bool ucx_filter_second_cable __attribute__((tls_model("initial-exec")));

static bool is_of_this_job(void)
{
	return ucx_filter_calls > 0 && filter_mode() != MODE_OFF;
}

static bool is_listening(int fd)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof(int);
	int yes = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &size) == 0 && yes &&
	       filter_address_of(fd, getsockname, &address);
}

/* --- What UCX calls --- */

static int hooked_listen(int fd, int backlog)
{
	int result = listen(fd, backlog);

	if (result == 0 && is_of_this_job() && is_listening(fd)) {
		pthread_mutex_lock(&filter.lock);
		filter.listened++;
		pthread_mutex_unlock(&filter.lock);
	} else if (result == 0 && listener_may_be(fd)) {
		/* A listener of the program has the descriptor of a former one of ours. */
		pthread_mutex_lock(&filter.lock);
		if (listener_find(fd))
			listener_free(listener_find(fd));
		pthread_mutex_unlock(&filter.lock);
	}
	return result;
}

static int hooked_epoll_ctl(int set, int operation, int fd, struct epoll_event *event)
{
	bool add = operation == EPOLL_CTL_ADD && is_of_this_job() && is_listening(fd);
	struct listener *listener;
	int result;

	if (!add && (operation == EPOLL_CTL_ADD || !listener_may_be(fd)))
		return epoll_ctl(set, operation, fd, event);
	pthread_mutex_lock(&filter.lock);
	listener = add ? listener_make(fd) : listener_find(fd);
	if (add && !listener)
		result = -1;
	else if (listener && listener->events >= 0)
		result = epoll_ctl(set, operation, listener->events, event);
	else
		result = epoll_ctl(set, operation, fd, event);
	if (listener && operation == EPOLL_CTL_DEL)
		listener_close(listener);
	pthread_mutex_unlock(&filter.lock);
	return result;
}

static int hooked_accept(int fd, struct sockaddr *address, socklen_t *length)
{
	struct listener *listener = NULL;
	int connection = -1;

	pthread_mutex_lock(&filter.lock);
	if (listener_may_be(fd))
		listener = listener_find(fd);
	if (filter_mode() == MODE_OFF)
		listener = NULL;
	if (listener)
		connection = listener_next_proven(listener);
	pthread_mutex_unlock(&filter.lock);
	if (!listener)
		return accept(fd, address, length);
	/* It is gone already. */
	if (connection >= 0 && address && getpeername(connection, address, length)) {
		close(connection);
		connection = -1;
	}
	if (connection < 0)
		errno = EAGAIN;
	return connection;
}

/*
 * Waits for a connection that the kernel goes on making. False: it came to nothing, for the reason
 * in errno.
 */
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

/*
 * A connection that has just been made takes so few bytes at once. If it breaks meanwhile, UCX sees
 * that, and connects again.
 */
static void send_greeting(int fd)
{
	struct sockaddr_storage there;
	struct greeting greeting;

	if (filter_address_of(fd, getpeername, &there) && greeting_make(&greeting, filter.key, &there) &&
	    send(fd, &greeting, sizeof greeting, MSG_NOSIGNAL) < 0)
		rte_debug("no greeting could be sent on a connection: %s", strerror(errno));
}

/*
 * Also where UCX_TCP_CONN_NB asks UCX not to wait for connections: nothing may go in front of the
 * greeting.
 */
static int hooked_connect(int fd, const struct sockaddr *address, socklen_t length)
{
	static const int second = UCX_SECOND_CABLE_TOS;
	int result;

	if (ucx_filter_second_cable && address->sa_family == AF_INET &&
	    setsockopt(fd, IPPROTO_IP, IP_TOS, &second, sizeof second))
		rte_debug("no type of service for a connection by the second cable: %s", strerror(errno));
	result = connect(fd, address, length);
	if (!is_of_this_job() || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
		return result;
	if (result < 0 && (errno == EINPROGRESS || errno == EINTR) && wait_for_connection(fd))
		result = 0;
	if (result == 0)
		send_greeting(fd);
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

static void set_filter_mode(enum filter_mode mode, const char *text)
{
	filter.text = text;
	atomic_store_explicit(&filter.mode, mode, memory_order_release);
}

/* This UCX makes its connections where no hook reaches. */
static void go_unfiltered(void)
{
	if (setting_choice(SETTING_ACCEPT_FILTER) == 1)
		rte_die_together(
			"shmem_init",
			"SHMEM_ACCEPT_FILTER=yes: connections to this UCX (%s) cannot be filtered; use another "
			"UCX, or set SHMEM_ACCEPT_FILTER=auto",
			UCX_VERSION);
	set_filter_mode(MODE_OFF, "not filtered: this UCX keeps its connections to itself");
	if (comms.pe == 0)
		rte_report(
			"shmem_init",
			"warning: connections to this UCX cannot be filtered, so anybody who reaches its TCP port can "
			"end the job; keep others off the network, or set SHMEM_ACCEPT_FILTER=no to start without "
			"this warning");
}

/* Descriptors are the program's: pending connections may have a sixteenth of them. */
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
		set_filter_mode(MODE_OFF, "not filtered: SHMEM_ACCEPT_FILTER=no");
		return;
	}
	if (!set_hooks()) {
		go_unfiltered();
		return;
	}
	if (comms.pe == 0 && getrandom(filter.key, sizeof filter.key, 0) != (ssize_t)sizeof filter.key)
		rte_die("shmem_init",
			"the kernel has no random bytes for the key of the job's connections (getrandom)");
	set_filter_mode(MODE_CLOSED, "from processes of this job only");
}

void ucx_filter_check(void)
{
	bool all;

	pthread_mutex_lock(&filter.lock);
	all = filter.listened == filter.filtered;
	for (const struct listener *listener = filter.listeners; !all && listener; listener = listener->next)
		listener_open(listener);
	pthread_mutex_unlock(&filter.lock);
	if (!all)
		go_unfiltered();
}

void ucx_filter_describe(struct ucx_filter_info *info)
{
	memset(info, 0, sizeof *info);
	info->filters = filter_mode() != MODE_OFF;
	if (info->filters && comms.pe == 0)
		memcpy(info->key, filter.key, sizeof info->key);
}

void ucx_filter_open(const struct ucx_filter_info *first)
{
	bool good = true;

	if (filter_mode() == MODE_OFF)
		return;
	pthread_mutex_lock(&filter.lock);
	memcpy(filter.key, first->key, sizeof filter.key);
	set_filter_mode(MODE_OPEN, filter.text);
	for (const struct listener *listener = filter.listeners; listener; listener = listener->next)
		good = good && listener_open(listener);
	pthread_mutex_unlock(&filter.lock);
	if (!good)
		rte_die("shmem_init", "no descriptors or memory to take connections with (%s); raise ulimit -n",
			strerror(errno));
}

void ucx_filter_stop(void)
{
	pthread_mutex_lock(&filter.lock);
	while (filter.listeners)
		listener_free(filter.listeners);
	greetings_seen_free(&filter.seen);
	explicit_bzero(filter.key, sizeof filter.key);
	set_filter_mode(MODE_OFF, "not filtered");
	pthread_mutex_unlock(&filter.lock);
}

bool ucx_filter_connects(void)
{
	return filter_mode() != MODE_OFF;
}

const char *ucx_filter_text(void)
{
	return filter.text;
}
