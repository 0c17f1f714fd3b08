/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failure detection (comms/net/failure.h). A timer among the watched descriptors makes a round of
 * work check all connections, used or idle, of both directions. A cable without a connection is
 * not checked: the job does not need it yet.
 *
 * Once this PE has finished, others may close their connections, but a silent one is an error
 * still: PEs that have not finished may need that host, or this one as a relay to it.
 */
#include "cable_inside.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "comms/net/failure.h"
#include "rte/clock.h"
#include "rte/rte.h"

static struct {
	enum cable_end end;
	int timer;
	int64_t limit; /* ms */
} failure = {.end = CABLE_TIMER, .timer = -1};

void cable_failure_start(void)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = &failure.end};
	struct itimerspec every = {{0}, {0}};
	int64_t between;

	failure.limit = failure_limit();
	if (failure.limit == 0)
		return;
	between = failure.limit / FAILURE_POLLS;
	every.it_interval = (struct timespec){between / 1000, between % 1000 * 1000000};
	every.it_value = every.it_interval;
	failure.timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (failure.timer < 0 || timerfd_settime(failure.timer, 0, &every, NULL) ||
	    epoll_ctl(cable_net.epoll, EPOLL_CTL_ADD, failure.timer, &event))
		rte_die("shmem_init", "no descriptor to check connections with (timerfd: %s); raise ulimit -n",
			strerror(errno));
}

void cable_failure_stop(void)
{
	if (failure.timer >= 0)
		close(failure.timer);
	failure.timer = -1;
}

static bool is_silent(int fd, int64_t *unanswered, int64_t now)
{
	failure_keep_alive(fd, failure.limit);
	return failure_state_of(fd, unanswered, now, failure.limit) == FAILURE_SILENT;
}

void cable_failure_check(void)
{
	const int64_t now = rte_clock_ms();
	uint64_t expired;

	if (read(failure.timer, &expired, sizeof expired) < 0)
		return;
	for (int i = 0; i < 2 * comms.n_pes; i++) {
		struct cable_link *link = cable_net.links[i];

		if (link && !link->gone && is_silent(link->fd, &link->unanswered, now))
			cable_lost(link->pe, link->port, ETIMEDOUT);
	}
	for (struct cable_arrival *arrival = cable_net.arrivals; arrival; arrival = arrival->next)
		if (arrival->pe >= 0 && !arrival->gone && is_silent(arrival->fd, &arrival->unanswered, now))
			cable_lost(arrival->pe, cable_port_of(arrival->fd), ETIMEDOUT);
}

/* --- Reports --- */

enum {
	TURN = 4000,	/* ms in which a launcher ends the job that another PE has given up */
	PATIENCE = 2000 /* ms in which a host answers that is there */
};

/*
 * Does the kernel of that host answer over the network that joins all hosts? It need not accept the
 * connection.
 */
static bool answers_over_network(int pe)
{
	struct sockaddr_storage address = {0};
	const unsigned length = cable_common_address(pe, &address);
	const int fd = length ? socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0) : -1;
	struct pollfd event = {.fd = fd, .events = POLLOUT};
	socklen_t size = sizeof(int);
	int error = 0;

	if (fd < 0)
		return false;
	if (connect(fd, (struct sockaddr *)&address, length))
		error = errno;
	if (error == EINPROGRESS &&
	    (poll(&event, 1, PATIENCE) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size)))
		error = ETIMEDOUT;
	close(fd);
	return error == 0 || error == ECONNREFUSED;
}

/*
 * The PEs at both ends of a cut cable notice it, and all neighbours of a lost host. One reports,
 * and the others only if that does not end the job.
 */
static void wait_to_report(int lost, bool cut)
{
	const int64_t wait = TURN * (int64_t)(cut ? comms.pe > lost : cable_hosts_reporter(lost));
	const struct timespec time = {wait / 1000, wait % 1000 * 1000000};

	if (!rte.returns_errors)
		nanosleep(&time, NULL);
}

static void host_of(int pe, char *host, size_t size)
{
	if (!rte_host(pe, host, size))
		snprintf(host, size, "?");
}

static void report_closed(int pe, const char *port, int error)
{
	char host[256];

	rte_let_others_speak();
	wait_to_report(pe, false);
	host_of(pe, host, sizeof host);
	rte_break(RTE_ERROR_LOST, pe, NULL, "lost the connection to PE %d on host %s%s%s (%s); %s", pe, host,
		  port ? " over the cable at " : "", port ? port : "",
		  error ? strerror(error) : "it was closed at the other end", comms_process_in_words(pe));
}

static void report_silent(int pe, const char *port, int error)
{
	const bool cut = port && answers_over_network(pe);
	char host[256], reason[80];

	wait_to_report(pe, cut);
	host_of(pe, host, sizeof host);
	if (error == ETIMEDOUT)
		snprintf(reason, sizeof reason, "no answer for %ld s", (long)(failure.limit / 1000));
	else if (error == EIO)
		snprintf(reason, sizeof reason, "RDMA gets no answer");
	else
		snprintf(reason, sizeof reason, "%s", strerror(error));
	rte_break(RTE_ERROR_LOST, pe, NULL, "lost the connection to PE %d on host %s%s%s (%s%s", pe, host,
		  port ? " over the cable at " : "", port ? port : "", reason,
		  cut ? ", but the host answers over another network); check the cable"
		      : "); the host is down, or the network to it is broken");
}

void cable_lost(int pe, const char *port, int error)
{
	const bool closed = error == 0 || error == ECONNRESET || error == EPIPE;
	const bool silent = error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH;

	if (rte_is_broken() || (closed && atomic_load_explicit(&cable_net.ending, memory_order_seq_cst)))
		return;
	/* A process that ends closes its connections, so what RDMA alone has lost is not that. */
	if (error == EIO || (failure.limit > 0 && silent))
		report_silent(pe, port, error);
	else
		report_closed(pe, port, error);
}
