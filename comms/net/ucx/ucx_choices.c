/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parameters that differ from UCX's defaults, unless the user sets UCX's own variable; and
 * consequences of what the user sets.
 */
#include "ucx_inside.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ucx_device.h"
#include "rte/host/variables.h"
#include "rte/rte.h"
#include "rte/settings.h"

static void choose_option(ucp_config_t *config, const char *name, const char *variable, const char *value)
{
	if (!getenv(variable) && ucp.config_modify(config, name, value) != UCS_OK)
		rte_debug("this UCX does not know %s=%s", variable, value);
}

/* May UCX use a transport whose name has this in it? */
static bool is_allowed(const char *transport)
{
	const char *transports = getenv("UCX_TLS");
	bool by_name = transports && strstr(transports, transport);
	bool left_out = transports && transports[0] == '^';

	return !transports || by_name != left_out || strstr(transports, "all");
}

/* Parameters that UCX reads from the environment only, and warns about if unused. */
static void choose_for_tcp(const char *variable, const char *value)
{
	if (!getenv(variable) && is_allowed("tcp"))
		rte_variable_set(variable, value);
}

/*
 * TCP sends in segments of 8 KiB by default; large puts are two to five times as fast with 256. A
 * pool of buffers, one each for sending and receiving, then grows by two and not by eight at a
 * time, which would be 4 MiB for the first message.
 */
static void choose_segments(void)
{
	if (getenv("UCX_TCP_TX_SEG_SIZE")) /* the others belong to it */
		return;
	choose_for_tcp("UCX_TCP_TX_SEG_SIZE", "256K");
	choose_for_tcp("UCX_TCP_RX_SEG_SIZE", "256K");
	choose_for_tcp("UCX_TCP_TX_BUFS_GROW", "2");
	choose_for_tcp("UCX_TCP_RX_BUFS_GROW", "2");
}

/*
 * UCX's ud, which rc uses to connect, drops packets that are not for its own address. It compares
 * an IPv4 address only if the completion says that the packet was IPv4. Devices that do not say so
 * would lose all packets to IPv4 addresses, and the job would end with "Endpoint timeout". Their
 * receivers have checked the address before.
 */
static void choose_address_check(void)
{
	const char *variable = "UCX_UD_VERBS_ETH_DGID_CHECK";

	if (!getenv(variable) && (is_allowed("ud") || is_allowed("rc") || is_allowed("ib")) &&
	    device_has_roce_without_packet_types())
		rte_variable_set(variable, "n");
}

/*
 * If all PEs are on this node, UCX opens no port to the outside; but RDMA does not work over the
 * loopback device, so where there is RDMA, UCX chooses. If the device is known, UCX need
 * not search for the one with the default route, for which it reads all routes some fifty times.
 */
static void choose_device(ucp_config_t *config)
{
	bool alone = rte.n_local == comms.n_pes && !device_has_rdma();
	char *device = alone ? strdup("lo") : device_of_host();

	if (!device)
		return;
	choose_option(config, "NET_DEVICES", "UCX_NET_DEVICES", device);
	if (!getenv("UCX_NET_DEVICES"))
		choose_for_tcp("UCX_TCP_PREFER_DEFAULT", "n");
	free(device);
}

/* Loading the InfiniBand drivers takes a sixth of UCX's start. */
static void choose_modules(void)
{
	if (!getenv("UCX_MODULES") && !getenv("UCX_TLS") && !device_has_rdma() &&
	    ucs.global_opts_set_value("MODULES", "^ib,rdmacm") != UCS_OK)
		rte_debug("this UCX does not know UCX_MODULES");
}

ucp_config_t *ucx_choices(void)
{
	ucp_config_t *config;

	choose_modules();
	choose_segments();
	choose_address_check();
	ucx_check(ucp.config_read(NULL, NULL, &config), "ucp_config_read");
	/*
	 * The library itself loads and stores memory of the node; UCX's access to it needs the
	 * owner's help.
	 */
	choose_option(config, "TLS", "UCX_TLS", "^sm");
	/*
	 * A thread that has lost its processor may hold the lock; a thread that spins for it uses
	 * up the time the holder needs.
	 */
	choose_option(config, "USE_MT_MUTEX", "UCX_USE_MT_MUTEX", "y");
	choose_device(config);
	return config;
}

/*
 * Does UCX_TLS name a transport other than these, or exclude some? Without it everything may be
 * used.
 */
static bool names_others_than(const char *const *transports, size_t n)
{
	char *list = strdup(getenv("UCX_TLS") ? getenv("UCX_TLS") : "all"), *rest = list;
	bool others = list && *list == '^';

	for (const char *word; !others && rest && (word = strsep(&rest, ","));) {
		others = true;
		for (size_t i = 0; i < n && others; i++)
			others = strcmp(word, transports[i]) != 0;
	}
	free(list);
	return others;
}

#define SHARED_MEMORY "self", "sm", "shm", "mm", "posix", "sysv", "xpmem", "cma", "knem"

/*
 * UCX's shared-memory transports cannot report a peer's failure, and refuse endpoints that ask for
 * it. They are used only if the user's UCX_TLS leaves nothing else.
 */
ucp_err_handling_mode_t ucx_failure_mode(void)
{
	static const char *const shared[] = {SHARED_MEMORY};

	return names_others_than(shared, sizeof shared / sizeof shared[0]) ? UCP_ERR_HANDLING_MODE_PEER
									   : UCP_ERR_HANDLING_MODE_NONE;
}

/*
 * This decides the speed, not whether the job works: without a NIC that carries them out, UCX's
 * puts and gets are messages, too.
 */
bool ucx_wants_rma(void)
{
	static const char *const software[] = {SHARED_MEMORY, "tcp"};
	int choice = setting_choice(SETTING_UCX_PROTOCOL);

	if (choice > 0)
		return choice == 2;
	return device_has_rdma() && names_others_than(software, sizeof software / sizeof software[0]);
}
