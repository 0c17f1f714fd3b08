/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network of hosts whose every cable is a network of its own, with nothing forwarded: messages
 * go over the cable to a neighbour, and PEs relay those for hosts farther away. This file starts
 * and stops it.
 */
#include "cable_inside.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <unistd.h>

#include "rte/host/greeting.h"
#include "comms/net/sockets.h"
#include "rte/host/first_data.h"
#include "rte/rte.h"

/* --- This host --- */

#define LINGERS 50000 /* ns; a thread takes about as long to wake up on an idle processor */

bool cable_find(bool must)
{
	return must || cable_hosts_are_cabled();
}

/* On all addresses, of IPv6 and IPv4; a kernel without IPv6 has the latter. */
static void bind_listener(void)
{
	struct sockaddr_storage address = {.ss_family = AF_INET6};
	struct sockaddr_in6 *in6 = (void *)&address;
	socklen_t size = sizeof *in6;
	int no = 0;

	cable_net.listener = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (cable_net.listener < 0) {
		address.ss_family = AF_INET;
		size = sizeof(struct sockaddr_in);
		cable_net.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	} else {
		setsockopt(cable_net.listener, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
	}
	if (cable_net.listener < 0 || bind(cable_net.listener, (struct sockaddr *)&address, size) ||
	    !first_data_wait(cable_net.listener) || listen(cable_net.listener, SOMAXCONN) ||
	    getsockname(cable_net.listener, (struct sockaddr *)&address, &size))
		rte_die("shmem_init", "no TCP port to listen at (%s); raise ulimit -n", strerror(errno));
	cable_net.port = in6->sin6_port; /* at the same place in both kinds */
}

static void start_devices(void)
{
#if HAVE_VERBS
	const int event = cable_verbs.start();

	if (event >= 0) {
		cable_net.verbs = &cable_verbs;
		cable_net.server.event = event;
	}
#endif
	if (cable_net.verbs)
		cable_addresses_add_devices();
	cable_net.server.may_sleep = cable_net.verbs ? cable_net.verbs->may_sleep : NULL;
}

void cable_start(void)
{
	cable_hosts_start();
	cable_addresses_start();
	cable_net.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (cable_net.epoll < 0)
		rte_die("shmem_init", "no descriptor to watch connections with (%s); raise ulimit -n", strerror(errno));
	bind_listener();
	cable_net.server.event = cable_net.epoll;
	start_devices();
	cable_net.peers = calloc((size_t)comms.n_pes, sizeof *cable_net.peers);
	cable_net.links = calloc(2 * (size_t)comms.n_pes, sizeof *cable_net.links);
	if (!cable_net.peers || !cable_net.links)
		rte_die("shmem_init", "no memory for the records of %d PEs", comms.n_pes);
	if (comms.pe == 0 && getrandom(cable_net.key, sizeof cable_net.key, 0) != (ssize_t)sizeof cable_net.key)
		rte_die("shmem_init",
			"the kernel has no random bytes for the key of the job's connections (getrandom)");
	atomic_store_explicit(&cable_net.ending, false, memory_order_relaxed);
	cable_net.server.work = cable_work;
	cable_net.server.lingers = rte_node_processors() >= 2 * rte.n_local ? LINGERS : 0;
}

void cable_open(void)
{
	cable_read_key();
	cable_check_cables();
	cable_hosts_check_reach();
	cable_listen();
	cable_failure_start();
	network_server_open(&cable_net.server);
}

void cable_stop(void)
{
	for (int i = 0; i < 2 * comms.n_pes; i++)
		cable_link_free(cable_net.links[i]);
	cable_arrivals_free();
	for (int pe = 0; pe < comms.n_pes; pe++)
		free(atomic_load_explicit(&cable_net.peers[pe], memory_order_relaxed));
	free(cable_net.peers);
	free(cable_net.links);
	cable_addresses_stop();
	cable_failure_stop();
	close(cable_net.listener);
	if (cable_net.verbs)
		cable_net.verbs->stop();
	cable_net.verbs = NULL;
	close(cable_net.epoll);
	greetings_seen_free(&cable_net.greetings);
	explicit_bzero(cable_net.key, sizeof cable_net.key);
	cable_net.due = NULL;
	/* Left by a broken job. */
	atomic_store_explicit(&cable_net.main.pending, 0, memory_order_relaxed);
	atomic_store_explicit(&cable_net.under_way, 0, memory_order_relaxed);
	atomic_store_explicit(&cable_net.awaited, 0, memory_order_relaxed);
	cable_net.fetching = cable_net.relay_buffers = 0;
	cable_net.relay_memory = 0;
	cable_hosts_stop();
}

/* --- Other hosts --- */

/* The first operation makes the connection; a PE that has a record has a driver. */
void cable_connect(struct comms_peer *peer)
{
	atomic_store_explicit(&peer->driver, &cable_net, memory_order_release);
}

void cable_forget(struct comms_peer *peer)
{
	atomic_store_explicit(&peer->driver, NULL, memory_order_relaxed);
}

void cable_sent_to(const int *pes, int n, struct network_sent *sent)
{
	memset(sent, 0, (size_t)n * sizeof *sent);
	pthread_mutex_lock(&cable_net.lock);
	for (int i = 0; i < n; i++)
		for (int second = 0; second < 2; second++) {
			const struct cable_link *link = cable_net.links[pes[i] + second * comms.n_pes];

			if (link && link->rdma)
				cable_net.verbs->add_sent(link->rdma, &sent[i]);
			else if (link && !link->connecting)
				sockets_add_sent(link->fd, &sent[i]);
		}
	pthread_mutex_unlock(&cable_net.lock);
}
