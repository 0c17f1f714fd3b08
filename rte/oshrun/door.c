/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who may speak to our PMIx server. libpmix listens at a port of 127.0.0.1, where every user of the machine can knock, and it
 * believes what it reads: rubbish of the right length ends the process. It has no way to let us look first. But it calls accept, and
 * a function of that name in the program comes before libc's.
 *
 * So the greeting is read ahead, without being taken away: it names the job, and the job's name ends with 64 random bits that are in the
 * environment of the PEs only. Who does not know it is shown out, and libpmix is given a connection that has already ended.
 */
#include "door.h"

#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE 2000 /* ms; who belongs here speaks at once, but the machine may be busy */
#define PAUSE 20      /* ms, within a greeting, which is sent in one piece */
#define GREETING 1024
#define FIRST_BYTES 8

static const char *expected;

void door_open(const char *name)
{
	expected = name;
}

/* What has arrived of the greeting; 0: nothing has, in so many milliseconds, or nothing ever will. */
static size_t read_ahead(int guest, char greeting[GREETING], int patience)
{
	struct pollfd arrival = {.fd = guest, .events = POLLIN};
	ssize_t length = poll(&arrival, 1, patience) > 0 ? recv(guest, greeting, GREETING, MSG_PEEK | MSG_DONTWAIT) : 0;

	return length > 0 ? (size_t)length : 0;
}

/* Every greeting begins with a message number and a tag of -1. */
static bool knows_the_name(int guest)
{
	static const char first[FIRST_BYTES] = {-1, -1, -1, -1, -1, -1, -1, -1};
	const struct timespec moment = {0, PAUSE * 1000000};
	char greeting[GREETING];
	size_t length = read_ahead(guest, greeting, PATIENCE);

	if (length >= FIRST_BYTES && memcmp(greeting, first, FIRST_BYTES))
		return false;
	if (length > 0 && !memmem(greeting, length, expected, strlen(expected) + 1)) {
		nanosleep(&moment, NULL);
		length = read_ahead(guest, greeting, 0);
	}
	return length > FIRST_BYTES && memmem(greeting, length, expected, strlen(expected) + 1);
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
	int guest = accept4(listener, address, length, 0);

	if (guest < 0 || !expected || knows_the_name(guest))
		return guest;
	close(guest);
	return ended_connection();
}
