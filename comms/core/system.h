/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_SYSTEM_H
#define COMMS_SYSTEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * The library's own memory in front of every PE's heap: words by which PEs synchronise, wait and
 * find each other's memory.
 */

/*
 * A sleeper increments sleepers, makes that visible (membarrier), polls once more, and sleeps on
 * word. A PE that stores to another PE's memory then reads sleepers and, if one may wait for this
 * address, changes word and wakes it. So a store costs one load of a line that is nearly always
 * shared and zero.
 */
struct comms_wakeup {
	/* Their number and the address they wait for: COMMS_WAKEUP_... in comms.h. */
	_Alignas(64) _Atomic uint64_t sleepers;
	_Alignas(64) _Atomic uint32_t word;
};

/*
 * The barrier of a group on one node, or in one memory group. The one in the first member's slot is
 * used.
 */
struct comms_counter_barrier {
	/* Members; in the upper half, those per processor: see groups.c. */
	_Alignas(64) _Atomic uint64_t arrived;
	_Alignas(64) _Atomic uint32_t epoch;
	_Atomic uint32_t sleepers;
	_Atomic uint32_t on_processors; /* upper half of arrived after the last complete barrier */
};

#define COMMS_SYSTEM_BYTES (80UL << 20) /* a multiple of every page size except huge pages */
/*
 * The heap behind it begins at a multiple of this on all PEs, so that blocks can be aligned to it.
 */
#define COMMS_HEAP_BOUNDARY (256UL << 20)
#define COMMS_SLOTS 63
/*
 * Slots of groups that exist from the start: all PEs; the PEs of a node; all PEs again, for the
 * barrier in shmem_finalize.
 */
enum { COMMS_WORLD_SLOT, COMMS_NODE_SLOT, COMMS_FINAL_SLOT };
#define COMMS_NETWORK_WORDS 48
#define COMMS_REGIONS 6	      /* most regions at a time: regions.h */
#define COMMS_REGION_WORDS 19 /* as in a struct comms_buffer */
#define COMMS_BUFFERS 256     /* most registered buffers of a PE */
#define COMMS_EVENTS_BYTES (256UL << 10)
#define COMMS_PLAN_BYTES (16UL << 20)
#define COMMS_SLOT_BYTES (1UL << 20)
#define COMMS_SCRATCH_BYTES (COMMS_SLOT_BYTES / 4 - 4096)
#define COMMS_TORUS_BYTES (COMMS_SLOT_BYTES / 4 * 3)

enum { COMMS_BARRIER_OF_NODE, COMMS_BARRIER_OF_PART, COMMS_NODE_BARRIERS };

struct comms_slot {
	struct comms_counter_barrier node_barrier[COMMS_NODE_BARRIERS];
	/* By tier and round: the last epoch received. */
	_Alignas(64) _Atomic uint64_t received[2][32];
	/* For a network that synchronises groups. Zero when the slot gets a group. */
	_Atomic uint64_t network[COMMS_NETWORK_WORDS];
	/* For the collectives of the layer above. */
	_Alignas(4096) char scratch[COMMS_SCRATCH_BYTES];
	_Alignas(4096) char torus[COMMS_TORUS_BYTES]; /* for collectives of the layer above */
};
_Static_assert(sizeof(struct comms_slot) == COMMS_SLOT_BYTES, "slots lie side by side");

/* What a PE waits for once the wait is slow. hang.c writes it, and any PE may read it. */
enum comms_waits { COMMS_WAITS_NOT, COMMS_WAITS, COMMS_WAITS_FOR_GROUP, COMMS_WAITS_FOR_LOCK, COMMS_WAITS_FOR_PE };
#define COMMS_LISTED 64
struct comms_waiting {
	int32_t kind;
	int64_t since;		     /* ms of the real-time clock */
	int32_t pe;		     /* the PE waited for; for a lock, the PE ahead in its queue */
	int32_t slot;		     /* of the group; the group follows */
	int32_t start, stride, size; /* as in struct comms_group */
	int32_t listed;		     /* number of members in the list */
	int32_t members[COMMS_LISTED];
	char routine[64], text[192];
};

/* The same as atomic words, which only hang.c copies in and out. */
#define COMMS_SHOWN (sizeof(struct comms_waiting) / sizeof(uint64_t))
struct comms_shown {
	_Atomic uint32_t version; /* odd during an update */
	_Atomic uint64_t word[COMMS_SHOWN];
};
_Static_assert(sizeof(struct comms_waiting) % sizeof(uint64_t) == 0, "it is whole words");
_Static_assert(sizeof(struct comms_shown) <= 1024, "there is room in front of the slots");

/*
 * State that shows whether the job can make progress: deadlock.c. Each PE has its own; the first PE
 * of a node also has the question from the node above it and the answers from those below.
 */
#define COMMS_WAVE_CHILDREN 8
struct comms_sums {
	uint64_t waits; /* slow waits begun plus ended: odd during one */
	/* List commands executed, approximately: grows if there were any. */
	uint64_t moves;
	uint64_t sent, carried_out; /* messages */
	/* A PE where something else could store to memory, plus 1; 0: none. */
	uint64_t writer;
};
struct comms_passive {
	/* Of the current wait; the fields below describe the last one. */
	_Alignas(64) _Atomic uint64_t polls;
	atomic_bool passive;
	_Atomic uint64_t waits, moves, sent, carried_out;
	_Atomic uint64_t examined; /* the wave that has_writer and writer belong to */
	atomic_bool has_writer;
	char writer[128];	  /* description; kept until the next wave of this kind */
	_Atomic uint64_t examine; /* a wave that requests it */
	_Alignas(64) _Atomic uint64_t wave;
	struct {
		struct comms_sums sums;
		_Atomic uint64_t wave;
	} answer[COMMS_WAVE_CHILDREN];
};

/*
 * Puts of other PEs to this PE's memory that overtook others to the same bytes because no fence was
 * between them: see reorder.h.
 */
#define COMMS_OVERTAKEN 32
struct comms_overtaken {
	uint64_t segment, offset, bytes;
	uint64_t from; /* a PE plus 1; 0: none */
};

/* What a PE shows of a region, which other PEs read at their first use of it. */
struct comms_region_shown {
	uint64_t serial; /* counts the uses of this number, and is equal on all PEs; 0: none yet */
	uint64_t base, size;
	/* The file that PEs of the node map (struct memory_handle), and where the memory begins. */
	uint64_t device, inode, offset;
	int32_t pid, fd;		      /* fd is -1: they cannot map it */
	uint64_t network[COMMS_REGION_WORDS]; /* for the network */
};

/* In front of every PE's heap, shared with it. */
struct comms_system {
	uint64_t magic;
	bool oversubscribed;   /* this node has more PEs than processors */
	_Atomic int processor; /* where this PE last ran; only set if PEs share processors */
	struct comms_wakeup wakeup;
	_Alignas(64) struct comms_shown shown;
	struct comms_passive passive;
	uint64_t last_report; /* on PE 0: time of the last report about all PEs */
	/* On PE 0: a PE has already printed which settings explain a long wait. */
	uint64_t advised;
	uint64_t nothing; /* target of puts whose completion alone matters; never read */
	struct comms_overtaken overtaken[COMMS_OVERTAKEN];
	/* Serial numbers of registered buffers: see buffers.c. */
	_Atomic uint32_t buffers[COMMS_BUFFERS];
	_Alignas(4096) char events[COMMS_EVENTS_BYTES]; /* see events.h */
	_Alignas(4096) struct comms_region_shown regions[COMMS_REGIONS];
	/* Other PEs map this at a page boundary, not at a multiple of a slot. */
	_Alignas(4096) char unused[COMMS_SLOT_BYTES - COMMS_EVENTS_BYTES - 2 * 4096];
	struct comms_slot slot[COMMS_SLOTS];
	/* Words and staging of persistent plans: see shmem/plans/plans.h. */
	char plans[COMMS_PLAN_BYTES];
};
_Static_assert(sizeof(struct comms_system) == COMMS_SYSTEM_BYTES, "the heap begins right behind");

#endif
