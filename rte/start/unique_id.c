/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ids of jobs: a key, and where the process that made the id listens. The listener exists from then
 * on; the kernel keeps connections until that process starts as a PE.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "provider.h"
#include "rendezvous.h"

static const char id_magic[8] = "tshmem01";

/* Ids of this process whose job has not started, and the id of the next start. */
static struct made {
	struct made *next;
	struct rte_unique_id id;
	int listener;
	pid_t pid; /* a child of fork inherits the list and the listeners */
} * made_ids;
static pthread_mutex_t ids_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	bool is_set;
	struct rte_unique_id id;
	int pe, n_pes;
} id_in_use;

static void add_address(struct rte_unique_id *id, const struct sockaddr *address)
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;
	int most = sizeof id->at / sizeof id->at[0];

	if (id->count == most)
		return;
	id->at[id->count].is_ip6 = address->sa_family == AF_INET6;
	if (address->sa_family == AF_INET6)
		memcpy(id->at[id->count++].host, &in6->sin6_addr, sizeof in6->sin6_addr);
	else
		memcpy(id->at[id->count++].host, &in->sin_addr, sizeof in->sin_addr);
}

static bool is_reachable(const struct ifaddrs *at, int family)
{
	const struct sockaddr_in6 *in6 = (const void *)at->ifa_addr;

	return at->ifa_addr && at->ifa_addr->sa_family == family && (at->ifa_flags & IFF_UP) &&
	       !(at->ifa_flags & IFF_LOOPBACK) && (family == AF_INET || !IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr));
}

/* Those of IPv4 first. Without a network, the loopback interface serves the PEs of this host. */
static void add_addresses(struct rte_unique_id *id)
{
	struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct ifaddrs *all = NULL;

	if (getifaddrs(&all))
		all = NULL;
	for (const struct ifaddrs *at = all; at; at = at->ifa_next)
		if (is_reachable(at, AF_INET))
			add_address(id, at->ifa_addr);
	for (const struct ifaddrs *at = all; at; at = at->ifa_next)
		if (is_reachable(at, AF_INET6))
			add_address(id, at->ifa_addr);
	if (all)
		freeifaddrs(all);
	if (id->count == 0)
		add_address(id, (struct sockaddr *)&loopback);
}

enum rte_status rte_make_unique_id(void *bytes)
{
	struct made *made = calloc(1, sizeof *made);
	struct sockaddr_storage here = {0};
	socklen_t size = sizeof here;

	if (made)
		made->listener = rendezvous_listen(NULL);
	if (!made || made->listener < 0 || getsockname(made->listener, (struct sockaddr *)&here, &size) ||
	    getrandom(made->id.key, sizeof made->id.key, 0) != (ssize_t)sizeof made->id.key) {
		snprintf(rte.problem, sizeof rte.problem, "this process cannot listen for others over TCP (%s)",
			 strerror(errno));
		if (made && made->listener >= 0)
			close(made->listener);
		free(made);
		return RTE_BAD_START;
	}
	memcpy(made->id.magic, id_magic, sizeof id_magic);
	made->id.port = ((struct sockaddr_in *)&here)->sin_port; /* where sin6_port is */
	made->pid = getpid();
	add_addresses(&made->id);
	memcpy(bytes, &made->id, sizeof made->id);
	pthread_mutex_lock(&ids_lock);
	made->next = made_ids;
	made_ids = made;
	pthread_mutex_unlock(&ids_lock);
	return RTE_OK;
}

static struct made *take_made(const struct rte_unique_id *id)
{
	struct made **at = &made_ids, *made;

	pthread_mutex_lock(&ids_lock);
	while (*at && memcmp(&(*at)->id, id, sizeof *id) != 0)
		at = &(*at)->next;
	made = *at;
	if (made)
		*at = made->next;
	pthread_mutex_unlock(&ids_lock);
	return made;
}

/* The root of a job is the process that made its id, and no child of that process. */
int rendezvous_listener_of(const struct rte_unique_id *id)
{
	struct made *made = take_made(id);
	int listener = made ? made->listener : -1;

	if (made && made->pid != getpid()) {
		close(listener);
		listener = -1;
	}
	free(made);
	return listener;
}

bool rte_use_unique_id(const void *bytes, int pe, int n_pes)
{
	const struct rte_unique_id *id = &id_in_use.id;

	memcpy(&id_in_use.id, bytes, sizeof id_in_use.id);
	id_in_use.is_set = !memcmp(id->magic, id_magic, sizeof id_magic) && id->count >= 1 &&
			   id->count <= sizeof id->at / sizeof id->at[0];
	id_in_use.pe = pe;
	id_in_use.n_pes = n_pes;
	return id_in_use.is_set;
}

void rte_forget_unique_id(void)
{
	id_in_use.is_set = false;
}

void rte_drop_unique_id(void)
{
	int listener = id_in_use.is_set ? rendezvous_listener_of(&id_in_use.id) : -1;

	if (listener >= 0)
		close(listener);
}

const struct rte_unique_id *rte_unique_id_in_use(int *pe, int *n_pes)
{
	if (!id_in_use.is_set)
		return NULL;
	*pe = id_in_use.pe;
	*n_pes = id_in_use.n_pes;
	return &id_in_use.id;
}
