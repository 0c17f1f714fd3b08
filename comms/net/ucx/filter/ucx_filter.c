/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The accept filter: UCX takes TCP connections from processes of this job only.
 *
 * UCX's TCP transport listens at a port that anybody can reach, and what it reads there can end the
 * process or write its memory. No setting and no call of UCX (1.11 to 1.23) lets its user see a
 * connection first: each worker has a listener, and a ucp_listener is one more beside it. What the
 * kernel can do from outside tells hosts apart, but not the users of one host, or it takes nine
 * tenths of the speed (docs/decisions/accept-filter.md).
 *
 * So a process of the job sends a greeting first on each connection, which proves that it knows the
 * job's key (docs/protocols/greeting.md), and UCX sees a connection only after its greeting was
 * found right. Three functions take the place of the C library's:
 *
 * listen   lets the kernel wait for first data, which also marks the listener as one of this job
 * accept   returns a connection that has proven itself, or EAGAIN
 * connect  sends the greeting when the connection is there, and returns then
 *
 * A UCX with packaging/patches/ucx-socket-functions.patch takes these functions by a call. Into
 * another UCX they are put where it calls the C library (ucx_hooks.h). SHMEM_ACCEPT_FILTER=no does
 * neither. The functions are called with UCX's locks held, and do not call UCX.
 */
#include "ucx_filter.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#include "comms/core/comms.h"
#include "comms/net/ucx/ucx_library.h"
#include "rte/host/first_data.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "rte/host/greeting.h"
#include "ucx_hooks.h"

enum filter_mode { MODE_OFF, MODE_CLOSED, MODE_OPEN }; /* closed: the key is not known yet */

static struct {
	_Atomic enum filter_mode mode;
	const char *text;
	uint64_t key[2];
	pthread_mutex_t lock;
	void *seen;
} filter = {.lock = PTHREAD_MUTEX_INITIALIZER, .text = "not filtered"};

_Thread_local int ucx_filter_calls __attribute__((tls_model("initial-exec")));

bool ucx_filter_connects(void)
{
	return atomic_load_explicit(&filter.mode, memory_order_acquire) != MODE_OFF;
}

static bool is_of_this_job(void)
{
	return ucx_filter_calls > 0 && ucx_filter_connects();
}

/* --- What UCX calls --- */

static int filtered_listen(int fd, int backlog)
{
	return is_of_this_job() && !first_data_wait(fd) ? -1 : listen(fd, backlog);
}

/* Reads no further than the greeting: what follows is for UCX. */
static bool has_proven_itself(int fd)
{
	struct greeting greeting;
	bool is_new;

	if (!greeting_receive(fd, filter.key, &greeting))
		return false;
	pthread_mutex_lock(&filter.lock);
	is_new = greetings_seen_add(&filter.seen, &greeting);
	pthread_mutex_unlock(&filter.lock);
	return is_new;
}

static int filtered_accept(int fd, struct sockaddr *address, socklen_t *length)
{
	enum filter_mode mode = atomic_load_explicit(&filter.mode, memory_order_acquire);

	if (mode == MODE_OFF || !first_data_is_awaited(fd))
		return accept(fd, address, length);
	return first_data_accept(fd, address, length, mode == MODE_OPEN ? has_proven_itself : NULL);
}

/*
 * A connection that has just been made takes so few bytes at once. If it breaks meanwhile, UCX sees
 * that, and connects again.
 */
static void send_greeting(int fd)
{
	struct sockaddr_storage there;
	struct greeting greeting;
	socklen_t size = sizeof there;

	if (getpeername(fd, (struct sockaddr *)&there, &size) == 0 && greeting_make(&greeting, filter.key, &there) &&
	    send(fd, &greeting, sizeof greeting, MSG_NOSIGNAL) < 0)
		rte_debug("no greeting could be sent on a connection: %s", strerror(errno));
}

/* Waits even if UCX_TCP_CONN_NB=y: nothing may go in front of the greeting. */
static int filtered_connect(int fd, const struct sockaddr *address, socklen_t length)
{
	static const int second = UCX_SECOND_CABLE_TOS;
	int flags, result, error;

	if (ucx_second_cable && address->sa_family == AF_INET &&
	    setsockopt(fd, IPPROTO_IP, IP_TOS, &second, sizeof second))
		rte_debug("no type of service for a connection by the second cable: %s", strerror(errno));
	if (!is_of_this_job() || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
		return connect(fd, address, length);
	flags = fcntl(fd, F_GETFL);
	fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	result = connect(fd, address, length); /* after EINTR, UCX calls it again */
	error = errno;
	if (result == 0)
		send_greeting(fd);
	fcntl(fd, F_SETFL, flags);
	errno = error;
	return result;
}

/* --- What the UCX path calls --- */

static bool set_functions(void)
{
	static const struct hook hooks[] = {
		{"accept", (void (*)(void))filtered_accept},
		{"connect", (void (*)(void))filtered_connect},
		{"listen", (void (*)(void))filtered_listen},
	};
	void (*set)(__typeof__(filtered_listen) *, __typeof__(filtered_accept) *, __typeof__(filtered_connect) *);

	*(void **)&set = dlsym(RTLD_DEFAULT, "ucp_set_socket_functions");
	if (set) {
		set(filtered_listen, filtered_accept, filtered_connect);
		rte_debug("UCX takes the accept filter's functions by a call");
	}
	return set || hooks_set((const void *)(uintptr_t)ucs.status_string, hooks, sizeof hooks / sizeof hooks[0]);
}

static void set_filter_mode(enum filter_mode mode, const char *text)
{
	filter.text = text;
	atomic_store_explicit(&filter.mode, mode, memory_order_release);
}

/* This UCX makes its connections where our functions do not reach. */
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
		rte_report("shmem_init",
			   "warning: connections to this UCX cannot be filtered, so anybody who reaches its TCP port "
			   "can end the job; keep others off the network, or set SHMEM_ACCEPT_FILTER=no to start "
			   "without this warning");
}

void ucx_filter_start(void)
{
	bool wanted = true;

	setting_bool(SETTING_ACCEPT_FILTER, &wanted); /* unless it is auto */
	if (!wanted) {
		set_filter_mode(MODE_OFF, "not filtered: SHMEM_ACCEPT_FILTER=no");
		return;
	}
	if (!set_functions()) {
		go_unfiltered();
		return;
	}
	if (comms.pe == 0 && getrandom(filter.key, sizeof filter.key, 0) != (ssize_t)sizeof filter.key)
		rte_die("shmem_init",
			"the kernel has no random bytes for the key of the job's connections (getrandom)");
	set_filter_mode(MODE_CLOSED, "from processes of this job only");
}

void ucx_filter_describe(struct ucx_filter_info *info)
{
	*info = (struct ucx_filter_info){ucx_filter_connects(), {filter.key[0], filter.key[1]}};
}

void ucx_filter_open(const struct ucx_filter_info *first)
{
	memcpy(filter.key, first->key, sizeof filter.key);
	if (ucx_filter_connects())
		set_filter_mode(MODE_OPEN, filter.text);
}

void ucx_filter_stop(void)
{
	greetings_seen_free(&filter.seen);
	explicit_bzero(filter.key, sizeof filter.key);
	set_filter_mode(MODE_OFF, "not filtered");
}

const char *ucx_filter_text(void)
{
	return filter.text;
}
