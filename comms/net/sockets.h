/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_SOCKETS_H
#define COMMS_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "comms/core/network.h"

/*
 * Finds the sockets of a network library, which does not expose them, among the descriptors of this
 * process.
 */

/* Converts an IPv4 address to its IPv6 form. */
struct socket_address {
	uint8_t ip[16];
	uint16_t port;
};

/* Returns false if it is not an IP address. */
bool sockets_read_address(const struct sockaddr_storage *address, struct socket_address *out);
/*
 * The address of one end of a socket: side is getsockname or getpeername. Returns false if the
 * descriptor is no socket or has no such end.
 */
bool sockets_address(int fd, int (*side)(int, struct sockaddr *, socklen_t *), struct socket_address *out);

void sockets_for_descriptors(void (*visit)(int fd, void *argument), void *argument);

/* Adds the bytes that a TCP socket has sent. */
void sockets_add_sent(int fd, struct network_sent *sent);

#endif
