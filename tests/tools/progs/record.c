/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LD_PRELOAD: keeps the first bytes that a process sends on each TCP connection, in the folder
 * RECORD, as a file named PORT-PROCESS-NUMBER; the port is the other side's. So a test has what
 * somebody who listens in on the network would have.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define DESCRIPTORS 4096
#define RECORDED 200

static size_t recorded[DESCRIPTORS];
static int number;

int connect(int fd, const struct sockaddr *address, socklen_t length)
{
	static int (*next)(int, const struct sockaddr *, socklen_t);

	if (!next)
		next = (int (*)(int, const struct sockaddr *, socklen_t))dlsym(RTLD_NEXT, "connect");
	if (fd >= 0 && fd < DESCRIPTORS)
		recorded[fd] = 1;
	return next(fd, address, length);
}

static void keep(int fd, const void *bytes, size_t n)
{
	static int file_of[DESCRIPTORS];
	struct sockaddr_in there;
	socklen_t size = sizeof there;
	char name[512];
	int file;

	if (!getenv("RECORD") || getpeername(fd, (struct sockaddr *)&there, &size) || there.sin_family != AF_INET)
		return;
	if (recorded[fd] == 1)
		file_of[fd] = ++number;
	snprintf(name, sizeof name, "%s/%d-%d-%d", getenv("RECORD"), ntohs(there.sin_port), getpid(), file_of[fd]);
	file = open(name, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (file >= 0 && write(file, bytes, n) == (ssize_t)n)
		recorded[fd] += n;
	close(file);
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
	static ssize_t (*next)(int, const void *, size_t, int);

	if (!next)
		next = (ssize_t(*)(int, const void *, size_t, int))dlsym(RTLD_NEXT, "send");
	if (fd >= 0 && fd < DESCRIPTORS && recorded[fd] > 0 && recorded[fd] < RECORDED)
		keep(fd, bytes, n);
	return next(fd, bytes, n, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	static ssize_t (*next)(int, const struct msghdr *, int);

	if (!next)
		next = (ssize_t(*)(int, const struct msghdr *, int))dlsym(RTLD_NEXT, "sendmsg");
	if (fd >= 0 && fd < DESCRIPTORS && recorded[fd] && recorded[fd] < RECORDED && message->msg_iovlen > 0)
		keep(fd, message->msg_iov[0].iov_base, message->msg_iov[0].iov_len);
	return next(fd, message, flags);
}
