/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Networks that libfabric supports and UCX does not: Slingshot, EFA, Omni-Path; and TCP, for tests.
 * One endpoint for all threads, with one completion queue; a peer is an address, and a key for each
 * segment. All operations are the provider's one-sided ones: at the target, only the provider's
 * progress runs (ofi_server.c).
 */
#include "ofi_inside.h"

#include <stdlib.h>
#include <string.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include "comms/core/peers.h"
#include "rte/rte.h"
#include "rte/signal_handlers.h"
#include "rte/text/text.h"

struct ofi ofi = {.lock = PTHREAD_MUTEX_INITIALIZER, .server = {.event = -1, .wakeup = -1}};

/* What a PE publishes; its address follows. */
struct published {
	char provider[32];
	uint64_t base[COMMS_FIXED_SEGMENTS], key[COMMS_FIXED_SEGMENTS];
};

void ofi_check(long code, const char *call)
{
	const char *advice = code == -FI_ENOMEM ? text_memory_advice("") : "";

	/* What fails in the start fails on all PEs. */
	if (code != 0 && !comms.network)
		rte_die_together("shmem_init", "%s failed (libfabric, %s: %s)%s%s", call,
				 ofi.info->fabric_attr->prov_name, ofi_library.strerror((int)-code),
				 *advice ? "; " : "", advice);
	if (code != 0)
		rte_die(NULL, "%s failed (libfabric, %s: %s)%s%s", call, ofi.info->fabric_attr->prov_name,
			ofi_library.strerror((int)-code), *advice ? "; " : "", advice);
}

/* --- Start --- */

/* Loads libfabric, which a job on one node, whose PEs load and store, does without. */
static void choose_provider(void)
{
	char problem[OFI_PROBLEM];

	ofi.info = ofi_providers(problem);
	if (!ofi.info)
		rte_die_together("shmem_init", "SHMEM_PATHS names ofi: %s", problem);
}

static void open_queue(void)
{
	struct fi_cq_attr attr = {.size = OFI_REQUESTS, .format = FI_CQ_FORMAT_CONTEXT, .wait_obj = FI_WAIT_FD};

	ofi.server.event = -1;
	if (fi_cq_open(ofi.domain, &attr, &ofi.cq, NULL) == 0) {
		ofi_check(fi_control(&ofi.cq->fid, FI_GETWAIT, &ofi.server.event), "fi_control");
	} else {
		attr.wait_obj = FI_WAIT_NONE;
		ofi_check(fi_cq_open(ofi.domain, &attr, &ofi.cq, NULL), "fi_cq_open");
	}
}

static void open_endpoint(void)
{
	struct fi_av_attr attr = {.type = FI_AV_UNSPEC, .count = (size_t)comms.n_pes};

	ofi_check(ofi_library.fabric(ofi.info->fabric_attr, &ofi.fabric, NULL), "fi_fabric");
	ofi_check(fi_domain(ofi.fabric, ofi.info, &ofi.domain, NULL), "fi_domain");
	ofi_check(fi_av_open(ofi.domain, &attr, &ofi.av, NULL), "fi_av_open");
	open_queue();
	ofi_check(fi_endpoint(ofi.domain, ofi.info, &ofi.ep, NULL), "fi_endpoint");
	ofi_check(fi_ep_bind(ofi.ep, &ofi.av->fid, 0), "fi_ep_bind");
	ofi_check(fi_ep_bind(ofi.ep, &ofi.cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
	ofi_check(fi_enable(ofi.ep), "fi_enable");
}

void ofi_register(struct ofi_memory *memory, void *base, size_t bytes, const char *routine)
{
	static _Atomic uint64_t next_key;
	const int mode = ofi.info->domain_attr->mr_mode;
	const uint64_t access = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	int code = fi_mr_reg(ofi.domain, base, bytes, access, 0,
			     atomic_fetch_add_explicit(&next_key, 1, memory_order_relaxed), 0, &memory->mr, NULL);

	if (code != 0)
		rte_die(routine, "libfabric (%s) cannot register %zu bytes at %p (%s); is ulimit -l too low?",
			ofi.info->fabric_attr->prov_name, bytes, base, ofi_library.strerror(-code));
	if (mode & FI_MR_ENDPOINT) {
		ofi_check(fi_mr_bind(memory->mr, &ofi.ep->fid, 0), "fi_mr_bind");
		ofi_check(fi_mr_enable(memory->mr), "fi_mr_enable");
	}
	memory->base = mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)base : 0;
	memory->key = fi_mr_key(memory->mr);
}

static void ofi_make_requests(void)
{
	ofi.requests = calloc(OFI_REQUESTS, sizeof *ofi.requests);
	ofi.free = NULL;
	for (size_t i = 0; ofi.requests && i < OFI_REQUESTS; i++) {
		ofi.requests[i].next = ofi.free;
		ofi.free = &ofi.requests[i];
	}
	if (!ofi.requests)
		rte_die("shmem_init", "no memory");
}

void ofi_start(void)
{
	const struct fi_ep_attr *attr;
	struct rte_signals saved;
	bool ordered;

	choose_provider();
	attr = ofi.info->ep_attr;
	ordered = ofi.info->tx_attr->msg_order & FI_ORDER_WAW;
	atomic_store_explicit(&ofi.ending, false, memory_order_relaxed);
	/* A broken job leaves transfers that have not ended. */
	atomic_store_explicit(&ofi.under_way, 0, memory_order_relaxed);
	atomic_store_explicit(&ofi.main.pending, 0, memory_order_relaxed);
	ofi.most_bytes = attr->max_msg_size;
	ofi.ordered_bytes = !ordered					? 0
			    : attr->max_order_waw_size < ofi.most_bytes ? attr->max_order_waw_size
									: ofi.most_bytes;
	/* Providers start threads and may install handlers. */
	rte_signals_save(&saved);
	rte_signals_settle(&saved);
	open_endpoint();
	rte_signals_restore(&saved);
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++)
		if (comms.segments[i].size > 0)
			ofi_register(&ofi.memory[i], comms.segments[i].base, comms.segments[i].size, "shmem_init");
	ofi_make_requests();
}

void *ofi_describe(size_t *bytes)
{
	struct published *mine;
	size_t length = 0;

	fi_getname(&ofi.ep->fid, NULL, &length);
	*bytes = sizeof *mine + length;
	mine = calloc(1, *bytes);
	if (!mine)
		rte_die("shmem_init", "no memory");
	ofi_check(fi_getname(&ofi.ep->fid, mine + 1, &length), "fi_getname");
	strncpy(mine->provider, ofi.info->fabric_attr->prov_name, sizeof mine->provider - 1);
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++) {
		mine->base[i] = ofi.memory[i].base;
		mine->key[i] = ofi.memory[i].key;
	}
	return mine;
}

void ofi_connect(struct comms_peer *peer)
{
	size_t size;
	const struct published *theirs = peers_network_info(peer, &size);
	struct ofi_peer *driver;

	driver = calloc(1, sizeof *driver);
	if (!driver)
		rte_die(NULL, "no memory for the record of PE %d", peer->pe);
	if (strncmp(theirs->provider, ofi.info->fabric_attr->prov_name, sizeof theirs->provider - 1))
		rte_die(NULL,
			"PE %d uses libfabric's %.31s, and this PE %s; name one provider that all nodes have in FI_PROVIDER",
			peer->pe, theirs->provider, ofi.info->fabric_attr->prov_name);
	if (fi_av_insert(ofi.av, theirs + 1, 1, &driver->address, 0, NULL) != 1)
		rte_die(NULL, "libfabric (%s) does not take the address of PE %d", theirs->provider, peer->pe);
	memcpy(driver->base, theirs->base, sizeof driver->base);
	memcpy(driver->key, theirs->key, sizeof driver->key);
	atomic_store_explicit(&peer->driver, driver, memory_order_release);
}

/* --- Stop --- */

void ofi_forget(struct comms_peer *peer)
{
	free(ofi_peer(peer));
	atomic_store_explicit(&peer->driver, NULL, memory_order_relaxed);
}

void ofi_stop(void)
{
	struct fid *opened[] = {&ofi.ep->fid, &ofi.cq->fid, &ofi.av->fid, &ofi.domain->fid, &ofi.fabric->fid};

	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++)
		if (ofi.memory[i].mr)
			fi_close(&ofi.memory[i].mr->fid);
	memset(ofi.memory, 0, sizeof ofi.memory);
	for (size_t i = 0; i < sizeof opened / sizeof opened[0]; i++)
		fi_close(opened[i]);
	free(ofi.requests);
	ofi_library.freeinfo(ofi.info);
	ofi.info = NULL;
}
