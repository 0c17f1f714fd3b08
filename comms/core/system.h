/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_SYSTEM_H
#define COMMS_SYSTEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* What lies in front of every PE's heap, for the library's own use: words by which PEs synchronise, wait and find each other's memory. */

/*
 * A sleeper adds itself to sleepers, makes that visible (membarrier), polls once more, and sleeps
 * on word. A PE that stores to the memory of another one reads sleepers afterwards and, if any may wait for
 * what it stored, changes word and wakes them. So a store costs a load of a line that is nearly always shared and zero.
 */
struct comms_wakeup {
	_Alignas(
		64) _Atomic uint64_t sleepers; /* how many, and which word they wait for: COMMS_WAKEUP_... in comms.h */
	_Alignas(64) _Atomic uint32_t word;
};

/* The barrier of a group on one node, or of its members in one memory group; the one in the first member's slot is used. */
struct comms_counter_barrier {
	_Alignas(64) _Atomic uint64_t arrived; /* members; in the upper half, those on each processor: see groups.c */
	_Alignas(64) _Atomic uint32_t epoch;
	_Atomic uint32_t sleepers;
	_Atomic uint32_t on_processors; /* the upper half of arrived, when all had come to the barrier before */
};

#define COMMS_SYSTEM_BYTES (80UL << 20) /* whole pages of every size but huge ones */
/* behind it the heap begins at a multiple of this, on all PEs: blocks can be so aligned */
#define COMMS_HEAP_BOUNDARY (256UL << 20)
#define COMMS_SLOTS 63
/* Those of groups that are there from the start: all PEs; those of a node; all PEs once more, for the barrier in shmem_finalize alone. */
enum { COMMS_WORLD_SLOT, COMMS_NODE_SLOT, COMMS_FINAL_SLOT };
#define COMMS_TOFU_GATES 24
#define COMMS_BUFFERS 256 /* that others may reach, of a PE */
#define COMMS_EVENTS_BYTES (256UL << 10)
#define COMMS_PLAN_BYTES (16UL << 20)
#define COMMS_SLOT_BYTES (1UL << 20)
#define COMMS_SCRATCH_BYTES (COMMS_SLOT_BYTES / 4 - 4096)
#define COMMS_TORUS_BYTES (COMMS_SLOT_BYTES / 4 * 3)

enum { COMMS_BARRIER_OF_NODE, COMMS_BARRIER_OF_PART, COMMS_NODE_BARRIERS };

struct comms_slot {
	struct comms_counter_barrier node_barrier[COMMS_NODE_BARRIERS];
	_Alignas(64) _Atomic uint64_t received[2][32]; /* by tier and round: the epoch of the last word that came */
	_Atomic uint64_t gates[COMMS_TOFU_GATES], gate_votes[COMMS_TOFU_GATES]; /* barrier gates: see tofu_gates.c */
	_Alignas(4096) char scratch[COMMS_SCRATCH_BYTES]; /* for the collectives of the layer above */
	_Alignas(4096) char torus[COMMS_TORUS_BYTES];	  /* a struct torus_area, where the group has use for it */
};
_Static_assert(sizeof(struct comms_slot) == COMMS_SLOT_BYTES, "slots lie side by side");

/* What a PE waits for, once the wait has become slow; hang.c writes it, and any PE may read it. */
enum comms_waits { COMMS_WAITS_NOT, COMMS_WAITS, COMMS_WAITS_FOR_GROUP, COMMS_WAITS_FOR_LOCK, COMMS_WAITS_FOR_PE };
#define COMMS_LISTED 64
struct comms_waiting {
	int32_t kind;
	int64_t since;		     /* ms of the real-time clock */
	int32_t pe;		     /* whom it waits for; of a lock, the PE in front of it in the queue */
	int32_t slot;		     /* of the group, and then the group */
	int32_t start, stride, size; /* as in struct comms_group */
	int32_t listed;		     /* its first members are in the list */
	int32_t members[COMMS_LISTED];
	char routine[64], text[192];
};

/* The same as words, which hang.c alone copies in and out. */
#define COMMS_SHOWN (sizeof(struct comms_waiting) / sizeof(uint64_t))
struct comms_shown {
	_Atomic uint32_t version; /* odd while the words are being written */
	_Atomic uint64_t word[COMMS_SHOWN];
};
_Static_assert(sizeof(struct comms_waiting) % sizeof(uint64_t) == 0, "it is whole words");
_Static_assert(sizeof(struct comms_shown) <= 1024, "there is room in front of the slots");

/*
 * What shows whether the job can go on: deadlock.c. Each PE's own, and of a node's first PE the question of the node above it and the answers
 * of those below.
 */
#define COMMS_WAVE_CHILDREN 8
struct comms_sums {
	uint64_t waits; /* slow ones begun and ended: odd for a PE in one */
	uint64_t moves; /* commands of lists that were carried out, more or less: it grows if there were any */
	uint64_t sent, carried_out; /* messages */
	uint64_t writer;	    /* a PE where something else could store to memory, plus one; 0: none */
};
struct comms_passive {
	_Alignas(64) _Atomic uint64_t polls; /* at what it waits for; what follows is of the last one */
	atomic_bool passive;
	_Atomic uint64_t waits, moves, sent, carried_out;
	_Atomic uint64_t examined; /* the wave that has_writer and writer belong to */
	atomic_bool has_writer;
	char writer[128];	  /* in words; kept until the next wave of this kind */
	_Atomic uint64_t examine; /* a wave that asks for it */
	_Alignas(64) _Atomic uint64_t wave;
	struct {
		struct comms_sums sums;
		_Atomic uint64_t wave;
	} answer[COMMS_WAVE_CHILDREN];
};

/* Puts of other PEs to this one's memory that overtook others to the same bytes, as no fence was between them: see reorder.h. */
#define COMMS_OVERTAKEN 32
struct comms_overtaken {
	uint64_t segment, offset, bytes;
	uint64_t from; /* a PE, plus one; 0: none */
};

/* In front of every PE's heap, shared like it. */
struct comms_system {
	uint64_t magic;
	bool oversubscribed;   /* this PE's node has more PEs than processors */
	_Atomic int processor; /* where this PE ran when it last looked; only where PEs share processors */
	struct comms_wakeup wakeup;
	_Alignas(64) struct comms_shown shown;
	struct comms_passive passive;
	uint64_t last_report; /* of PE 0: when somebody last reported what all wait for */
	uint64_t advised;     /* of PE 0: a PE has printed which settings explain a long wait */
	uint64_t nothing;     /* target of puts that only need a completion; never read */
	struct comms_overtaken overtaken[COMMS_OVERTAKEN];
	_Atomic uint32_t buffers[COMMS_BUFFERS];	/* serial numbers of those that are registered: see buffers.c */
	_Alignas(4096) char events[COMMS_EVENTS_BYTES]; /* see events.h */
	/* other PEs map this at a page, not at a slot's size */
	char unused[COMMS_SLOT_BYTES - COMMS_EVENTS_BYTES - 4096];
	struct comms_slot slot[COMMS_SLOTS];
	char plans[COMMS_PLAN_BYTES]; /* words and staging of persistent plans: see shmem/plans/plans.h */
};
_Static_assert(sizeof(struct comms_system) == COMMS_SYSTEM_BYTES, "the heap begins right behind");

#endif
