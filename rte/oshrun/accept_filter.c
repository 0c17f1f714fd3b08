/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A filter for the connections of our PMIx server. libpmix listens at a port of 127.0.0.1, to which
 * every user of the machine can connect, and it trusts what it reads: random bytes of the right
 * length end the process. libpmix offers no hook before its reading, but it calls listen and
 * accept, and functions of these names in the program take precedence over libc's.
 *
 * A client's first message, the greeting, names the job, and the job's name ends with 64 random
 * bits that only the environment of the PEs contains. A thread peeks at the greetings of all
 * connections in parallel, so that an idle one delays no other. It closes connections without the
 * name and sends the others to libpmix, which finds one end of a socket pair under the descriptor
 * of its listening socket: that end is readable when a connection waits there, as a listening
 * socket is. listen puts the pair there, since libpmix registers the descriptor with epoll right
 * afterwards, and epoll would continue to report the old socket.
 */
#include "accept_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define GREETING_TIMEOUT 10000 /* ms, for the beginning of a greeting; the machine may be busy */
#define REST_TIMEOUT 20	       /* ms, for the rest of a greeting, which is sent in one piece */
#define GREETING 1024
#define FIRST_BYTES 8
/*
 * connections without a greeting, in addition to one of each PE; a further one replaces the oldest
 */
#define MORE_CANDIDATES 64

static const char *expected;
static int most_waiting;

/* A connection whose greeting is not complete. */
struct candidate {
	int fd;
	int64_t connected, spoke; /* ms; spoke: when its first bytes came, 0: not yet */
};

struct filter {
	int listener;
	int libpmix;		      /* our end of the pair */
	struct candidate *candidates; /* the oldest first */
	struct pollfd *fds;	      /* room for the candidates, the listener and libpmix */
	int count;
};

void accept_filter_start(const char *name, int pes)
{
	expected = name;
	most_waiting = pes + MORE_CANDIDATES;
}

static int64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1;
}

enum verdict { ACCEPTED, REFUSED, UNDECIDED };

/* Every greeting begins with a message number and a tag of -1. */
static enum verdict judge_candidate(struct candidate *candidate, int64_t now)
{
	static const char first[FIRST_BYTES] = {-1, -1, -1, -1, -1, -1, -1, -1};
	char greeting[GREETING];
	ssize_t length = recv(candidate->fd, greeting, GREETING, MSG_PEEK | MSG_DONTWAIT);

	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return now - candidate->connected > GREETING_TIMEOUT ? REFUSED : UNDECIDED;
	if (length <= 0 || (length >= FIRST_BYTES && memcmp(greeting, first, FIRST_BYTES)))
		return REFUSED;
	if (length > FIRST_BYTES && memmem(greeting, (size_t)length, expected, strlen(expected) + 1))
		return ACCEPTED;
	if (!candidate->spoke)
		candidate->spoke = now;
	return now - candidate->spoke > REST_TIMEOUT ? REFUSED : UNDECIDED;
}

static void remove_candidate(struct filter *filter, int i)
{
	memmove(&filter->candidates[i], &filter->candidates[i + 1],
		(size_t)(--filter->count - i) * sizeof filter->candidates[0]);
}

union ancillary {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* A message of one byte with room for a file number beside it. */
static struct msghdr message_with(union ancillary *ancillary, struct iovec *byte)
{
	memset(ancillary, 0, sizeof *ancillary);
	return (struct msghdr){.msg_iov = byte,
			       .msg_iovlen = 1,
			       .msg_control = ancillary,
			       .msg_controllen = sizeof ancillary->bytes};
}

static void send_to_libpmix(const struct filter *filter, int fd)
{
	union ancillary ancillary;
	struct iovec byte = {.iov_base = "", .iov_len = 1};
	struct msghdr message = message_with(&ancillary, &byte);

	ancillary.header =
		(struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(&ancillary.header), &fd, sizeof fd);
	while (sendmsg(filter->libpmix, &message, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

static void judge_all(struct filter *filter)
{
	int64_t now = milliseconds();

	for (int i = filter->count - 1; i >= 0; i--) {
		enum verdict verdict = judge_candidate(&filter->candidates[i], now);
		int fd = filter->candidates[i].fd;

		if (verdict == UNDECIDED)
			continue;
		remove_candidate(filter, i);
		if (verdict == ACCEPTED)
			send_to_libpmix(filter, fd);
		close(fd);
	}
}

static void accept_candidate(struct filter *filter)
{
	int fd = accept4(filter->listener, NULL, NULL, SOCK_CLOEXEC);
	struct timespec moment = {0, 10000000};

	if (fd < 0) {
		/*
		 * As a rule no descriptors are left: the listening socket stays readable until
		 * another connection ends.
		 */
		if (errno != ECONNABORTED && errno != EINTR)
			nanosleep(&moment, NULL);
		return;
	}
	if (filter->count == most_waiting) {
		close(filter->candidates[0].fd);
		remove_candidate(filter, 0);
	}
	filter->candidates[filter->count++] = (struct candidate){.fd = fd, .connected = milliseconds()};
}

/*
 * Connections with an incomplete greeting are not polled, since poll would return at once for the
 * first bytes; they are judged again soon.
 */
static int poll_all(struct filter *filter)
{
	bool speaking = false;
	int n = 2;

	filter->fds[0] = (struct pollfd){.fd = filter->listener, .events = POLLIN};
	filter->fds[1] = (struct pollfd){.fd = filter->libpmix};
	for (int i = 0; i < filter->count; i++) {
		speaking = speaking || filter->candidates[i].spoke;
		if (!filter->candidates[i].spoke)
			filter->fds[n++] = (struct pollfd){.fd = filter->candidates[i].fd, .events = POLLIN};
	}
	return poll(filter->fds, (nfds_t)n, speaking ? REST_TIMEOUT / 4 : filter->count ? GREETING_TIMEOUT / 4 : -1);
}

static void free_filter(struct filter *filter)
{
	while (filter->count > 0)
		close(filter->candidates[--filter->count].fd);
	if (filter->listener >= 0)
		close(filter->listener);
	if (filter->libpmix >= 0)
		close(filter->libpmix);
	free(filter->candidates);
	free(filter->fds);
	free(filter);
}

static void *run_filter(void *arg)
{
	struct filter *filter = arg;

	for (;;) {
		bool any = poll_all(filter) > 0;

		if (any && filter->fds[1].revents) /* libpmix has closed its end */
			break;
		if (any && filter->fds[0].revents)
			accept_candidate(filter);
		judge_all(filter);
	}
	free_filter(filter);
	return NULL;
}

/* Signals are for the main thread. */
static bool start_thread(struct filter *filter)
{
	sigset_t all, before;
	pthread_t thread;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, NULL, run_filter, filter) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started)
		pthread_detach(thread);
	return started;
}

/*
 * Moves the listening socket away and puts the end of a pair in its place. Returns false with
 * errno.
 */
static bool insert_filter(int fd)
{
	struct filter *filter = calloc(1, sizeof *filter);
	int ends[2], old;

	if (!filter)
		return false;
	filter->listener = filter->libpmix = -1;
	filter->candidates = calloc((size_t)most_waiting, sizeof *filter->candidates);
	filter->fds = calloc((size_t)most_waiting + 2, sizeof *filter->fds);
	if (!filter->candidates || !filter->fds || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		free_filter(filter);
		return false;
	}
	filter->libpmix = ends[0];
	filter->listener = old = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (old >= 0 && fcntl(old, F_SETFL, fcntl(old, F_GETFL) | O_NONBLOCK) == 0 &&
	    dup3(ends[1], fd, O_CLOEXEC) == fd) {
		close(ends[1]);
		if (start_thread(filter))
			return true;
		dup3(old, fd, O_CLOEXEC);
		errno = EAGAIN;
	} else {
		close(ends[1]);
	}
	free_filter(filter);
	return false;
}

int listen_filtered(int fd, int backlog) __asm__("listen");
int accept_filtered(int fd, struct sockaddr *address, socklen_t *length) __asm__("accept");

/* A failure is reported to libpmix: a server without the filter must not start. */
__attribute__((visibility("default"))) int listen_filtered(int fd, int backlog)
{
	int result = (int)syscall(SYS_listen, fd, backlog);

	return result || !expected || insert_filter(fd) ? result : -1;
}

/*
 * The socket of listen_filtered delivers connections as messages; other sockets are accepted as
 * usual.
 */
__attribute__((visibility("default"))) int accept_filtered(int fd, struct sockaddr *address, socklen_t *length)
{
	union ancillary ancillary;
	char taken;
	struct iovec byte = {.iov_base = &taken, .iov_len = 1};
	struct msghdr message = message_with(&ancillary, &byte);
	int type = 0, connection;
	socklen_t size = sizeof type;

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) || type != SOCK_SEQPACKET)
		return accept4(fd, address, length, 0);
	if (recvmsg(fd, &message, 0) != 1)
		return -1;
	if (message.msg_controllen < CMSG_LEN(sizeof connection) || ancillary.header.cmsg_type != SCM_RIGHTS) {
		errno = EMFILE;
		return -1;
	}
	memcpy(&connection, CMSG_DATA(&ancillary.header), sizeof connection);
	if (address && length)
		getpeername(connection, address, length);
	return connection;
}
