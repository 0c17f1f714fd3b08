/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A filter for the connections of our PMIx server. libpmix listens at a port of 127.0.0.1, to which
 * every user of the machine can connect, and it trusts what it reads: random bytes of the right
 * length end the process, and a silent connection stops it. Versions 4 and 5 have no other
 * transport, and do not call the listener function of pmix_server_module_t, in which a server
 * could accept connections itself. But libpmix calls listen and accept, and functions of these
 * names in the program take precedence over libc's.
 *
 * A client's first message names the job, and the job's name ends with 64 random bits that only the
 * environment of the PEs contains. Over the loopback interface the message comes in one piece, so
 * one look at it decides.
 */
#include "accept_filter.h"

#include <string.h>
#include <sys/syscall.h>

#include "rte/host/first_data.h"
#include "rte/settings.h"

static const char *expected;

void accept_filter_start(const char *name)
{
	bool wanted = true;

	setting_bool(SETTING_ACCEPT_FILTER, &wanted); /* unless it is auto */
	expected = wanted ? name : NULL;
}

/* First messages begin with a number and a tag of -1. Leaves the message for libpmix to read. */
static bool names_the_job(int fd)
{
	static const char first[] = {-1, -1, -1, -1, -1, -1, -1, -1};
	char message[1024];
	ssize_t length = recv(fd, message, sizeof message, MSG_PEEK | MSG_DONTWAIT);

	return length > (ssize_t)sizeof first && !memcmp(message, first, sizeof first) &&
	       memmem(message, (size_t)length, expected, strlen(expected) + 1);
}

int listen_filtered(int fd, int backlog) __asm__("listen");
int accept_filtered(int fd, struct sockaddr *address, socklen_t *length) __asm__("accept");

/* A failure is reported to libpmix: a server without the filter must not start. */
__attribute__((visibility("default"))) int listen_filtered(int fd, int backlog)
{
	return expected && !first_data_wait(fd) ? -1 : (int)syscall(SYS_listen, fd, backlog);
}

__attribute__((visibility("default"))) int accept_filtered(int fd, struct sockaddr *address, socklen_t *length)
{
	if (!expected || !first_data_is_awaited(fd))
		return accept4(fd, address, length, 0);
	return first_data_accept(fd, address, length, names_the_job);
}
