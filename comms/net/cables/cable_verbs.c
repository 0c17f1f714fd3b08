/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA devices of this host's cables. libibverbs is loaded if a port of a cable may have one, so
 * programs run where it is not installed. A device serves the cables at its ports and no others: a
 * frame leaves by the device of the cable that its route names.
 */
#include "cable_verbs.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "rte/rte.h"
#include "rte/settings.h"

enum { GIDS = 256, COMPLETIONS = 16, ROUNDS = 4 };

struct verbs_library verbs_library;

static struct {
	struct cable_verbs_port *port;
	int ports;
	struct cable_device *devices;
	int epoll; /* all devices, and what the rest of this network watches */
} verbs = {.epoll = -1};

static bool load_libibverbs(void)
{
	static const struct {
		const char *name;
		void *to;
	} wanted[] = {
		{"ibv_get_device_list", &verbs_library.get_device_list},
		{"ibv_free_device_list", &verbs_library.free_device_list},
		{"ibv_open_device", &verbs_library.open_device},
		{"ibv_close_device", &verbs_library.close_device},
		{"ibv_query_device", &verbs_library.query_device},
		{"ibv_query_port", &verbs_library.query_port},
		{"_ibv_query_gid_table", &verbs_library.query_gid_table},
		{"ibv_alloc_pd", &verbs_library.alloc_pd},
		{"ibv_dealloc_pd", &verbs_library.dealloc_pd},
		{"ibv_reg_mr", &verbs_library.reg_mr},
		{"ibv_dereg_mr", &verbs_library.dereg_mr},
		{"ibv_create_comp_channel", &verbs_library.create_comp_channel},
		{"ibv_destroy_comp_channel", &verbs_library.destroy_comp_channel},
		{"ibv_create_cq", &verbs_library.create_cq},
		{"ibv_destroy_cq", &verbs_library.destroy_cq},
		{"ibv_get_cq_event", &verbs_library.get_cq_event},
		{"ibv_ack_cq_events", &verbs_library.ack_cq_events},
		{"ibv_create_qp", &verbs_library.create_qp},
		{"ibv_modify_qp", &verbs_library.modify_qp},
		{"ibv_destroy_qp", &verbs_library.destroy_qp},
	};
	void *library = dlopen(VERBS_FOLDER[0] ? VERBS_FOLDER "/libibverbs.so.1" : "libibverbs.so.1", RTLD_NOW);
	bool complete = library != NULL;

	for (size_t i = 0; complete && i < sizeof wanted / sizeof wanted[0]; i++) {
		void *function = dlsym(library, wanted[i].name);

		memcpy(wanted[i].to, &function, sizeof function);
		complete = function != NULL;
	}
	if (!complete) {
		const char *text = dlerror();

		rte_debug("cables carry TCP, and this host has RDMA devices: libibverbs cannot be loaded (%s)",
			  text ? text : "it lacks functions");
	}
	return complete;
}

/* --- Ports --- */

const struct cable_verbs_port *cable_verbs_port(const char *name)
{
	for (int i = 0; i < verbs.ports; i++)
		if (!strcmp(verbs.port[i].name, name))
			return &verbs.port[i];
	return NULL;
}

static const struct cable_gids *verbs_gids(const char *name)
{
	const struct cable_verbs_port *port = cable_verbs_port(name);

	return port ? &port->gids : NULL;
}

static bool is_mapped(const uint8_t *gid)
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};

	return !memcmp(gid, mapped, sizeof mapped);
}

/* The one that the kernel makes of the port's MAC address: it finds the other end's by it. */
static bool is_of_link(const uint8_t *gid)
{
	return gid[0] == 0xfe && gid[1] == 0x80 && gid[11] == 0xff && gid[12] == 0xfe;
}

/* The record of a cable's port with this device, made if it is the first address. */
static struct cable_verbs_port *port_of(struct cable_device *device, const struct ibv_gid_entry *entry)
{
	struct ibv_port_attr attributes = {0};
	struct cable_verbs_port *port;
	char name[IF_NAMESIZE];

	if (!if_indextoname(entry->ndev_ifindex, name) || !cable_hosts_is_cabled(comms.pe, name) ||
	    verbs_library.query_port(device->context, (uint8_t)entry->port_num, (void *)&attributes) ||
	    attributes.state != IBV_PORT_ACTIVE)
		return NULL;
	for (int i = 0; i < verbs.ports; i++)
		if (!strcmp(verbs.port[i].name, name))
			return verbs.port[i].device == device ? &verbs.port[i] : NULL;
	port = realloc(verbs.port, (size_t)(verbs.ports + 1) * sizeof *port);
	if (!port)
		rte_die("shmem_init", "no memory for the RDMA devices of this host");
	verbs.port = port;
	port += verbs.ports++;
	*port = (struct cable_verbs_port){.device = device,
					  .number = (uint8_t)entry->port_num,
					  .mtu = attributes.active_mtu};
	memcpy(port->name, name, sizeof port->name);
	return port;
}

/* Returns whether a cable of this host ends at the device. */
static bool take_ports(struct cable_device *device)
{
	struct ibv_gid_entry *entry = calloc(GIDS, sizeof *entry);
	ssize_t entries = entry ? verbs_library.query_gid_table(device->context, entry, GIDS, 0, sizeof *entry) : 0;
	bool any = false;

	for (ssize_t i = 0; i < entries; i++) {
		const uint8_t *gid = entry[i].gid.raw;
		const int kind = is_mapped(gid) ? CABLE_GID_IPV4 : CABLE_GID_LINK;
		struct cable_verbs_port *port;

		if (entry[i].gid_type != IBV_GID_TYPE_ROCE_V2 || (kind == CABLE_GID_LINK && !is_of_link(gid)))
			continue;
		port = port_of(device, &entry[i]);
		if (!port || port->gids.gid[kind][0] || is_mapped(port->gids.gid[kind]))
			continue;
		memcpy(port->gids.gid[kind], gid, sizeof port->gids.gid[kind]);
		port->index[kind] = (uint8_t)entry[i].gid_index;
		any = true;
	}
	free(entry);
	return any;
}

/* --- Devices --- */

static void close_device(struct cable_device *device)
{
	cable_parts_free(&device->memory);
	if (device->queue)
		verbs_library.destroy_cq(device->queue);
	if (device->channel)
		verbs_library.destroy_comp_channel(device->channel);
	if (device->pd)
		verbs_library.dealloc_pd(device->pd);
	if (device->context)
		verbs_library.close_device(device->context);
	free(device);
}

/* Enough completions for all slots of queue pairs with all PEs, if the device has as many. */
static bool prepare_device(struct cable_device *device)
{
	struct ibv_device_attr attributes;
	const long long wanted = 4LL * CABLE_SLOTS * comms.n_pes;

	if (verbs_library.query_device(device->context, &attributes))
		return false;
	device->unused = wanted < attributes.max_cqe ? (int)wanted : attributes.max_cqe;
	device->pd = verbs_library.alloc_pd(device->context);
	device->channel = verbs_library.create_comp_channel(device->context);
	if (!device->pd || !device->channel)
		return false;
	device->queue = verbs_library.create_cq(device->context, device->unused, NULL, device->channel, 0);
	return device->queue && fcntl(device->channel->fd, F_SETFL, O_NONBLOCK) == 0 &&
	       epoll_ctl(verbs.epoll, EPOLL_CTL_ADD, device->channel->fd, &(struct epoll_event){.events = EPOLLIN}) ==
		       0;
}

static void forget_ports(const struct cable_device *device)
{
	while (verbs.ports > 0 && verbs.port[verbs.ports - 1].device == device)
		verbs.ports--;
}

static void open_device(struct ibv_device *known)
{
	struct cable_device *device = calloc(1, sizeof *device);

	if (!device)
		rte_die("shmem_init", "no memory for the RDMA devices of this host");
	device->context = verbs_library.open_device(known);
	if (!device->context || !take_ports(device)) {
		close_device(device);
		return;
	}
	if (!prepare_device(device)) {
		rte_debug("the RDMA device %s is not used (%s)", known->name, strerror(errno));
		forget_ports(device);
		close_device(device);
		return;
	}
	device->next = verbs.devices;
	verbs.devices = device;
}

static bool make_epoll(void)
{
	verbs.epoll = epoll_create1(EPOLL_CLOEXEC);
	return verbs.epoll >= 0 &&
	       epoll_ctl(verbs.epoll, EPOLL_CTL_ADD, cable_net.epoll, &(struct epoll_event){.events = EPOLLIN}) == 0;
}

static void verbs_stop(void)
{
	while (verbs.devices) {
		struct cable_device *next = verbs.devices->next;

		close_device(verbs.devices);
		verbs.devices = next;
	}
	free(verbs.port);
	verbs.port = NULL;
	verbs.ports = 0;
	close(verbs.epoll);
	verbs.epoll = -1;
}

/* Nodes that SHMEM_NODE_PES makes have no cables. */
static int verbs_start(void)
{
	struct ibv_device **list;
	bool wanted = true;

	setting_bool(SETTING_CABLE_RDMA, &wanted);
	if (!wanted || comms.node_size > 0 || cable_hosts_longest() == 0 ||
	    access("/sys/class/infiniband", F_OK) != 0 || !load_libibverbs() || !make_epoll())
		return -1;
	list = verbs_library.get_device_list(NULL);
	for (int i = 0; list && list[i]; i++)
		open_device(list[i]);
	if (list)
		verbs_library.free_device_list(list);
	if (!verbs.devices)
		verbs_stop();
	return verbs.epoll;
}

/* --- Completions --- */

static bool poll_device(struct cable_device *device)
{
	struct ibv_wc done[COMPLETIONS];
	int n = COMPLETIONS;
	bool any = false;

	for (int round = 0; round < ROUNDS && n == COMPLETIONS; round++) {
		n = ibv_poll_cq(device->queue, COMPLETIONS, done);
		for (int i = 0; i < n; i++)
			cable_rdma_complete((struct cable_rdma *)(uintptr_t)done[i].wr_id, &done[i]);
		any = any || n > 0;
	}
	return any;
}

static bool verbs_work(void)
{
	bool any = false;

	for (struct cable_device *device = verbs.devices; device; device = device->next)
		any = poll_device(device) || any;
	return any;
}

static void ask_for_report(struct cable_device *device)
{
	struct ibv_cq *queue;
	void *context;

	while (!verbs_library.get_cq_event(device->channel, &queue, &context))
		verbs_library.ack_cq_events(queue, 1);
	ibv_req_notify_cq(device->queue, 0);
}

/*
 * Asks devices to report the next completion; one that came before that would not be reported. No
 * other function takes reports: a thread that polls would take them away from the server, which
 * sleeps until it gets one.
 */
static bool verbs_may_sleep(void)
{
	bool any;

	pthread_mutex_lock(&cable_net.lock);
	for (struct cable_device *device = verbs.devices; device; device = device->next)
		ask_for_report(device);
	any = verbs_work();
	pthread_mutex_unlock(&cable_net.lock);
	return !any;
}

const struct cable_verbs cable_verbs = {
	.start = verbs_start,
	.stop = verbs_stop,
	.gids = verbs_gids,
	.reaches = cable_rdma_reaches,
	.offer = cable_rdma_offer,
	.begin = cable_rdma_begin,
	.accept = cable_rdma_accept,
	.free = cable_rdma_free,
	.has_room = cable_rdma_has_room,
	.send = cable_rdma_send,
	.add_room = cable_rdma_add_room,
	.add_sent = cable_rdma_add_sent,
	.give_key = cable_memory_give_key,
	.take_key = cable_memory_take_key,
	.work = verbs_work,
	.may_sleep = verbs_may_sleep,
};
