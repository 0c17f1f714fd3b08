/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of this host and the addresses at which PEs listen. */
#include "cable_inside.h"

#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "comms/core/peers.h"
#include "comms/net/sockets.h"
#include "rte/host/ports.h"
#include "rte/rte.h"

enum { MOST_PORTS = 64 };

/* A port of a PE's host, as it publishes it. Addresses are in network order; 0: none. */
struct cable_port {
	char name[TORUS_PORT];
	uint8_t link_address[16]; /* IPv6, of the cable alone */
	uint32_t address, mask;	  /* IPv4 */
	struct cable_gids gids;	  /* of its RDMA device */
};

/* What a PE publishes. */
struct cable_info {
	uint64_t key[2]; /* of the job: PE 0's; of others zero */
	uint16_t port, ports;
	struct cable_port at[];
};

/* The ports of this host, and what was published of it. */
static struct cable_info *mine;

/* --- This host --- */

static struct cable_port *published_port(const char *name)
{
	for (int i = 0; i < mine->ports; i++)
		if (!strcmp(mine->at[i].name, name))
			return &mine->at[i];
	return NULL;
}

static void take_address(const struct ifaddrs *entry)
{
	struct cable_port *port = entry->ifa_addr ? published_port(entry->ifa_name) : NULL;
	const struct sockaddr_in *in = (const void *)entry->ifa_addr, *mask = (const void *)entry->ifa_netmask;
	const struct sockaddr_in6 *in6 = (const void *)entry->ifa_addr;

	if (port && in->sin_family == AF_INET && mask) {
		port->address = in->sin_addr.s_addr;
		port->mask = mask->sin_addr.s_addr;
	} else if (port && in6->sin6_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)) {
		memcpy(port->link_address, &in6->sin6_addr, sizeof port->link_address);
	}
}

void cable_addresses_start(void)
{
	struct port port[MOST_PORTS];
	int ports = ports_list(port, MOST_PORTS);
	struct ifaddrs *all = NULL;

	mine = calloc(1, sizeof *mine + (size_t)ports * sizeof *mine->at);
	if (!mine)
		rte_die("shmem_init", "no memory");
	for (int i = 0; i < ports; i++)
		if (port[i].carrier)
			memcpy(mine->at[mine->ports++].name, port[i].name, TORUS_PORT);
	if (getifaddrs(&all))
		rte_die("shmem_init", "the kernel does not name this host's addresses (%s)", strerror(errno));
	for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next)
		take_address(entry);
	freeifaddrs(all);
}

void cable_addresses_add_devices(void)
{
	for (int i = 0; i < mine->ports; i++) {
		const struct cable_gids *gids = cable_net.verbs->gids(mine->at[i].name);

		if (gids)
			mine->at[i].gids = *gids;
	}
}

void *cable_describe(size_t *bytes)
{
	struct cable_info *info;

	*bytes = sizeof *info + mine->ports * sizeof *info->at;
	info = malloc(*bytes);
	if (!info)
		rte_die("shmem_init", "no memory");
	memcpy(info, mine, *bytes);
	memcpy(info->key, cable_net.key, sizeof info->key);
	info->port = cable_net.port;
	return info;
}

void cable_addresses_stop(void)
{
	free(mine);
	mine = NULL;
}

/* --- Other hosts --- */

void cable_read_key(void)
{
	struct cable_info first;

	if (!peers_read_network_info(0, &first, sizeof first))
		rte_die("shmem_init", "cannot fetch what PE 0 published (%s); has it ended?", rte.problem);
	memcpy(cable_net.key, first.key, sizeof cable_net.key);
}

/* What a PE published, in full; the caller frees it. */
static struct cable_info *info_of(int pe)
{
	struct cable_info head, *info;
	size_t bytes;

	if (!peers_read_network_info(pe, &head, sizeof head))
		rte_die(NULL, "cannot fetch what PE %d published (%s); %s", pe, rte.problem,
			comms_process_in_words(pe));
	bytes = sizeof head + head.ports * sizeof *info->at;
	info = malloc(bytes);
	if (!info || !peers_read_network_info(pe, info, bytes))
		rte_die(NULL, "no memory for the addresses of PE %d", pe);
	return info;
}

static const struct cable_port *port_called(const struct cable_info *info, const char *name)
{
	for (int i = 0; i < info->ports; i++)
		if (!strcmp(info->at[i].name, name))
			return &info->at[i];
	return NULL;
}

static bool both_have_link_addresses(const struct cable_port *here, const struct cable_port *there)
{
	static const uint8_t none[16];

	return memcmp(here->link_address, none, sizeof none) != 0 &&
	       memcmp(there->link_address, none, sizeof none) != 0;
}

static const char *flaw_of_ends(const struct cable_port *here, const struct cable_port *there)
{
	/* A PE publishes the ports that have a carrier. */
	if (!here || !there)
		return "has no carrier";
	if (both_have_link_addresses(here, there) || (here->address && there->address))
		return NULL;
	return "has no addresses of the same kind at both ends";
}

static const char *published_flaw(const int pe[2], const char *const port[2])
{
	struct cable_info *info[2] = {info_of(pe[0]), info_of(pe[1])};
	const char *flaw = flaw_of_ends(port_called(info[0], port[0]), port_called(info[1], port[1]));

	free(info[0]);
	free(info[1]);
	return flaw;
}

void cable_check_cables(void)
{
	if (comms.node_size == 0)
		cable_hosts_check(published_flaw);
}

static unsigned address_4(struct sockaddr_storage *address, uint32_t host, uint16_t port)
{
	struct sockaddr_in *in = (void *)address;

	*in = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = port, .sin_addr = {host}};
	return sizeof *in;
}

/*
 * By the cable's own addresses of IPv6 if both ends have them, otherwise by those of IPv4. Routes
 * avoid cables that have neither.
 */
static unsigned address_by_cable(const struct cable_route *route, const struct cable_info *info,
				 struct sockaddr_storage *address)
{
	const struct cable_port *here = port_called(mine, route->port), *there = port_called(info, route->its_port);
	struct sockaddr_in6 *in6 = (void *)address;

	if (both_have_link_addresses(here, there)) {
		*in6 = (struct sockaddr_in6){.sin6_family = AF_INET6,
					     .sin6_port = info->port,
					     .sin6_scope_id = if_nametoindex(route->port)};
		memcpy(&in6->sin6_addr, there->link_address, sizeof in6->sin6_addr);
		return sizeof *in6;
	}
	return address_4(address, there->address, info->port);
}

/*
 * By a network that both hosts are in; otherwise by any address that is not a cable's. 0: there is
 * none.
 */
static unsigned address_by_network(int pe, const struct cable_info *info, struct sockaddr_storage *address)
{
	uint32_t any = 0;

	for (int i = 0; i < info->ports; i++) {
		const struct cable_port *there = &info->at[i];

		if (!there->address || cable_hosts_is_cabled(pe, there->name))
			continue;
		any = any ? any : there->address;
		for (int j = 0; j < mine->ports; j++)
			if (mine->at[j].address && mine->at[j].mask != INADDR_BROADCAST &&
			    !((mine->at[j].address ^ there->address) & mine->at[j].mask))
				return address_4(address, there->address, info->port);
	}
	return any ? address_4(address, any, info->port) : 0;
}

unsigned cable_common_address(int pe, struct sockaddr_storage *address)
{
	struct cable_info *info = info_of(pe);
	unsigned length = address_by_network(pe, info, address);

	free(info);
	return length;
}

unsigned cable_address(const struct cable_route *route, struct sockaddr_storage *address, struct cable_gids *gids)
{
	/* Nodes that SHMEM_NODE_PES makes are all on this host. */
	const enum cable_way way = comms.node_size > 0 ? CABLE_WAY_HOST : route->way;
	struct cable_info *info = info_of(route->next);
	const struct cable_port *there = way == CABLE_WAY_CABLE ? port_called(info, route->its_port) : NULL;
	unsigned length = 0;

	*gids = there ? there->gids : (struct cable_gids){0};
	switch (way) {
	case CABLE_WAY_HOST: length = address_4(address, htonl(INADDR_LOOPBACK), info->port); break;
	case CABLE_WAY_CABLE: length = address_by_cable(route, info, address); break;
	case CABLE_WAY_OTHER: length = address_by_network(route->next, info, address); break;
	}
	free(info);
	if (!length)
		rte_die(NULL, "no cables and no common network lead to the host of PE %d", route->next);
	return length;
}

bool cable_has_rdma(const struct cable_route *route)
{
	struct cable_info *info = info_of(route->next);
	const struct cable_port *there = port_called(info, route->its_port);
	bool has = there && cable_net.verbs && cable_net.verbs->reaches(route->port, &there->gids);

	free(info);
	return has;
}

const char *cable_port_of(int fd)
{
	struct sockaddr_storage address = {0};
	const struct sockaddr_in6 *in6 = (const void *)&address;
	struct socket_address here;
	socklen_t size = sizeof address;

	if (getsockname(fd, (struct sockaddr *)&address, &size) || !sockets_read_address(&address, &here))
		return NULL;
	for (int i = 0; i < mine->ports; i++) {
		const struct cable_port *port = &mine->at[i];
		const bool of_cable =
			IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr)
				? in6->sin6_scope_id == if_nametoindex(port->name)
				: port->address && !memcmp(&here.ip[12], &port->address, sizeof port->address);

		if (of_cable && cable_hosts_is_cabled(comms.pe, port->name))
			return port->name;
	}
	return NULL;
}
