/* SPDX-License-Identifier: BSD-3-Clause */
/* The floor of TCP: a connection between PEs 0 and 1 through the loopback device, 8 bytes a message, never asleep. */
#include "layers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int fd;
static uint64_t pending, answers, answered;

static int listen_somewhere(struct sockaddr_in *at)
{
	socklen_t length = sizeof *at;
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (listener < 0 || bind(listener, (struct sockaddr *)at, sizeof *at) != 0 || listen(listener, 1) != 0 ||
	    getsockname(listener, (struct sockaddr *)at, &length) != 0)
		group_fail("no TCP port: %s", strerror(errno));
	return listener;
}

/* PE 0 listens and broadcasts the port. */
void socket_open(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int one = 1, listener = group.me == 0 ? listen_somewhere(&at) : -1;

	at.sin_port = (in_port_t)group_broadcast(at.sin_port);
	if (group.me == 0) {
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		close(listener);
	} else {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0)
			fd = -1;
	}
	if (fd < 0 || setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0 ||
	    fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
		group_fail("no TCP connection: %s", strerror(errno));
}

void socket_post(uint64_t value)
{
	while (send(fd, &value, sizeof value, MSG_NOSIGNAL) != sizeof value)
		if (errno != EAGAIN)
			group_fail("send: %s", strerror(errno));
}

bool socket_progress(void)
{
	uint64_t values[512];
	ssize_t came = recv(fd, values, sizeof values, 0);

	if (came <= 0)
		return false;
	if (came % 8)
		group_fail("a message was torn"); /* the kernel hands on whole writes of 8 bytes */
	layer_value = values[came / 8 - 1];
	if (group.me == 0)
		answers += (uint64_t)came / 8;
	if (layer_acknowledges && group.me == 1) {
		for (pending += (uint64_t)came / 8; pending >= BATCH; pending -= BATCH)
			socket_post(0);
	}
	return true;
}

void socket_flush(void)
{
	if (answered == 0)
		answers = 0; /* what came before there were answers */
	answered++;
	while (answers < answered)
		socket_progress();
}
