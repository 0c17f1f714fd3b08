/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Failure detection. When a process ends, its host says so, and UCX reports the connection as
 * broken. Hosts that lose their power, and cables that are cut: comms/net/failure.h; the serving
 * thread checks UCX's sockets.
 *
 * Every host is monitored: a PE whose number is followed by one on another host connects to that
 * one, once the job has lasted for some time.
 *
 * UCX does not expose its sockets. Their ports distinguish them from the user's: those at which UCX
 * listens here, and those in the endpoint info of connected PEs. If no socket is found (UCX uses
 * another network, or a version of it opens its sockets elsewhere), the PE asks the next one for an
 * acknowledgement, again and again, which needs that PE's process and not only its kernel.
 */
#include "ucx_messages.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "comms/core/comms.h"
#include "comms/net/failure.h"
#include "rte/clock.h"
#include "rte/rte.h"
#include "rte/settings.h"

#define PORTS 65536
#define REPORTERS 5 /* PEs that report one after another; the others report with the last */

enum method { AUTO, SOCKETS, MESSAGES };

static struct {
	int64_t limit; /* ms; 0: no detection */
	int64_t next_check;
	atomic_uchar ours[PORTS / 8], theirs[PORTS / 8]; /* bits by port */
	/* By descriptor: since when data is unacknowledged, 0: none is. */
	int64_t *unanswered;
	int descriptors;
	enum method method;
	/* Checks since the connection to the next PE that found no socket of UCX. */
	int without_sockets;
	uint64_t question; /* number of the message to the next PE; 0: none was sent */
	int64_t asked;	   /* when */
	pthread_mutex_t checking;
} failure = {.checking = PTHREAD_MUTEX_INITIALIZER};

static void add_port(atomic_uchar *ports, uint16_t port)
{
	atomic_fetch_or_explicit(&ports[port / 8], (unsigned char)(1 << port % 8), memory_order_seq_cst);
}

static bool has_port(atomic_uchar *ports, uint16_t port)
{
	return atomic_load_explicit(&ports[port / 8], memory_order_seq_cst) >> port % 8 & 1;
}

static bool is_listener(int fd)
{
	socklen_t size = sizeof(int);
	int yes = 0;

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &size) == 0 && yes;
}

static void note_foreign_port(int fd, void *unused)
{
	struct socket_address address;

	(void)unused;
	if (is_listener(fd) && sockets_address(fd, getsockname, &address))
		add_port(failure.ours, address.port);
}

static void failure_read_settings(void)
{
	failure.method = (enum method)setting_choice(SETTING_FAILURE_METHOD);
	failure.without_sockets = 0;
	failure.question = 0;
	failure.limit = failure_limit();
}

/* Until the worker exists, all ports that listen now are not ours. */
void failure_before_worker(void)
{
	failure_read_settings();
	failure.next_check = 0;
	memset(failure.ours, 0, sizeof failure.ours);
	memset(failure.theirs, 0, sizeof failure.theirs);
	if (failure.limit > 0)
		sockets_for_descriptors(note_foreign_port, NULL);
}

struct found {
	struct socket_address *list;
	int count;
};

static void note_own_address(int fd, void *argument)
{
	struct found *found = argument;
	struct socket_address address;

	if (found->count < FAILURE_ADDRESSES && is_listener(fd) && sockets_address(fd, getsockname, &address) &&
	    !has_port(failure.ours, address.port))
		found->list[found->count++] = address;
}

void failure_after_worker(struct socket_address mine[FAILURE_ADDRESSES])
{
	struct found found = {mine, 0};

	memset(mine, 0, FAILURE_ADDRESSES * sizeof *mine);
	if (failure.limit == 0)
		return;
	sockets_for_descriptors(note_own_address, &found);
	memset(failure.ours, 0, sizeof failure.ours);
	for (int i = 0; i < found.count; i++)
		add_port(failure.ours, mine[i].port);
}

void failure_expect(const struct socket_address theirs[FAILURE_ADDRESSES])
{
	for (int i = 0; i < FAILURE_ADDRESSES && theirs[i].port; i++)
		add_port(failure.theirs, theirs[i].port);
}

/* --- Checking --- */

/* The PE that listens at this address, -1: unknown. */
static int pe_at_address(const struct socket_address *address)
{
	const struct socket_address *theirs;

	for (int pe = 0; pe < comms.n_pes; pe++) {
		if (rte.has_all_infos)
			comms_connect(pe);
		theirs = ucx_addresses(pe);

		for (int i = 0; theirs && i < FAILURE_ADDRESSES && theirs[i].port; i++)
			if (!memcmp(theirs[i].ip, address->ip, sizeof address->ip))
				return pe;
	}
	return -1;
}

/*
 * The PE whose number follows the lost one's reports at once; others report only if that does not
 * end the job.
 */
void failure_wait_to_report(int lost)
{
	int distance = (comms.pe - lost + comms.n_pes) % comms.n_pes,
	    position = distance < REPORTERS ? distance : REPORTERS;
	const struct timespec time = {(position - 1) * 2, 0};

	if (position > 1 && !rte.returns_errors)
		nanosleep(&time, NULL);
}

static void report_lost_pe(int pe, const char *host)
{
	rte_break(RTE_ERROR_LOST, pe, NULL,
		  "host %s, with PE %d, has not answered for %ld s: it is down, or the network to it is broken", host,
		  pe, (long)(failure.limit / 1000));
}

static void report_lost_address(const struct socket_address *address)
{
	char text[INET6_ADDRSTRLEN] = "?", host[256];
	int pe = pe_at_address(address);

	if (IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)address->ip))
		inet_ntop(AF_INET, &address->ip[12], text, sizeof text);
	else
		inet_ntop(AF_INET6, address->ip, text, sizeof text);
	failure_wait_to_report(pe);
	if (pe < 0 || !rte_host(pe, host, sizeof host))
		rte_break(RTE_ERROR_LOST, pe, NULL,
			  "the host at %s has not answered for %ld s: it is down, or the network to it is broken", text,
			  (long)(failure.limit / 1000));
	else
		report_lost_pe(pe, host);
}

static bool socket_is_of_ucx(int fd, struct socket_address *there)
{
	struct socket_address here;

	return sockets_address(fd, getsockname, &here) && sockets_address(fd, getpeername, there) &&
	       (has_port(failure.ours, here.port) || has_port(failure.theirs, there->port));
}

struct visit {
	failure_visitor *visit;
	void *argument;
};

static void visit_socket(int fd, void *argument)
{
	const struct visit *visit = argument;
	struct socket_address there;

	if (socket_is_of_ucx(fd, &there))
		visit->visit(fd, &there, visit->argument);
}

void failure_for_sockets(failure_visitor *visit, void *argument)
{
	sockets_for_descriptors(visit_socket, &(struct visit){visit, argument});
}

static bool make_room_for_descriptor(int fd)
{
	int size = 2 * fd + 64;
	int64_t *longer;

	if (fd < failure.descriptors)
		return true;
	longer = realloc(failure.unanswered, (size_t)size * sizeof *longer);
	if (!longer)
		return false;
	memset(longer + failure.descriptors, 0, (size_t)(size - failure.descriptors) * sizeof *longer);
	failure.unanswered = longer;
	failure.descriptors = size;
	return true;
}

struct scan {
	int64_t now;
	int found;
};

static void check_socket(int fd, const struct socket_address *there, void *argument)
{
	struct scan *scan = argument;
	enum failure_state state;

	if (!make_room_for_descriptor(fd))
		return;
	state = failure_state_of(fd, &failure.unanswered[fd], scan->now, failure.limit);
	if (state == FAILURE_NOT_TCP)
		return;
	scan->found++;
	failure_keep_alive(fd, failure.limit);
	if (state == FAILURE_SILENT)
		report_lost_address(there);
}

/* Connects to the next PE if it is on another host. */
static struct ucx_peer *peer_on_next_host(void)
{
	int next = (comms.pe + 1) % comms.n_pes;

	if (rte_is_local(next))
		return NULL;
	return ucx_peer(comms_connect(next));
}

/* Has the next PE acknowledged the last question? Then it gets another one. */
static void ask_next_pe(struct ucx_peer *next, int64_t now)
{
	char host[256] = "?";

	if (failure.question == 0 ||
	    atomic_load_explicit(&next->acknowledged, memory_order_seq_cst) >= failure.question) {
		failure.question = ucx_message_probe(next);
		failure.asked = now;
	} else if (now - failure.asked >= failure.limit) {
		failure_wait_to_report(next->pe);
		rte_host(next->pe, host, sizeof host);
		report_lost_pe(next->pe, host);
	}
}

static void check_sockets(int64_t now)
{
	struct scan scan = {now, 0};
	struct ucx_peer *next = peer_on_next_host();

	if (failure.method != MESSAGES)
		failure_for_sockets(check_socket, &scan);
	if (scan.found > 0 || !next)
		failure.without_sockets = 0;
	else
		failure.without_sockets++;
	/* A PE without a progress thread would not answer: SHMEM_PROGRESS_THREAD=no. */
	if (next && ucx.served &&
	    (failure.method == MESSAGES || (failure.method == AUTO && failure.without_sockets > 2)))
		ask_next_pe(next, now);
}

/* Until a check has ended, it may be connecting. */
void failure_end(void)
{
	pthread_mutex_lock(&failure.checking);
	pthread_mutex_unlock(&failure.checking);
}

int failure_check(void)
{
	int64_t now, wait;

	if (failure.limit == 0 || rte_is_broken() || atomic_load_explicit(&ucx.ending, memory_order_seq_cst) ||
	    pthread_mutex_trylock(&failure.checking))
		return -1;
	now = rte_clock_ms();
	if (failure.next_check == 0) {
		failure.next_check = now + failure.limit / FAILURE_POLLS;
	} else if (now >= failure.next_check) {
		check_sockets(now);
		failure.next_check = now + failure.limit / FAILURE_POLLS;
	}
	wait = failure.next_check - now;
	pthread_mutex_unlock(&failure.checking);
	return (int)wait;
}
