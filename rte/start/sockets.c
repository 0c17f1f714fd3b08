/* SPDX-License-Identifier: BSD-3-Clause */
/* Sockets of the rendezvous, and what is sent over them. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rendezvous.h"
#include "rte/clock.h"
#include "rte/host/first_data.h"
#include "rte/host/greeting.h"
#include "rte/settings.h"
#include "provider.h"

enum { CONNECT_MS = 2000 };

long rendezvous_seconds(void)
{
	long seconds;

	if (setting_is_possible(SETTING_START_SECONDS) && setting_number(SETTING_START_SECONDS, &seconds))
		return seconds;
	return 120;
}

/* --- Addresses --- */

/* HOST:PORT, or [HOST]:PORT. NULL: rte.problem says why. */
static struct addrinfo *find_addresses(const char *root, int flags)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = flags}, *found = NULL;
	const char *colon = strrchr(root, ':');
	char host[256];
	int error;

	if (!colon || colon == root || atoi(colon + 1) < 1 || atoi(colon + 1) > 65535) {
		snprintf(rte.problem, sizeof rte.problem,
			 "SHMEM_ROOT=%.200s: give HOST:PORT, at which PE 0 is to listen", root);
		errno = EINVAL;
		return NULL;
	}
	snprintf(host, sizeof host, "%.*s", (int)(colon - root), root);
	if (host[0] == '[' && host[strlen(host) - 1] == ']') {
		host[strlen(host) - 1] = '\0';
		memmove(host, host + 1, strlen(host));
	}
	error = getaddrinfo(host, colon + 1, &hints, &found);
	if (error)
		snprintf(rte.problem, sizeof rte.problem, "the address %.200s cannot be found (%s)", root,
			 gai_strerror(error));
	errno = ENOENT;
	return error ? NULL : found;
}

static socklen_t address_of_id(struct sockaddr_storage *address, const struct rte_unique_id *id, int i)
{
	struct sockaddr_in *in = (void *)address;
	struct sockaddr_in6 *in6 = (void *)address;

	memset(address, 0, sizeof *address);
	if (id->at[i].is_ip6) {
		in6->sin6_family = AF_INET6;
		in6->sin6_port = id->port;
		memcpy(&in6->sin6_addr, id->at[i].host, sizeof in6->sin6_addr);
		return sizeof *in6;
	}
	in->sin_family = AF_INET;
	in->sin_port = id->port;
	memcpy(&in->sin_addr, id->at[i].host, sizeof in->sin_addr);
	return sizeof *in;
}

/* --- Lost hosts --- */

/*
 * The other side counts as lost when its host is silent for SHMEM_FAILURE_SECONDS. Connections that
 * a listener accepts inherit its options.
 */
static void keep_alive(int fd)
{
	int yes = 1, idle, between, probes = 4, limit;
	const int longest = 32767; /* that the kernel takes as TCP_KEEPIDLE */
	long seconds = 20;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	setting_number(SETTING_FAILURE_SECONDS, &seconds);
	if (seconds == 0)
		return;
	idle = seconds > 2 ? (int)seconds / 2 : 1;
	idle = idle < longest ? idle : longest;
	between = seconds > 8 ? (int)seconds / 8 : 1;
	limit = (int)(seconds > 100000 ? 100000 : seconds) * 1000;
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof limit);
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
}

/* --- Listen --- */

/* Protects the port against connections that send nothing. */
static int listen_at(const struct sockaddr *address, socklen_t size)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1, no = 0, error;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (address->sa_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
	keep_alive(fd);
	if (bind(fd, address, size) == 0 && first_data_wait(fd) && listen(fd, SOMAXCONN) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

static int listen_anywhere(in_port_t port)
{
	struct sockaddr_in6 all6 = {.sin6_family = AF_INET6, .sin6_port = port, .sin6_addr = IN6ADDR_ANY_INIT};
	struct sockaddr_in all = {.sin_family = AF_INET, .sin_port = port, .sin_addr.s_addr = htonl(INADDR_ANY)};
	int fd = listen_at((struct sockaddr *)&all6, sizeof all6);

	return fd >= 0 ? fd : listen_at((struct sockaddr *)&all, sizeof all);
}

/*
 * Debian's /etc/hosts gives a host's own name an address at which other hosts do not reach it. One
 * who wants the loopback interface gives its address, or a name such as localhost.
 */
static bool is_reached_elsewhere(const struct addrinfo *at, const char *root)
{
	const struct sockaddr_in6 *in6 = (const void *)at->ai_addr;
	const struct sockaddr_in *in = (const void *)at->ai_addr;
	bool is_number = root[0] == '[' || root[strspn(root, "0123456789.")] == ':';

	if (at->ai_family == AF_INET6 ? !IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr)
				      : ntohl(in->sin_addr.s_addr) >> 24 != IN_LOOPBACKNET)
		return false;
	return !is_number && !strstr(root, "localhost");
}

/* Behind a translated address, the host has not the address that others connect to. */
int rendezvous_listen(const char *root)
{
	struct addrinfo *found;
	in_port_t port;
	int fd = -1;

	if (!root)
		return listen_anywhere(0);
	found = find_addresses(root, 0);
	if (!found)
		return -1;
	port = ((const struct sockaddr_in *)(void *)found->ai_addr)->sin_port;
	for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
		fd = is_reached_elsewhere(at, root) ? listen_anywhere(port) : listen_at(at->ai_addr, at->ai_addrlen);
	if (fd < 0 && errno == EADDRNOTAVAIL)
		fd = listen_anywhere(port);
	if (fd < 0)
		snprintf(rte.problem, sizeof rte.problem,
			 "PE %d cannot listen at %.200s (%s); set SHMEM_ROOT to an address of its host and a free port",
			 rte.pe, root, strerror(errno));
	freeaddrinfo(found);
	return fd;
}

/* --- Connect --- */

/* Signals do not end the wait. False: nothing has come until then. A broken socket is ready. */
static bool await_event(int fd, short events, int64_t until)
{
	struct pollfd event = {.fd = fd, .events = events};

	for (;;) {
		int64_t left = until - rte_clock_ms();
		int ready;

		if (left <= 0)
			return false;
		ready = poll(&event, 1, left < INT_MAX ? (int)left : INT_MAX);
		if (ready > 0 || (ready < 0 && errno != EINTR))
			return true;
	}
}

/* `to` is the address in the end: the kernel takes 0.0.0.0 for this host's loopback address. */
static int connect_to(const struct sockaddr *address, socklen_t size, struct sockaddr_storage *to)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
	socklen_t length = sizeof error, size_of_to = sizeof *to;

	if (fd < 0)
		return -1;
	if (connect(fd, address, size)) {
		error = errno;
		if (error == EINPROGRESS && !await_event(fd, POLLOUT, rte_clock_ms() + CONNECT_MS))
			error = ETIMEDOUT;
		else if (error == EINPROGRESS)
			getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length);
	}
	if (!error && getpeername(fd, (struct sockaddr *)to, &size_of_to))
		error = errno;
	if (error) {
		close(fd);
		errno = error;
		return -1;
	}
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
	keep_alive(fd);
	return fd;
}

int rendezvous_connect(const char *root, const struct rte_unique_id *id, struct sockaddr_storage *to)
{
	struct addrinfo *found;
	int fd = -1, error;

	for (int i = 0; id && i < id->count && fd < 0; i++) {
		socklen_t size = address_of_id(to, id, i);

		fd = connect_to((struct sockaddr *)to, size, to);
	}
	if (id)
		return fd;
	found = find_addresses(root, 0);
	if (!found)
		return errno == EINVAL ? RENDEZVOUS_NO_ADDRESS : -1;
	for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
		fd = connect_to(at->ai_addr, at->ai_addrlen, to);
	error = errno;
	freeaddrinfo(found);
	errno = error;
	return fd;
}

/* --- Messages --- */

bool rendezvous_send(int fd, const void *data, size_t size)
{
	for (const char *at = data; size > 0;) {
		ssize_t sent = send(fd, at, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		size -= (size_t)sent;
	}
	return true;
}

bool rendezvous_send_message(int fd, enum rendezvous_kind kind, int number, const void *data, size_t size)
{
	struct rendezvous_message message = {kind, number, size};

	return rendezvous_send(fd, &message, sizeof message) && rendezvous_send(fd, data, size);
}

bool rendezvous_receive(int fd, void *data, size_t size, int64_t until)
{
	for (char *at = data; size > 0;) {
		ssize_t got;

		if (until && !await_event(fd, POLLIN, until)) {
			errno = ETIMEDOUT;
			return false;
		}
		got = recv(fd, at, size, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0)
			errno = ECONNRESET;
		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

uint64_t rendezvous_proof(const uint64_t key[2], const uint64_t nonce[2])
{
	const uint64_t words[] = {nonce[0], nonce[1], 0x746f6f72 /* differs from every greeting */};

	return siphash(key, words, sizeof words / sizeof words[0]);
}
