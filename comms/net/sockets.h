/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_SOCKETS_H
#define COMMS_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "comms/core/network.h"

/* The sockets of a library of networks, which does not show them: they are among the descriptors of this process. */

/* An IPv4 address as IPv6 has it. */
struct socket_address {
	uint8_t ip[16];
	uint16_t port;
};

/* False: it is no address of IP. */
bool sockets_read_address(const struct sockaddr_storage *address, struct socket_address *out);
/* One end of a socket: side is getsockname or getpeername. False: the descriptor is no socket, or has no such end. */
bool sockets_address(int fd, int (*side)(int, struct sockaddr *, socklen_t *), struct socket_address *out);

void sockets_for_descriptors(void (*visit)(int fd, void *argument), void *argument);

/* Adds what a TCP socket has sent. */
void sockets_add_sent(int fd, struct network_sent *sent);

#endif
