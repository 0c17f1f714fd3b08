/* SPDX-License-Identifier: BSD-3-Clause */
#include "failure.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "rte/rte.h"
#include "rte/settings.h"

int64_t failure_limit(void)
{
	long seconds = 0;

	setting_number(SETTING_FAILURE_SECONDS, &seconds);
	return rte.several_hosts ? seconds * 1000 : 0;
}

void failure_keep_alive(int fd, int64_t limit)
{
	int seconds = (int)(limit / 1000), yes = 1, probes = 4, now = 0;
	int idle = seconds > 2 ? seconds / 2 : 1, between = seconds > FAILURE_POLLS ? seconds / FAILURE_POLLS : 1;
	socklen_t size = sizeof now;

	if (getsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &now, &size) || now == idle)
		return;
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
}

enum failure_state failure_state_of(int fd, int64_t *unanswered, int64_t now, int64_t limit)
{
	struct tcp_info info = {0};
	socklen_t size = sizeof info;

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size))
		return FAILURE_NOT_TCP;
	if (info.tcpi_unacked == 0 && info.tcpi_probes == 0)
		*unanswered = 0;
	else if (*unanswered == 0 || now - (int64_t)info.tcpi_last_ack_recv >= *unanswered)
		*unanswered = now;
	else if (now - *unanswered >= limit)
		return FAILURE_SILENT;
	return FAILURE_ANSWERS;
}
