/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's count of what UCX's sockets have sent. */
#include "ucx_inside.h"

#include <string.h>

#include "ucx_failure.h"

struct sent_scan {
	const int *pes;
	int n;
	struct network_sent *sent;
};

/* Either PE may have connected, so the port at the other end does not matter. */
static bool is_host_of(int pe, const struct socket_address *address)
{
	const struct socket_address *theirs = ucx_addresses(pe);

	return theirs && theirs[0].port && !memcmp(theirs[0].ip, address->ip, sizeof address->ip);
}

static void add_sent(int fd, const struct socket_address *there, void *argument)
{
	struct sent_scan *scan = argument;

	for (int i = 0; i < scan->n; i++)
		if (is_host_of(scan->pes[i], there))
			sockets_add_sent(fd, &scan->sent[i]);
}

void ucx_sent_to(const int *pes, int n, struct network_sent *sent)
{
	memset(sent, 0, (size_t)n * sizeof *sent);
	failure_for_sockets(add_sent, &(struct sent_scan){pes, n, sent});
}
