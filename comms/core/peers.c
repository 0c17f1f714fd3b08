/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers: what every PE publishes about itself, and first contact.
 *
 * A peer's record is made once, under a lock, and then published by a release store into the table;
 * readers load with acquire and take no lock. After that only the network's part of a record
 * changes, which the network publishes in the same way.
 */
#include "peers.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comms/core/network.h"
#include "globals.h"
#include "memory.h"
#include "regions.h"
#include "rte/rte.h"

static pthread_mutex_t peers_connecting = PTHREAD_MUTEX_INITIALIZER;

/*
 * What a PE publishes. The network's part follows, then the torus text with its end. All PEs of a
 * job run the same library.
 */
struct peer_info {
	uint64_t magic;
	struct memory_handle memory[COMMS_FIXED_SEGMENTS];
	uint64_t base[COMMS_FIXED_SEGMENTS];
	uint64_t size[COMMS_FIXED_SEGMENTS];
	uint64_t layout;
	uint64_t agreement; /* settings that must be the same on all PEs: see counters_agreement */
	int32_t memory_group, memory_groups;
	uint64_t network_bytes;
	uint64_t torus_bytes;
};

/* Changes when struct peer_info or struct comms_system does. */
#define PEER_INFO_MAGIC 0x32316d6873726f74

/* Is the PE on this node, according to the allowed paths, SHMEM_NODE_PES and the network? */
static bool is_on_my_node(int pe)
{
	if (!comms.local_path)
		return pe == comms.pe;
	if (comms.node_size > 0 && pe / comms.node_size != comms.pe / comms.node_size)
		return false;
	if (comms.map && comms.map->node_of(pe) != comms.map->node_of(comms.pe))
		return false;
	return rte_is_local(pe);
}

static void count_node(void)
{
	comms.node_pes = malloc((size_t)rte.n_local * sizeof *comms.node_pes);
	if (!comms.node_pes)
		rte_die("shmem_init", "no memory");
	for (int i = 0; i < rte.n_local; i++) {
		int pe = rte.local_pes[i];

		if (!is_on_my_node(pe))
			continue;
		if (pe == comms.pe)
			comms.node_index = comms.n_node;
		comms.node_pes[comms.n_node++] = pe;
	}
}

void peers_start(void)
{
	count_node();
	comms.peers = malloc((size_t)rte.n_pes * sizeof *comms.peers);
	if (!comms.peers)
		rte_die("shmem_init", "no memory for a table of %d PEs", rte.n_pes);
	for (int pe = 0; pe < rte.n_pes; pe++)
		atomic_init(&comms.peers[pe], &comms.unconnected);
}

void peers_publish(uint64_t agreement, const char *torus)
{
	size_t network_bytes = 0, torus_bytes = torus ? strlen(torus) + 1 : 0;
	void *network_info = comms.network ? comms.network->describe(&network_bytes) : NULL;
	size_t size = sizeof(struct peer_info) + network_bytes + torus_bytes;
	struct peer_info *info = calloc(1, size);

	if (!info)
		rte_die("shmem_init", "no memory");
	info->magic = PEER_INFO_MAGIC;
	info->layout = globals.layout;
	info->agreement = agreement;
	info->memory_group = comms.memory_group;
	info->memory_groups = comms.memory_groups;
	info->network_bytes = network_bytes;
	info->torus_bytes = torus_bytes;
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++) {
		memory_describe(&comms.segments[i], &info->memory[i]);
		info->base[i] = (uint64_t)(uintptr_t)comms.segments[i].base;
		info->size[i] = comms.segments[i].size;
	}
	if (network_bytes)
		memcpy(info + 1, network_info, network_bytes);
	if (torus_bytes)
		memcpy((char *)(info + 1) + network_bytes, torus, torus_bytes);
	free(network_info);
	if (rte_exchange(info, size) != RTE_OK)
		rte_break(RTE_ERROR_OTHER, -1, "shmem_init",
			  "the PEs could not exchange their addresses (%s); did one of them end early?", rte.problem);
	free(info);
}

/* In a broken job, other memory stands for that of a PE which is gone. */
static void reach_locally(struct comms_peer *peer, const struct peer_info *info)
{
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++) {
		if (info && (info->memory[i].fd < 0 || (i == COMMS_GLOBALS && !peer->same_program)))
			continue;
		peer->reach[i].size = info ? info->size[i] : comms.segments[i].size;
		if (info)
			peer->reach[i].base = memory_map_peer(&info->memory[i], info->size[i], MEMORY_AT_END, peer->pe);
		else if (peer->reach[i].size > 0)
			peer->reach[i].base = memory_map_nobody(peer->reach[i].size);
	}
	peer->wakeup = &((struct comms_system *)peer->reach[COMMS_HEAP].base)->wakeup;
}

static void reach_self(struct comms_peer *peer)
{
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++)
		peer->reach[i] = (struct comms_reach){comms.segments[i].base, comms.segments[i].size};
	peer->wakeup = &comms.system->wakeup;
}

static void make_shortcut(const struct comms_peer *peer)
{
	struct comms_shortcut *shortcut = &comms.shortcuts[peer->pe % COMMS_SHORTCUTS];

	if (shortcut->sleepers || !peer->wakeup)
		return;
	shortcut->pe = peer->pe;
	shortcut->sleepers = &peer->wakeup->sleepers;
	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++) {
		shortcut->away[i] = (uintptr_t)peer->reach[i].base - (uintptr_t)comms.segments[i].base;
		if (peer->reach[i].size >= COMMS_SHORTCUT_BYTES)
			atomic_store_explicit(&shortcut->room[i], peer->reach[i].size - COMMS_SHORTCUT_BYTES + 1,
					      memory_order_release);
	}
}

static struct comms_peer *connect_peer(int pe)
{
	struct comms_peer *peer = calloc(1, sizeof *peer);
	size_t size = 0;
	struct peer_info *info = rte.connected ? rte_fetch(pe, &size) : NULL;

	if (!peer)
		rte_die(NULL, "no memory for the record of PE %d", pe);
	if (rte.connected && !info)
		rte_break(RTE_ERROR_LOST, pe, NULL, "cannot fetch what PE %d published (%s); has it ended?", pe,
			  rte.problem);
	peer->pe = pe;
	if (info && (size < sizeof *info || info->magic != PEER_INFO_MAGIC))
		rte_die(NULL, "PE %d runs another version of torushmem; build all programs of a job with one", pe);
	for (int i = 0; info && i < COMMS_FIXED_SEGMENTS; i++) {
		peer->remote_base[i] = (char *)(uintptr_t)info->base[i];
		peer->remote_size[i] = info->size[i];
	}
	peer->same_program = !info || (info->layout == globals.layout && info->size[COMMS_GLOBALS] == globals.size);
	peer->info = info;
	if (pe == comms.pe)
		reach_self(peer);
	else if (is_on_my_node(pe))
		reach_locally(peer, info);
	if (info && comms.network && comms.network->connect)
		comms.network->connect(peer);
	if (comms.shortcuts && comms.quick_pes > 0)
		make_shortcut(peer);
	return peer;
}

struct comms_peer *comms_connect(int pe)
{
	struct comms_peer *peer = comms_peer(pe);

	if (peer->connected)
		return peer;
	pthread_mutex_lock(&peers_connecting);
	peer = comms_peer(pe);
	if (!peer->connected) {
		peer = connect_peer(pe);
		peer->connected = true;
		atomic_store_explicit(&comms.peers[pe], peer, memory_order_release);
	}
	pthread_mutex_unlock(&peers_connecting);
	return peer;
}

static bool read_peer_info(int pe, struct peer_info *info)
{
	size_t size = 0;
	struct peer_info *theirs = rte_fetch(pe, &size);
	bool good = theirs && size >= sizeof *info && theirs->magic == PEER_INFO_MAGIC;

	if (good)
		*info = *theirs;
	free(theirs);
	return good;
}

int comms_memory_group(int pe, int *groups)
{
	const struct peer_info *known = comms_peer(pe)->info;
	struct peer_info info = {.memory_group = -1};

	if (pe == comms.pe)
		info = (struct peer_info){.memory_group = comms.memory_group, .memory_groups = comms.memory_groups};
	else if (known)
		info = *known;
	else if (!read_peer_info(pe, &info))
		rte_break(RTE_ERROR_LOST, pe, NULL, "cannot fetch what PE %d published (%s); has it ended?", pe,
			  rte.problem);
	*groups = info.memory_groups;
	return info.memory_group;
}

bool comms_can_connect(int pe)
{
	struct peer_info info;

	if (comms_peer(pe)->connected || !is_on_my_node(pe))
		return true;
	return read_peer_info(pe, &info) &&
	       (info.memory[COMMS_HEAP].fd < 0 || memory_is_there(&info.memory[COMMS_HEAP]));
}

bool peers_read_network_info(int pe, void *into, size_t bytes)
{
	size_t size = 0;
	struct peer_info *theirs = rte_fetch(pe, &size);
	bool good = theirs && size >= sizeof *theirs + bytes && theirs->magic == PEER_INFO_MAGIC &&
		    theirs->network_bytes >= bytes;

	if (good)
		memcpy(into, theirs + 1, bytes);
	free(theirs);
	return good;
}

char *peers_torus(void)
{
	size_t size = 0;
	struct peer_info *info = rte_fetch(0, &size);
	const char *text;
	char *torus = NULL;

	if (!info || size < sizeof *info || info->magic != PEER_INFO_MAGIC) {
		rte_break(RTE_ERROR_LOST, 0, NULL, "cannot fetch what PE 0 published (%s); has it ended?", rte.problem);
		free(info);
		return NULL;
	}
	text = (const char *)(info + 1) + info->network_bytes;
	if (info->torus_bytes > 0 && size >= sizeof *info + info->network_bytes + info->torus_bytes)
		torus = strdup(text);
	free(info);
	return torus;
}

const void *peers_network_info(const struct comms_peer *peer, size_t *size)
{
	const struct peer_info *info = peer->info;

	*size = info ? info->network_bytes : 0;
	return info ? info + 1 : NULL;
}

/* A process that has ended but has not been reaped has no program any more. */
static bool process_is_there(const struct memory_handle *handle)
{
	char path[64], program[8];

	if (handle->fd >= 0)
		return memory_is_there(handle);
	snprintf(path, sizeof path, "/proc/%d/exe", handle->pid);
	return readlink(path, program, sizeof program) >= 0 || errno != ENOENT;
}

const char *comms_process_in_words(int pe)
{
	struct peer_info info;

	if (!rte_is_local(pe) || !read_peer_info(pe, &info))
		return "this host cannot see whether its process still runs: check that host, and the network "
		       "in between";
	if (!memory_sees_processes())
		return "this host cannot see whether its process still runs, because /proc is not mounted";
	return process_is_there(&info.memory[COMMS_HEAP]) ? "its process still runs" : "its process has ended";
}

void comms_count_peers(uint64_t *peers, uint64_t *bytes)
{
	for (int pe = 0; pe < comms.n_pes; pe++) {
		const struct comms_peer *peer = comms_peer(pe);
		const struct peer_info *info = peer->info;

		if (peer == &comms.unconnected)
			continue;
		++*peers;
		*bytes += sizeof *peer + comms_regions_bytes(peer);
		*bytes += info ? sizeof *info + info->network_bytes + info->torus_bytes : 0;
	}
}

bool peers_memory(int pe, struct memory_handle memory[COMMS_FIXED_SEGMENTS])
{
	struct peer_info info;
	bool known = true;

	if (pe == comms.pe)
		for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++)
			memory_describe(&comms.segments[i], &memory[i]);
	else if ((known = read_peer_info(pe, &info)))
		memcpy(memory, info.memory, sizeof info.memory);
	return known;
}

bool peers_agreement(int pe, uint64_t *agreement)
{
	struct peer_info info;
	bool known = rte.connected && read_peer_info(pe, &info);

	if (known)
		*agreement = info.agreement;
	return known;
}

static void forget_peer(struct comms_peer *peer)
{
	for (int i = 0; peer->pe != comms.pe && i < COMMS_FIXED_SEGMENTS; i++)
		if (peer->reach[i].base)
			memory_unmap(peer->reach[i].base, peer->reach[i].size);
	comms_regions_forget(peer);
	if (comms.network && comms.network->forget)
		comms.network->forget(peer);
	free(peer->info);
	free(peer);
}

void peers_disconnect(void)
{
	for (int pe = 0; pe < comms.n_pes; pe++) {
		if (comms_peer(pe) != &comms.unconnected)
			forget_peer(comms_peer(pe));
		atomic_store_explicit(&comms.peers[pe], &comms.unconnected, memory_order_release);
	}
}

void peers_stop(void)
{
	free(comms.peers);
	free(comms.node_pes);
}
