/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_FIRST_DATA_H
#define RTE_FIRST_DATA_H

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * Listeners over TCP that get a connection when its first data is here: the kernel keeps a silent
 * one to itself (TCP_DEFER_ACCEPT) for 5 seconds, and on until it asks the other side again anyway.
 */

/* Call before listen. False: with errno. */
static inline bool first_data_wait(int listener)
{
	return setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &(int){5}, sizeof(int)) == 0;
}

/* Was first_data_wait called for it? */
static inline bool first_data_is_awaited(int listener)
{
	socklen_t size = sizeof(int);
	int seconds = 0;

	return getsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, &size) == 0 && seconds > 0;
}

/*
 * While the kernel is flooded with new connections (SYN cookies), it cannot wait, and the data
 * follows. Where it has waited in vain, it has asked the other side again.
 */
static inline bool first_data_is_here(int connection)
{
	struct pollfd readable = {.fd = connection, .events = POLLIN};
	struct tcp_info info = {0};
	socklen_t size = sizeof info;

	if (poll(&readable, 1, 0) > 0)
		return true;
	if (getsockopt(connection, IPPROTO_TCP, TCP_INFO, &info, &size) || info.tcpi_total_retrans > 0)
		return false;
	return poll(&readable, 1, 20) > 0;
}

/*
 * Accepts a connection if its first data is_welcome, and closes it otherwise. NULL for is_welcome:
 * leaves it in the kernel. Result: the connection, or -1 with EAGAIN, which also stands for a lack
 * of descriptors: libraries close their listener on any other error.
 */
static inline int first_data_accept(int listener, struct sockaddr *address, socklen_t *length,
				    bool (*is_welcome)(int connection))
{
	int connection = is_welcome ? accept4(listener, address, length, SOCK_CLOEXEC) : -1;

	if (connection >= 0 && first_data_is_here(connection) && is_welcome(connection))
		return connection;
	if (connection >= 0)
		close(connection);
	else if (!is_welcome || errno != EAGAIN) /* the caller asks again at once */
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	errno = EAGAIN;
	return -1;
}

#endif
