/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of regions, and what peers show of theirs: regions.h. */
#include "regions.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "awaited.h"
#include "memory.h"
#include "network.h"
#include "rte/rte.h"

static pthread_mutex_t regions_lock = PTHREAD_MUTEX_INITIALIZER;

/* The network's handles of this PE's regions. */
static void *region_handle[COMMS_REGIONS];

static int region_index(enum comms_segment_id segment)
{
	return (int)segment - COMMS_FIXED_SEGMENTS;
}

const char *comms_segment_name(enum comms_segment_id segment)
{
	static const char *const names[] = {"symmetric heap",
					    "global data",
					    "heap 1 of shmemx_heap_create_in",
					    "heap 2 of shmemx_heap_create_in",
					    "heap 3 of shmemx_heap_create_in",
					    "heap 4 of shmemx_heap_create_in",
					    "heap 5 of shmemx_heap_create_in",
					    "heap 6 of shmemx_heap_create_in"};

	_Static_assert(sizeof names / sizeof *names == COMMS_MOST_SEGMENTS, "each has one");
	if (comms.segments[segment].kind == COMMS_KIND_DEVICE)
		return "heap of a device";
	return names[segment];
}

/* --- A peer's regions --- */

static struct comms_region_shown read_shown(struct comms_peer *peer, enum comms_segment_id segment)
{
	struct comms_region_shown *mine = &comms.system->regions[region_index(segment)], shown = *mine;
	size_t offset = (size_t)((char *)mine - comms.segments[COMMS_HEAP].base);
	const struct comms_place place = {peer, COMMS_HEAP, offset};
	struct comms_awaited before = comms_awaited;

	if (peer->reach[COMMS_HEAP].size > 0) {
		memcpy(&shown, peer->reach[COMMS_HEAP].base + offset, sizeof shown);
	} else {
		comms_awaited = (struct comms_awaited){before.routine, peer->pe};
		comms.network->get(NULL, &place, &shown, sizeof shown, false);
		comms_awaited = before;
	}
	if (shown.serial != mine->serial)
		rte_die(NULL,
			"PE %d has no region with the number of this PE's; create and destroy heaps on all PEs in the same order",
			peer->pe);
	return shown;
}

static void reach_region(struct comms_region *region, const struct comms_region_shown *shown, int pe)
{
	const struct memory_handle handle = {shown->pid, shown->fd, shown->device, shown->inode};

	region->reach = (struct comms_reach){NULL, 0};
	if (shown->fd < 0)
		return;
	region->reach.base = memory_map_peer(&handle, shown->size, (int64_t)shown->offset, pe);
	region->reach.size = shown->size;
}

static void learn_region(struct comms_peer *peer, enum comms_segment_id segment, struct comms_region *region,
			 const struct comms_region_shown *shown)
{
	region->remote = (struct comms_reach){(char *)(uintptr_t)shown->base, shown->size};
	memcpy(region->network, shown->network, sizeof region->network);
	if (peer->pe == comms.pe)
		region->reach = (struct comms_reach){comms.segments[segment].base, comms.segments[segment].size};
	else if (peer->reach[COMMS_HEAP].size > 0)
		reach_region(region, shown, peer->pe);
	atomic_store_explicit(&region->known, true, memory_order_release);
}

static struct comms_region *records_of(struct comms_peer *peer)
{
	struct comms_region *records = atomic_load_explicit(&peer->regions, memory_order_relaxed);

	if (records)
		return records;
	records = calloc(COMMS_REGIONS, sizeof *records);
	if (!records)
		rte_die(NULL, "no memory for the regions of PE %d", peer->pe);
	atomic_store_explicit(&peer->regions, records, memory_order_release);
	return records;
}

/* Reads without the lock, since a get may wait; if two threads do, one takes the other's record. */
const struct comms_region *comms_region_of(struct comms_peer *peer, enum comms_segment_id segment)
{
	struct comms_region *records = atomic_load_explicit(&peer->regions, memory_order_acquire), *region;
	struct comms_region_shown shown;

	region = records ? &records[region_index(segment)] : NULL;
	if (region && atomic_load_explicit(&region->known, memory_order_acquire))
		return region;
	shown = read_shown(peer, segment);
	pthread_mutex_lock(&regions_lock);
	region = &records_of(peer)[region_index(segment)];
	if (!atomic_load_explicit(&region->known, memory_order_relaxed))
		learn_region(peer, segment, region, &shown);
	pthread_mutex_unlock(&regions_lock);
	return region;
}

void *comms_reach_any(const void *address, size_t bytes, int pe, struct comms_peer **peer)
{
	enum comms_segment_id segment = comms_find_segment(address);
	struct comms_reach reach;
	size_t offset;

	*peer = comms_connect(pe);
	if (segment == COMMS_NO_SEGMENT)
		return NULL;
	reach = comms_segment_reach(*peer, segment);
	offset = (size_t)((const char *)address - comms.segments[segment].base);
	return offset < reach.size && bytes <= reach.size - offset ? reach.base + offset : NULL;
}

enum comms_segment_id comms_region_at(const struct comms_peer *peer, uintptr_t address)
{
	const struct comms_region *records = atomic_load_explicit(&peer->regions, memory_order_acquire);

	for (int i = 0; records && i < COMMS_REGIONS; i++)
		if (atomic_load_explicit(&records[i].known, memory_order_acquire) &&
		    address - (uintptr_t)records[i].reach.base < records[i].reach.size)
			return (enum comms_segment_id)(COMMS_FIXED_SEGMENTS + i);
	return COMMS_NO_SEGMENT;
}

static bool system_has_file(const struct comms_system *system, uint64_t device, uint64_t inode)
{
	unsigned in_use = atomic_load_explicit(&comms.regions, memory_order_acquire);

	for (int i = 0; i < COMMS_REGIONS; i++) {
		const struct comms_region_shown *shown = &system->regions[i];

		if (in_use >> (i + COMMS_FIXED_SEGMENTS) & 1 && shown->fd >= 0 && shown->device == device &&
		    shown->inode == inode)
			return true;
	}
	return false;
}

bool comms_region_has_file(uint64_t device, uint64_t inode)
{
	for (int i = 0; i < comms.n_node; i++) {
		const struct comms_reach heap = comms_peer(comms.node_pes[i])->reach[COMMS_HEAP];

		if (heap.base && system_has_file((const struct comms_system *)(void *)heap.base, device, inode))
			return true;
	}
	return false;
}

static void forget_region(const struct comms_peer *peer, struct comms_region *region)
{
	if (!atomic_load_explicit(&region->known, memory_order_relaxed))
		return;
	if (peer->pe != comms.pe && region->reach.base)
		memory_unmap(region->reach.base, region->reach.size);
	atomic_store_explicit(&region->known, false, memory_order_relaxed);
}

void comms_regions_forget(struct comms_peer *peer)
{
	struct comms_region *records = atomic_load_explicit(&peer->regions, memory_order_relaxed);

	for (int i = 0; records && i < COMMS_REGIONS; i++)
		forget_region(peer, &records[i]);
	free(records);
	atomic_store_explicit(&peer->regions, NULL, memory_order_relaxed);
}

size_t comms_regions_bytes(const struct comms_peer *peer)
{
	struct comms_region *records = atomic_load_explicit(&peer->regions, memory_order_relaxed);

	return records ? COMMS_REGIONS * sizeof *records : 0;
}

/* --- This PE's --- */

static struct comms_buffer region_buffer(const struct comms_region_shown *shown)
{
	struct comms_buffer buffer = {.magic = COMMS_BUFFER_MAGIC, .pe = comms.pe, .process = shown->pid};

	buffer.base = shown->base;
	buffer.size = shown->size;
	memcpy(buffer.network, shown->network, sizeof buffer.network);
	return buffer;
}

/* A device's memory is another matter: comms/gpu. */
static void share_region(int number, struct comms_region_shown *shown, const char *routine)
{
	struct comms_buffer buffer = region_buffer(shown);

	_Static_assert(sizeof shown->network == sizeof buffer.network, "what share writes fits");
	if (!comms.network || comms.segments[number].kind != COMMS_KIND_BROUGHT)
		return;
	region_handle[number - COMMS_FIXED_SEGMENTS] = comms.network->buffers->share(&buffer, routine);
	memcpy(shown->network, buffer.network, sizeof shown->network);
}

static void unshare_region(enum comms_segment_id segment)
{
	struct comms_buffer buffer = region_buffer(&comms.system->regions[region_index(segment)]);

	if (comms.network && comms.segments[segment].kind == COMMS_KIND_BROUGHT)
		comms.network->buffers->unshare(&buffer, region_handle[region_index(segment)]);
}

static void show_region(struct comms_region_shown *shown, const struct comms_segment *segment, uint64_t offset)
{
	struct memory_handle handle;

	memory_describe(segment, &handle);
	*shown = (struct comms_region_shown){.serial = shown->serial,
					     .base = (uint64_t)(uintptr_t)segment->base,
					     .size = segment->size,
					     .device = handle.device,
					     .inode = handle.inode,
					     .offset = offset,
					     .pid = handle.pid,
					     .fd = handle.fd};
}

enum comms_segment_id comms_region_add(const struct comms_segment *segment, uint64_t offset, const char *routine)
{
	unsigned in_use = atomic_load_explicit(&comms.regions, memory_order_relaxed);
	int number = COMMS_FIXED_SEGMENTS;
	struct comms_region_shown *shown;

	while (number < COMMS_MOST_SEGMENTS && in_use >> number & 1)
		number++;
	if (number == COMMS_MOST_SEGMENTS)
		return COMMS_NO_SEGMENT;
	comms.segments[number] = *segment;
	shown = &comms.system->regions[number - COMMS_FIXED_SEGMENTS];
	shown->serial++;
	show_region(shown, segment, offset);
	share_region(number, shown, routine);
	atomic_store_explicit(&comms.regions, in_use | 1U << number, memory_order_release);
	return (enum comms_segment_id)number;
}

void comms_region_remove(enum comms_segment_id segment)
{
	atomic_fetch_and_explicit(&comms.regions, ~(1U << segment), memory_order_relaxed);
	unshare_region(segment);
	for (int pe = 0; pe < comms.n_pes; pe++) {
		struct comms_peer *peer = comms_peer(pe);
		struct comms_region *records = atomic_load_explicit(&peer->regions, memory_order_relaxed);

		if (records)
			forget_region(peer, &records[region_index(segment)]);
	}
}
