/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path over cables: when jobs take it, and this host's ports that may have a cable, with their
 * neighbours as far as a shape file names them.
 */
#include "report.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comms/torus/file.h"
#include "rte/host/hosts.h"
#include "rte/host/ports.h"
#include "rte/host/rdma_ports.h"
#include "rte/host/torus_cache.h"
#include "rte/settings.h"
#include "rte/text/text.h"

enum { MOST_PORTS = 64, VALUE = 512 };

/* --- Neighbours --- */

static int this_host(const struct torus_file *file)
{
	for (int h = 0; h < file->hosts; h++)
		if (hosts_is_here(file->name[h]))
			return h;
	return -1;
}

static bool line_has_this_host(const char *line, const void *argument)
{
	struct torus_file file;
	bool has = torus_file_read_line(&file, line);

	(void)argument;
	if (has) {
		has = this_host(&file) >= 0;
		torus_file_free(&file);
	}
	return has;
}

/* The file of the setting, or what discover last found. Returns false if neither has this host. */
static bool read_shape(struct torus_file *file)
{
	const char *path = setting_text(SETTING_TORUS_FILE);
	char problem[TORUS_PROBLEM], *text;
	bool good;

	text = path[0] ? text_of_file(path, problem, sizeof problem) : torus_cache_search(line_has_this_host, NULL);
	good = text && (path[0] ? torus_file_read(file, text, problem) : torus_file_read_line(file, text));
	free(text);
	if (good && this_host(file) < 0) {
		torus_file_free(file);
		return false;
	}
	return good;
}

/* Where a cable is no network of its own, the directions of ports say where they lead. */
static int host_in_direction(const struct torus_file *file, int place, const char *port)
{
	for (int d = 0; d < 2 * file->shape.axes; d++) {
		int next = torus_neighbour(&file->shape, place, d);

		if (next < 0 || next == place || strcmp(torus_file_port(file, place, d), port) != 0)
			continue;
		for (int h = 0; h < file->hosts; h++)
			if (file->place[h] == next)
				return h;
	}
	return -1;
}

/* "to h1 eth2, "; "" if it is unknown */
static void neighbour_text(const struct torus_file *file, const char *port, char text[VALUE])
{
	int here = this_host(file), other;

	text[0] = '\0';
	for (int c = 0; c < file->cables; c++)
		for (int end = 0; end < 2; end++)
			if (file->cable[c].host[end] == here && !strcmp(file->cable[c].port[end], port)) {
				snprintf(text, VALUE, "to %.255s %s, ", file->name[file->cable[c].host[!end]],
					 file->cable[c].port[!end]);
				return;
			}
	other = file->cables ? -1 : host_in_direction(file, file->place[here], port);
	if (other >= 0)
		snprintf(text, VALUE, "to %.255s, ", file->name[other]);
}

/* --- Ports --- */

/* "fe80::1, "; "" if the port has none. */
static void link_local_text(const char *port, char text[INET6_ADDRSTRLEN + 2])
{
	struct ifaddrs *all;

	text[0] = '\0';
	if (getifaddrs(&all))
		return;
	for (struct ifaddrs *entry = all; entry && !text[0]; entry = entry->ifa_next) {
		const struct sockaddr_in6 *address = (const void *)entry->ifa_addr;

		if (!address || address->sin6_family != AF_INET6 || strcmp(entry->ifa_name, port) != 0 ||
		    !IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr))
			continue;
		inet_ntop(AF_INET6, &address->sin6_addr, text, INET6_ADDRSTRLEN);
		strcat(text, ", ");
	}
	freeifaddrs(all);
}

static void report_port(struct report *report, const struct port *port, const struct torus_file *file)
{
	char key[40], label[40], neighbour[VALUE] = "", address[INET6_ADDRSTRLEN + 2], rate[40] = "rate unknown",
				 rdma[128] = "no RDMA device";
	struct rdma_port device;

	if (file)
		neighbour_text(file, port->name, neighbour);
	link_local_text(port->name, address);
	if (port->speed > 0)
		snprintf(rate, sizeof rate, "%g Gbit/s", port->speed / 1000.0);
	if (rdma_port_find(RDMA_FOLDER, port->name, &device))
		snprintf(rdma, sizeof rdma, "RDMA device %s, GID %d", device.device, device.gid);
	snprintf(key, sizeof key, "port.%.15s", port->name);
	snprintf(label, sizeof label, "port %.15s", port->name);
	report_fact(report, key, label, "%s%s%s, %s", neighbour, address, rate, rdma);
}

static void report_ports(struct report *report)
{
	struct port port[MOST_PORTS];
	struct torus_file file;
	bool known;
	int count;

	if (!ports_cabled()) {
		report_fact(report, "ports", "ports", "none of this host looks like the end of a cable to another one");
		return;
	}
	known = read_shape(&file);
	count = ports_list(port, MOST_PORTS);
	for (int p = 0; p < count; p++)
		if (port[p].carrier && !port[p].network)
			report_port(report, &port[p], known ? &file : NULL);
	if (!known)
		report_note(report, "neighbours", "torusplan discover finds where they lead");
	else
		torus_file_free(&file);
}

/* May messages over cables go by RDMA? The library loads libibverbs in the same way. */
static void report_verbs(struct report *report)
{
	bool wanted = true;
	void *library;

	setting_bool(SETTING_CABLE_RDMA, &wanted);
	if (!HAVE_VERBS || !wanted) {
		report_fact(report, "rdma", "RDMA", "no: %s",
			    HAVE_VERBS ? "SHMEM_CABLE_RDMA=no" : "this build was configured without libibverbs");
		return;
	}
	library = dlopen(VERBS_FOLDER[0] ? VERBS_FOLDER "/libibverbs.so.1" : "libibverbs.so.1", RTLD_LAZY);
	report_fact(report, "rdma", "RDMA", "%s%s",
		    library ? "yes, by libibverbs, where both ports of a cable have a device" : "no: ",
		    library ? "" : dlerror());
	if (library)
		dlclose(library);
}

void report_cables(struct report *report)
{
	report_section(report, "cables", "Cables without forwarding");
	if (!strstr(setting_text(SETTING_PATHS), "cables"))
		report_fact(report, "path", "path", "could be used, but SHMEM_PATHS=%s leaves it out",
			    setting_text(SETTING_PATHS));
	else
		report_fact(report, "path", "path",
			    "yes, if the shape file has cable statements (torusplan discover writes them)");
	report_verbs(report);
	report_ports(report);
}
