/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who may speak to our PMIx server. libpmix listens at a port of 127.0.0.1, where every user of the machine can connect, and it
 * believes what it reads: rubbish of the right length ends the process. It has no way to let us look first. But it calls accept, and
 * a function of that name in the program comes before libc's.
 *
 * So the greeting is read ahead, without being taken away: it names the job, and the job's name ends with 64 random bits that are in the
 * environment of the PEs only. A caller that does not know it is disconnected.
 *
 * A caller that is silent must not keep others waiting. So a thread, the porter, takes over the listening socket the first time that
 * libpmix calls accept, and serves all callers side by side. libpmix keeps its file number, which is an eventfd from then on: readable as
 * often as a caller has been admitted, whom accept then returns.
 */
#include "door.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 10000	/* ms; who belongs here speaks at once, but the machine may be busy */
#define PAUSE 20	/* ms, within a greeting, which is sent in one piece */
#define RETURN 2000	/* ms after which accept returns without a caller, in case libpmix has other things to do in this thread */
#define GREETING 1024
#define FIRST_BYTES 8
#define STRANGERS 64 /* that may be silent at once, beside all PEs; a further one takes the place of the first */

static const char *expected;
static int most_callers;

struct caller {
	int fd;
	int64_t called, spoke; /* ms; spoke: 0 until it has */
};

struct door {
	struct door *next;
	int bell; /* file number of libpmix, an eventfd */
	int listener;
	struct caller *callers; /* in the order in which they called */
	struct pollfd *fds;	/* room for all of them and the listener */
	int count;
	pthread_mutex_t lock; /* guards admitted */
	int *admitted;	      /* in the order in which they were */
	size_t admitted_count, admitted_size;
};

static struct door *doors;
static pthread_mutex_t doors_lock = PTHREAD_MUTEX_INITIALIZER;

void door_open(const char *name, int pes)
{
	expected = name;
	most_callers = pes + STRANGERS;
}

static int64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + 1;
}

enum verdict { ADMITTED, REFUSED, UNDECIDED };

/* Every greeting begins with a message number and a tag of -1. */
static enum verdict judge(struct caller *caller, int64_t now)
{
	static const char first[FIRST_BYTES] = {-1, -1, -1, -1, -1, -1, -1, -1};
	char greeting[GREETING];
	ssize_t length = recv(caller->fd, greeting, GREETING, MSG_PEEK | MSG_DONTWAIT);

	if (length < 0 && (errno == EAGAIN || errno == EINTR))
		return now - caller->called > PATIENCE ? REFUSED : UNDECIDED;
	if (length <= 0 || (length >= FIRST_BYTES && memcmp(greeting, first, FIRST_BYTES)))
		return REFUSED;
	if (length > FIRST_BYTES && memmem(greeting, (size_t)length, expected, strlen(expected) + 1))
		return ADMITTED;
	if (!caller->spoke)
		caller->spoke = now;
	return now - caller->spoke > PAUSE ? REFUSED : UNDECIDED;
}

static void forget(struct door *door, int i)
{
	memmove(&door->callers[i], &door->callers[i + 1], (size_t)(--door->count - i) * sizeof door->callers[0]);
}

static void admit(struct door *door, int fd)
{
	uint64_t one = 1;
	bool kept = true;

	pthread_mutex_lock(&door->lock);
	if (door->admitted_count == door->admitted_size) {
		size_t size = 2 * door->admitted_size + 64;
		int *larger = realloc(door->admitted, size * sizeof *larger);

		kept = larger != NULL;
		if (kept) {
			door->admitted = larger;
			door->admitted_size = size;
		}
	}
	if (kept)
		door->admitted[door->admitted_count++] = fd;
	pthread_mutex_unlock(&door->lock);
	if (!kept)
		close(fd);
	else if (write(door->bell, &one, sizeof one) != sizeof one)
		abort(); /* the counter cannot overflow */
}

static void judge_all(struct door *door)
{
	int64_t now = milliseconds();

	for (int i = door->count - 1; i >= 0; i--) {
		enum verdict verdict = judge(&door->callers[i], now);
		int fd = door->callers[i].fd;

		if (verdict == UNDECIDED)
			continue;
		forget(door, i);
		if (verdict == ADMITTED)
			admit(door, fd);
		else
			close(fd);
	}
}

static void take_caller(struct door *door)
{
	int fd = accept4(door->listener, NULL, NULL, SOCK_CLOEXEC);
	struct timespec moment = {0, 10000000};

	if (fd < 0) {
		/* No file numbers left, perhaps: the listening socket stays readable, and somebody may hang up. */
		if (errno != ECONNABORTED && errno != EINTR)
			nanosleep(&moment, NULL);
		return;
	}
	if (door->count == most_callers) {
		close(door->callers[0].fd);
		forget(door, 0);
	}
	door->callers[door->count++] = (struct caller){.fd = fd, .called = milliseconds()};
}

/* A caller that has spoken is looked at again soon: poll would return at once for what it has said so far. */
static void *attend(void *arg)
{
	struct door *door = arg;
	struct pollfd *fds = door->fds;

	for (;;) {
		bool speaking = false;
		int n = 1;

		fds[0] = (struct pollfd){.fd = door->listener, .events = POLLIN};
		for (int i = 0; i < door->count; i++) {
			speaking = speaking || door->callers[i].spoke;
			if (!door->callers[i].spoke)
				fds[n++] = (struct pollfd){.fd = door->callers[i].fd, .events = POLLIN};
		}
		if (poll(fds, (nfds_t)n, speaking ? PAUSE / 4 : door->count ? PATIENCE / 4 : -1) > 0 && fds[0].revents)
			take_caller(door);
		judge_all(door);
	}
	return NULL;
}

/* Signals are for the main thread. */
static bool start_porter(struct door *door)
{
	sigset_t all, before;
	pthread_t thread;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&thread, NULL, attend, door) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started)
		pthread_detach(thread);
	return started;
}

static void free_door(struct door *door)
{
	if (!door)
		return;
	free(door->callers);
	free(door->fds);
	free(door);
}

static struct door *find_door(int fd)
{
	struct door *door = doors;

	while (door && door->bell != fd)
		door = door->next;
	return door;
}

/* Takes the listening socket from libpmix and puts an eventfd in its place. NULL: out of memory or the like. */
static struct door *make_door(int fd)
{
	struct door *door = calloc(1, sizeof *door);
	int bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);

	if (door) {
		door->callers = calloc((size_t)most_callers, sizeof *door->callers);
		door->fds = calloc((size_t)most_callers + 1, sizeof *door->fds);
	}
	if (!door || !door->callers || !door->fds || bell < 0 || (door->listener = fcntl(fd, F_DUPFD_CLOEXEC, 3)) < 0) {
		free_door(door);
		if (bell >= 0)
			close(bell);
		return NULL;
	}
	pthread_mutex_init(&door->lock, NULL);
	fcntl(door->listener, F_SETFL, fcntl(door->listener, F_GETFL) | O_NONBLOCK);
	door->bell = fd;
	dup3(bell, fd, O_CLOEXEC);
	close(bell);
	if (!start_porter(door)) {
		dup3(door->listener, fd, O_CLOEXEC);
		close(door->listener);
		free_door(door);
		return NULL;
	}
	door->next = doors;
	doors = door;
	return door;
}

/* -1: nobody has been admitted. */
static int next_admitted(struct door *door)
{
	struct pollfd bell = {.fd = door->bell, .events = POLLIN};
	uint64_t rung;
	int fd;

	if (poll(&bell, 1, RETURN) <= 0 || read(door->bell, &rung, sizeof rung) != sizeof rung)
		return -1;
	pthread_mutex_lock(&door->lock);
	fd = door->admitted[0];
	memmove(door->admitted, door->admitted + 1, --door->admitted_count * sizeof *door->admitted);
	pthread_mutex_unlock(&door->lock);
	return fd;
}

/* A connection whose other end is closed; -1 as accept says it. */
static int ended_connection(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return -1;
	close(ends[1]);
	return ends[0];
}

int door_accept(int listener, struct sockaddr *address, socklen_t *length) __asm__("accept");

__attribute__((visibility("default"))) int door_accept(int listener, struct sockaddr *address, socklen_t *length)
{
	struct door *door;
	int caller;

	if (!expected)
		return accept4(listener, address, length, 0);
	pthread_mutex_lock(&doors_lock);
	door = find_door(listener);
	if (!door)
		door = make_door(listener);
	pthread_mutex_unlock(&doors_lock);
	caller = door ? next_admitted(door) : -1;
	if (caller < 0)
		return ended_connection();
	if (address && length)
		getpeername(caller, address, length);
	return caller;
}
