/* SPDX-License-Identifier: BSD-3-Clause */
#include "sockets.h"

#include <dirent.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

bool sockets_read_address(const struct sockaddr_storage *address, struct socket_address *out)
{
	if (address->ss_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)address;

		memset(out->ip, 0, sizeof out->ip);
		memset(&out->ip[10], 0xff, 2);
		memcpy(&out->ip[12], &in->sin_addr, 4);
		out->port = ntohs(in->sin_port);
		return true;
	}
	if (address->ss_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const void *)address;

		memcpy(out->ip, &in->sin6_addr, sizeof out->ip);
		out->port = ntohs(in->sin6_port);
		return true;
	}
	return false;
}

bool sockets_address(int fd, int (*side)(int, struct sockaddr *, socklen_t *), struct socket_address *out)
{
	struct sockaddr_storage address;
	socklen_t size = sizeof address;

	return side(fd, (struct sockaddr *)&address, &size) == 0 && sockets_read_address(&address, out);
}

void sockets_for_descriptors(void (*visit)(int fd, void *argument), void *argument)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			visit(atoi(entry->d_name), argument);
	if (folder)
		closedir(folder);
}

void sockets_add_sent(int fd, struct network_sent *sent)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof info;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
		return;
	sent->bytes += info.tcpi_bytes_acked;
	sent->microseconds += info.tcpi_busy_time - info.tcpi_rwnd_limited;
}
