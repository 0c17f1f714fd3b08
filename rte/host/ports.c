/* SPDX-License-Identifier: BSD-3-Clause */
#include "ports.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_PORTS 64
/* In /proc/net/if_inet6: the kernel is checking that no other host has the address. */
#define TENTATIVE 0x40
#define OF_LINK 0x20

static bool port_has(const char *name, const char *what)
{
	char path[80];

	snprintf(path, sizeof path, "/sys/class/net/%s/%s", name, what);
	return access(path, F_OK) == 0;
}

static bool may_have_cable(const struct ifaddrs *entry)
{
	const struct sockaddr_ll *link = (const void *)entry->ifa_addr;

	if (!link || link->sll_family != AF_PACKET)
		return false;
	if (entry->ifa_flags & (IFF_LOOPBACK | IFF_POINTOPOINT | IFF_NOARP))
		return false;
	if (link->sll_hatype != ARPHRD_ETHER && link->sll_hatype != ARPHRD_INFINIBAND)
		return false;
	return !port_has(entry->ifa_name, "master") && !port_has(entry->ifa_name, "bridge") &&
	       !port_has(entry->ifa_name, "bonding");
}

static int read_speed(const char *name)
{
	char path[80];
	int speed = 0;
	FILE *file;

	snprintf(path, sizeof path, "/sys/class/net/%s/speed", name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%d", &speed) != 1 || speed < 0)
		speed = 0;
	fclose(file);
	return speed;
}

static void fill_port(struct port *port, const struct ifaddrs *entry)
{
	const struct sockaddr_ll *link = (const void *)entry->ifa_addr;

	memset(port, 0, sizeof *port);
	snprintf(port->name, sizeof port->name, "%s", entry->ifa_name);
	port->index = (unsigned)link->sll_ifindex;
	snprintf(port->hardware, sizeof port->hardware, "%02x:%02x:%02x:%02x:%02x:%02x", link->sll_addr[0],
		 link->sll_addr[1], link->sll_addr[2], link->sll_addr[3], link->sll_addr[4], link->sll_addr[5]);
	port->infiniband = link->sll_hatype == ARPHRD_INFINIBAND;
	port->carrier = (entry->ifa_flags & IFF_UP) && (entry->ifa_flags & IFF_RUNNING);
}

static struct port *port_called(struct port *port, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(port[i].name, name))
			return &port[i];
	return NULL;
}

/*
 * Cables use networks of up to four addresses, or link-local addresses (169.254.0.0/16), whose mask
 * says nothing.
 */
static bool is_network(const struct ifaddrs *entry)
{
	const struct sockaddr_in *mask = (const void *)entry->ifa_netmask, *address = (const void *)entry->ifa_addr;

	return mask && ntohl(address->sin_addr.s_addr) >> 16 != 0xa9fe &&
	       (~ntohl(mask->sin_addr.s_addr) & UINT32_MAX) > 3;
}

static int list_ports(struct port *port, int most)
{
	struct ifaddrs *all, *entry;
	int count = 0;

	if (getifaddrs(&all))
		return 0;
	for (entry = all; entry && count < most; entry = entry->ifa_next)
		if (may_have_cable(entry))
			fill_port(&port[count++], entry);
	for (entry = all; entry; entry = entry->ifa_next) {
		bool is_4 = entry->ifa_addr && entry->ifa_addr->sa_family == AF_INET;
		struct port *of = is_4 ? port_called(port, count, entry->ifa_name) : NULL;

		if (!of)
			continue;
		of->address = true;
		of->network = of->network || is_network(entry);
	}
	freeifaddrs(all);
	return count;
}

static void read_link_addresses(struct port *port, int count)
{
	FILE *file = fopen("/proc/net/if_inet6", "re");
	unsigned index, prefix, scope, flags;
	char name[IF_NAMESIZE];

	while (file && fscanf(file, "%*s %x %x %x %x %15s", &index, &prefix, &scope, &flags, name) == 5) {
		struct port *of = scope == OF_LINK ? port_called(port, count, name) : NULL;

		if (of && (flags & TENTATIVE))
			of->waits = true;
		else if (of)
			of->can_probe = true;
	}
	if (file)
		fclose(file);
}

/* Reads a line with one number; returns fallback if it cannot. */
static int read_number(const char *name, const char *file_name, int fallback)
{
	char path[IF_NAMESIZE + 64];
	int number;
	FILE *file;

	snprintf(path, sizeof path, "/proc/sys/net/ipv6/conf/%s/%s", name, file_name);
	file = fopen(path, "re");
	if (!file)
		return fallback;
	if (fscanf(file, "%d", &number) != 1)
		number = fallback;
	fclose(file);
	return number;
}

/*
 * The kernel assigns link-local addresses a moment after the carrier appears, unless a setting
 * forbids it.
 */
static bool will_have_address(const char *name)
{
	return read_number(name, "disable_ipv6", 1) == 0 && read_number(name, "addr_gen_mode", 1) != 1;
}

int ports_list(struct port *port, int most)
{
	int count = list_ports(port, most);

	for (int i = 0; i < count; i++)
		port[i].speed = port[i].carrier ? read_speed(port[i].name) : 0;
	read_link_addresses(port, count);
	for (int i = 0; i < count; i++)
		port[i].waits = port[i].waits || (!port[i].can_probe && will_have_address(port[i].name));
	return count;
}

bool ports_cabled(void)
{
	struct port port[MOST_PORTS];
	int count = list_ports(port, MOST_PORTS), cabled = 0, ethernet = 0, networks = 0;

	for (int i = 0; i < count; i++) {
		cabled += port[i].carrier && !port[i].network;
		ethernet += port[i].carrier && !port[i].network && !port[i].infiniband;
		networks += port[i].carrier && port[i].network;
	}
	return cabled >= 2 || (ethernet == 1 && networks > 0);
}

/* --- State that changes with cables --- */

uint64_t ports_hash(uint64_t so_far, const char *text)
{
	for (const char *c = text; *c; c++)
		so_far = (so_far ^ (unsigned char)*c) * 1099511628211u;
	return (so_far ^ '\n') * 1099511628211u;
}

static void read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "re");

	if (!file || !fgets(line, size, file))
		line[0] = '\0';
	if (file)
		fclose(file);
}

static uint64_t hash_file(uint64_t so_far, const char *path)
{
	char line[1024];

	read_line(path, line, sizeof line);
	return ports_hash(so_far, line);
}

/*
 * The 22nd word: the start time of the first process. The program's name before it, in brackets,
 * may contain blanks.
 */
static uint64_t hash_start(uint64_t so_far)
{
	char line[1024], *word;

	read_line("/proc/1/stat", line, sizeof line);
	word = strrchr(line, ')');
	for (int i = 2; word && i < 22; i++)
		word = strchr(word + 1, ' ');
	if (word)
		word[1 + strcspn(word + 1, " ")] = '\0';
	return ports_hash(so_far, word ? word : "");
}

uint64_t ports_state(void)
{
	struct port port[MOST_PORTS];
	int ports = list_ports(port, MOST_PORTS);
	uint64_t state = hash_start(hash_file(PORTS_NO_STATE, "/proc/sys/kernel/random/boot_id"));

	state = hash_file(state, "/proc/sys/net/ipv4/ip_forward");
	for (int p = 0; p < ports; p++) {
		char path[IF_NAMESIZE + 40];

		state = ports_hash(ports_hash(state, port[p].name), port[p].hardware);
		snprintf(path, sizeof path, "/sys/class/net/%.15s/carrier_changes", port[p].name);
		state = hash_file(state, path);
	}
	return state;
}
