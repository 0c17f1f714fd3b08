/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses UCX's network device. On a host with one network that is obvious, but UCX would also
 * listen on the loopback device, which no other host reaches. A host whose cables lead to single
 * other hosts has several. Such a host has one address that all others have a route to, on its own
 * device with a mask of 32 bits (usually a dummy device), and its ports may have addresses that few
 * hosts know. UCX takes the first device it finds.
 *
 * The choice is made only if nothing speaks against it: there is no other device with an address,
 * or exactly one such among them that is no tunnel; and no InfiniBand or RoCE, which the choice
 * would exclude.
 */
#include "ucx_device.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_network(const struct ifaddrs *entry)
{
	return entry->ifa_addr && entry->ifa_addr->sa_family == AF_INET && entry->ifa_netmask &&
	       (entry->ifa_flags & IFF_UP) && (entry->ifa_flags & IFF_RUNNING) && !(entry->ifa_flags & IFF_LOOPBACK);
}

static bool is_host_address(const struct ifaddrs *entry)
{
	const struct sockaddr_in *mask = (const void *)entry->ifa_netmask;

	return mask->sin_addr.s_addr == INADDR_BROADCAST && !(entry->ifa_flags & IFF_POINTOPOINT);
}

/* A 32-bit address beside others on one device is an alias, not the host's own. */
static bool is_only_address(const struct ifaddrs *all, const struct ifaddrs *entry)
{
	for (const struct ifaddrs *other = all; other; other = other->ifa_next)
		if (other != entry && is_network(other) && !strcmp(other->ifa_name, entry->ifa_name))
			return false;
	return true;
}

/* The first line of a file of an RDMA device; empty if there is none. */
static void read_fact(const char *device, const char *name, char *line, int size)
{
	char path[512];
	FILE *file;

	line[0] = '\0';
	snprintf(path, sizeof path, "/sys/class/infiniband/%s/%s", device, name);
	file = fopen(path, "r");
	if (!file)
		return;
	if (fgets(line, size, file))
		line[strcspn(line, "\n")] = '\0';
	fclose(file);
}

static bool is_device(const char *device)
{
	return device[0] != '.';
}

static bool is_roce_without_packet_types(const char *device)
{
	char layer[32], vendor[32];

	read_fact(device, "ports/1/link_layer", layer, sizeof layer);
	read_fact(device, "device/vendor", vendor, sizeof vendor);
	return is_device(device) && !strcmp(layer, "Ethernet") && strcmp(vendor, "0x15b3") != 0;
}

static bool has_rdma(bool (*wanted)(const char *device))
{
	DIR *folder = opendir("/sys/class/infiniband");
	struct dirent *entry;
	bool any = false;

	while (folder && !any && (entry = readdir(folder)))
		any = wanted(entry->d_name);
	if (folder)
		closedir(folder);
	return any;
}

bool device_has_rdma(void)
{
	return has_rdma(is_device);
}

bool device_has_roce_without_packet_types(void)
{
	return has_rdma(is_roce_without_packet_types);
}

/* Is it an address of another network that jobs could use? */
static bool is_elsewhere(const struct ifaddrs *entry, const char *device)
{
	const struct sockaddr_in6 *six = (const void *)entry->ifa_addr;

	if (is_network(entry))
		return strcmp(entry->ifa_name, device) != 0;
	return six && six->sin6_family == AF_INET6 && (entry->ifa_flags & IFF_UP) &&
	       !(entry->ifa_flags & IFF_LOOPBACK) && !IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) &&
	       strcmp(entry->ifa_name, device) != 0;
}

static bool is_only_network(const struct ifaddrs *all, const struct ifaddrs *entry)
{
	for (const struct ifaddrs *other = all; other; other = other->ifa_next)
		if (is_elsewhere(other, entry->ifa_name))
			return false;
	return true;
}

char *device_of_host(void)
{
	const struct ifaddrs *own = NULL, *only = NULL;
	struct ifaddrs *all;
	int owns = 0;
	char *name = NULL;

	if (device_has_rdma() || getifaddrs(&all))
		return NULL;
	for (const struct ifaddrs *entry = all; entry; entry = entry->ifa_next) {
		if (!is_network(entry))
			continue;
		if (is_only_network(all, entry))
			only = entry;
		if (is_host_address(entry) && is_only_address(all, entry)) {
			owns++;
			own = entry;
		}
	}
	if (only)
		name = strdup(only->ifa_name);
	else if (owns == 1)
		name = strdup(own->ifa_name);
	freeifaddrs(all);
	return name;
}
