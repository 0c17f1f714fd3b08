/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's count of what sockets of libfabric's TCP provider have sent. Sockets are found by
 * the hosts of these PEs, so the program's own are counted, too; that does no harm, because they
 * use the same cable.
 */
#include "ofi_inside.h"

#include <string.h>

#include "comms/net/sockets.h"
#include "comms/core/comms.h"

struct sent_scan {
	const int *pes;
	int n;
	struct network_sent *sent;
};

/* Other providers have other kinds of addresses, or none of IP. */
static bool address_of(int pe, struct socket_address *out)
{
	const struct ofi_peer *peer = ofi_peer(comms_connect(pe));
	struct sockaddr_storage address = {0};
	size_t size = sizeof address;

	if (ofi.info->addr_format != FI_SOCKADDR_IN && ofi.info->addr_format != FI_SOCKADDR_IN6 &&
	    ofi.info->addr_format != FI_SOCKADDR)
		return false;
	return peer && fi_av_lookup(ofi.av, peer->address, &address, &size) == 0 && size <= sizeof address &&
	       sockets_read_address(&address, out);
}

static void add_sent(int fd, void *argument)
{
	struct sent_scan *scan = argument;
	struct socket_address there, theirs;

	if (!sockets_address(fd, getpeername, &there))
		return;
	for (int i = 0; i < scan->n; i++)
		if (address_of(scan->pes[i], &theirs) && !memcmp(theirs.ip, there.ip, sizeof there.ip))
			sockets_add_sent(fd, &scan->sent[i]);
}

void ofi_sent_to(const int *pes, int n, struct network_sent *sent)
{
	memset(sent, 0, (size_t)n * sizeof *sent);
	sockets_for_descriptors(add_sent, &(struct sent_scan){pes, n, sent});
}
