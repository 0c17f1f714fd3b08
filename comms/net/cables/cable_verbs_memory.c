/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that RDMA reads and writes where it is. Nothing is registered at the start: a heap may be
 * larger than what a process may pin. A PE registers a part of a segment when a neighbour asks for
 * its key, or when it sends from there; a link keeps the keys that it has got. Until a key is here,
 * and if there is none, data goes through the slots.
 */
#include "cable_verbs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rte/rte.h"

/* Parts begin at multiples of this; their pages are pinned. */
#define PART ((uint64_t)16 << 20)

/* --- Sorted lists of parts --- */

static int first_behind(const struct cable_parts *parts, uint64_t address)
{
	int low = 0, high = parts->count;

	while (low < high) {
		int middle = (low + high) / 2;

		if (parts->part[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct cable_part *find_part(const struct cable_parts *parts, uint64_t address)
{
	int i = first_behind(parts, address);

	return i < parts->count && parts->part[i].begin <= address ? &parts->part[i] : NULL;
}

static const struct cable_part *add_part(struct cable_parts *parts, const struct cable_part *part)
{
	int i = first_behind(parts, part->begin);
	struct cable_part *all = realloc(parts->part, (size_t)(parts->count + 1) * sizeof *all);

	if (!all)
		rte_die(NULL, "no memory for the keys of RDMA");
	memmove(&all[i + 1], &all[i], (size_t)(parts->count - i) * sizeof *all);
	all[i] = *part;
	parts->part = all;
	parts->count++;
	return &all[i];
}

void cable_parts_free(struct cable_parts *parts)
{
	for (int i = 0; i < parts->count; i++)
		if (parts->part[i].memory)
			verbs_library.dereg_mr(parts->part[i].memory);
	free(parts->part);
	*parts = (struct cable_parts){0};
}

/* --- This PE's memory --- */

/* The part around an address: in its segment, or between the segments. */
static struct cable_part part_around(uint64_t address)
{
	struct cable_part part = {.begin = address & ~(PART - 1), .end = (address & ~(PART - 1)) + PART};

	for (int i = 0; i < COMMS_FIXED_SEGMENTS; i++) {
		const uint64_t bounds[] = {(uintptr_t)comms.segments[i].base,
					   (uintptr_t)comms.segments[i].base + comms.segments[i].size};

		for (int side = 0; side < 2; side++) {
			if (bounds[side] <= address && bounds[side] > part.begin)
				part.begin = bounds[side];
			if (bounds[side] > address && bounds[side] < part.end)
				part.end = bounds[side];
		}
	}
	return part;
}

/* Registers it, if it is in the heap or global data. */
static void register_part(struct cable_device *device, struct cable_part *part)
{
	void *begin = (void *)(uintptr_t)part->begin;
	const enum comms_segment_id segment = comms_find_segment(begin);

	/*
	 * A fork moves pinned pages, unless they are shared memory. A region may end before the
	 * link does, which keeps its keys, so regions are not registered.
	 */
	if (device->full || segment >= COMMS_FIXED_SEGMENTS || !comms_shared(segment))
		return;
	part->memory = verbs_library.reg_mr(device->pd, begin, part->end - part->begin,
					    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	part->usable = part->memory != NULL;
	if (part->usable)
		return;
	device->full = true;
	rte_debug("%s registers no more memory (%s; ulimit -l limits it): long puts and gets are copied",
		  device->context->device->name, strerror(errno));
}

const struct cable_part *cable_memory_part(struct cable_device *device, uint64_t address)
{
	const struct cable_part *found = find_part(&device->memory, address);
	struct cable_part part;

	if (found)
		return found;
	part = part_around(address);
	register_part(device, &part);
	return add_part(&device->memory, &part);
}

void cable_memory_give_key(const struct cable_arrival *arrival)
{
	const struct cable_header *asked = &arrival->header;
	const struct cable_part *part = cable_memory_part(arrival->rdma->device, asked->there);
	struct cable_message *answer = cable_message_new(CABLE_KEY, arrival->pe, 0);

	answer->fate = CABLE_FATE_FREED;
	answer->header.token = asked->token;
	answer->header.there = part->begin;
	answer->header.value = part->end;
	answer->header.op = part->usable;
	answer->header.compare = part->usable ? part->memory->rkey : 0;
	cable_send(cable_flow_to(arrival->pe, 0), answer);
}

/* --- The neighbour's --- */

const struct cable_part *cable_memory_key(struct cable_rdma *rdma, uint64_t address)
{
	const struct cable_part *part = find_part(&rdma->keys, address);

	if (part)
		return part->usable ? part : NULL;
	if (!rdma->asking)
		cable_rdma_ask(rdma, address);
	rdma->asking = true;
	return NULL;
}

static struct cable_rdma *asking_end(uint64_t token)
{
	for (int i = 0; i < 2 * comms.n_pes; i++)
		if (cable_net.links[i] && (uintptr_t)cable_net.links[i]->rdma == token)
			return cable_net.links[i]->rdma;
	return NULL;
}

void cable_memory_take_key(const struct cable_header *header)
{
	const struct cable_part part = {.begin = header->there,
					.end = header->value,
					.key = (uint32_t)header->compare,
					.usable = header->op};
	struct cable_rdma *rdma = asking_end(header->token);

	if (!rdma || !rdma->asking)
		return;
	rdma->asking = false;
	add_part(&rdma->keys, &part);
}
