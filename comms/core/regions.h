/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CORE_REGIONS_H
#define COMMS_CORE_REGIONS_H

#include "comms.h"

/*
 * Segments beyond the heap and the program's global data. comms.segments has this PE's own, by the
 * same numbers on all PEs, and comms.regions says which numbers are in use.
 *
 * A PE describes its regions to the others in its struct comms_system. Another PE reads that when
 * it first uses a region there: by a load on its node, elsewhere by a get. So nobody keeps anything
 * about PEs that it does not use, and a peer without regions costs one pointer.
 */

/* What this PE knows of a region of a peer. */
struct comms_region {
	atomic_bool known; /* the rest is valid */
	struct comms_reach reach;
	struct comms_reach remote;	      /* in the peer's address space */
	uint64_t network[COMMS_REGION_WORDS]; /* as the peer's network wrote them */
};

/* The record of a region of a peer, which the first call for it makes; it may wait. */
const struct comms_region *comms_region_of(struct comms_peer *peer, enum comms_segment_id segment);

/*
 * As comms_reach, of the PE's regions, too; connects to it if need be. NULL: this process cannot
 * load and store it.
 */
void *comms_reach_any(const void *address, size_t bytes, int pe, struct comms_peer **peer);

/*
 * The region of a peer of the node, mapped here, that contains the address; COMMS_NO_SEGMENT: none.
 * For signal handlers.
 */
enum comms_segment_id comms_region_at(const struct comms_peer *peer, uintptr_t address);

/* Where this process loads and stores a segment of a peer. Size 0: it cannot. */
static inline struct comms_reach comms_segment_reach(struct comms_peer *peer, enum comms_segment_id segment)
{
	return segment < COMMS_FIXED_SEGMENTS ? peer->reach[segment] : comms_region_of(peer, segment)->reach;
}

/* Where a peer has a segment, in its own address space. */
static inline struct comms_reach comms_segment_remote(struct comms_peer *peer, enum comms_segment_id segment)
{
	return segment < COMMS_FIXED_SEGMENTS
		       ? (struct comms_reach){peer->remote_base[segment], peer->remote_size[segment]}
		       : comms_region_of(peer, segment)->remote;
}

/* Is this file a region of a PE of this node, as far as this process knows its regions? */
bool comms_region_has_file(uint64_t device, uint64_t inode);

/* For messages: "symmetric heap", "global data", "heap 1 of shmemx_heap_create_in". */
const char *comms_segment_name(enum comms_segment_id segment);

static inline bool comms_segment_is_in_use(enum comms_segment_id segment)
{
	return segment < COMMS_FIXED_SEGMENTS
		       ? comms.segments[segment].size > 0
		       : atomic_load_explicit(&comms.regions, memory_order_acquire) >> segment & 1;
}

/* What the network wrote about a region of this PE. */
static inline const uint64_t *comms_region_words(enum comms_segment_id segment)
{
	return comms.system->regions[segment - COMMS_FIXED_SEGMENTS].network;
}

/*
 * A region of this PE. All PEs must call these in the same order, and get the same number.
 * COMMS_NO_SEGMENT: all numbers are in use. offset: where the memory begins in the file
 * segment->fd. A barrier must follow an addition before any PE uses the region of another, and one
 * must precede a removal. A removal forgets what this PE knows of the peers' regions with this
 * number; closing the file is left to the caller.
 */
enum comms_segment_id comms_region_add(const struct comms_segment *segment, uint64_t offset, const char *routine);
void comms_region_remove(enum comms_segment_id segment);
/* Frees what this PE knows of a peer's regions. */
void comms_regions_forget(struct comms_peer *peer);
/* The memory of that. */
size_t comms_regions_bytes(const struct comms_peer *peer);

#endif
