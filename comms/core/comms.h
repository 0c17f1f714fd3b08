/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_COMMS_H
#define COMMS_COMMS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system.h"

/*
 * Moves bytes between PEs; knows no SHMEM type.
 *
 * segment  symmetric memory that every PE has: the heap (with, in front of it, one struct comms_system
 *          for the library's own use) and the program's global data
 * peer     the record of a PE. All PEs start with one shared record that reaches nothing; the first
 *          contact replaces it (comms_connect) by a record of its own, for good
 * reach    where this process can load and store a peer's segment; size 0: it cannot, the network carries it
 * wakeup   how a PE that sleeps learns that its memory changed
 *
 * Any thread may call anything here once comms_start has returned; but see channels (comms/ops/ops.h).
 */

#define COMMS_LIKELY(x) __builtin_expect(!!(x), 1)
#define COMMS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define COMMS_INLINE static inline __attribute__((always_inline))
#define COMMS_APART static __attribute__((noinline))

enum comms_segment_id { COMMS_HEAP, COMMS_GLOBALS, COMMS_SEGMENTS };

struct comms_reach {
	char *base;
	size_t size;
};

struct comms_group;
struct comms_network;
struct comms_map;

struct comms_peer {
	struct comms_reach reach[COMMS_SEGMENTS];
	struct comms_wakeup *wakeup; /* NULL if its memory is not mapped here */
	_Atomic(void *) driver;	     /* what the network keeps for it; NULL: nothing yet */
	char *remote_base[COMMS_SEGMENTS];
	size_t remote_size[COMMS_SEGMENTS];
	void *info; /* its endpoint info, see peers.h */
	int pe;
	bool connected;
	bool same_program;
};

struct comms_segment {
	char *base;
	size_t size;
	int fd;
};

/*
 * What the layer above, and through it the program, reads of a peer of this node: [address, address + COMMS_SHORTCUT_BYTES) is the peer's
 * memory if the address is nearer than room to the segment's begin, and lies away from there. Filled in at the first contact, room last,
 * and not changed any more; two peers that share a place would be of a node with more than COMMS_SHORTCUTS PEs, and the first has it.
 */
#define COMMS_SHORTCUT_BYTES 32
#define COMMS_SHORTCUTS 256
struct comms_shortcut {
	int pe;
	_Atomic uintptr_t room[COMMS_SEGMENTS];
	uintptr_t away[COMMS_SEGMENTS];
	const _Atomic uint64_t *sleepers;
	uint64_t unused[2];
};

enum comms_barrier { COMMS_AUTO, COMMS_COUNTER, COMMS_ROUNDS, COMMS_TORUS };

struct comms {
	int pe;
	int n_pes;     /* 0: not started */
	int quick_pes; /* n_pes; but 0 while calls are observed or checked: then they take the slow path */
	_Atomic(struct comms_peer *) *peers; /* by PE; the record of a PE without a connection is &comms.unconnected */
	struct comms_shortcut *shortcuts;    /* by PE modulo COMMS_SHORTCUTS; NULL: nobody wants them */
	struct comms_segment segments[COMMS_SEGMENTS];
	struct comms_system *system; /* mine */
	struct comms_peer unconnected;
	int n_node;	/* PEs reached by load and store, this one included */
	int *node_pes;	/* their numbers, ascending */
	int node_index; /* my place among them */
	atomic_uint spin;
	bool minds_contention; /* spin adapts to contention: contention.h */
	unsigned bare_polls;
	bool oversubscribed; /* more PEs than processors on this node */
	bool stops;	     /* waits may stop the processor: see comms_may_stop */
	bool threads;	     /* several may be inside at once; said before the start */
	bool quiets;	     /* a quiet has something to wait for: a network, or what is held back */
	bool checks;	     /* SHMEM_CHECK: check what costs time, too, and hold puts and gets back: see reorder.h */
	bool observed;	     /* calls are counted or traced: see counters.h */
	bool traced;
	enum comms_barrier barrier;	 /* SHMEM_BARRIER_ALGORITHM */
	long node_size;			 /* SHMEM_NODE_PES */
	int divide;			 /* SHMEM_MEMORY_GROUPS, see numa.c */
	int memory_group, memory_groups; /* of the node: mine, -1 where it is not known, and how many */
	bool loopback; /* exchanges on a node go by the NIC, which may always be asked to (SHMEM_TOFU_LOOPBACK) */
	/* atomics within a node use the network, too, because its atomics do not interoperate with the processor's */
	bool network_atomics;
	bool local_path;
	/* With SHMEM_CHECK: ends the job unless these bytes of the heap, without the system's part, are in one block of the allocator. */
	void (*check_block)(const void *address, size_t bytes, const char *argument, const char *routine);
	size_t heap_size;		     /* what the user asked for: the segment without the system's part */
	const char *pages;		     /* kind of pages obtained for the heap */
	_Atomic(struct torus_job *) torus;   /* NULL: not asked for yet; see job_torus.h */
	char *torus_found;		     /* what PE 0 found, see find_torus.h; NULL: nothing */
	const struct comms_network *network; /* NULL: none is needed */
	/* where PEs are, if the launcher or a network says so; NULL: nobody does */
	const struct comms_map *map;
	int quick_atomic_pes; /* quick_pes; but 0 where atomics go through the network */
};

extern struct comms comms;

void comms_start(void);
/* The network that carries what load and store cannot, and from whom it takes connections, in words; NULL: there is none, or it takes none. */
const char *comms_network_name(void);
const char *comms_network_connections(void);
/* What the network's library cannot do with threads, in words; NULL: nothing. */
const char *comms_network_threads(void);
/* All PEs have stopped communicating (the caller had a barrier of all PEs); releases everything. */
void comms_stop(void);

static inline char *comms_heap(void)
{
	return comms.segments[COMMS_HEAP].base + COMMS_SYSTEM_BYTES;
}

/* Which segment holds the address? COMMS_SEGMENTS if none does. */
enum comms_segment_id comms_find_segment(const void *address);

/* Do all PEs of a node load and store each other's part of it? All PEs of a job say the same, also one that has nobody to share with. */
static inline bool comms_shared(enum comms_segment_id segment)
{
	return segment == COMMS_HEAP || (segment < COMMS_SEGMENTS && comms.segments[segment].fd >= 0);
}

/* The record of a PE; connects to it first if this is the first contact. */
struct comms_peer *comms_connect(int pe);

/* The library's own memory of a PE of this node. */
static inline struct comms_system *comms_system_of(int pe)
{
	return (struct comms_system *)(void *)comms_connect(pe)->reach[COMMS_HEAP].base;
}

/* The memory group of a PE on its node, which has so many; -1: not known. By what it published. */
int comms_memory_group(int pe, int *groups);

/* Adds how many PEs this one has connected to, and the memory of their records, UCX's left aside. */
void comms_count_peers(uint64_t *peers, uint64_t *bytes);

/* False: it has ended, as far as can be seen from here, and comms_connect would complain. */
bool comms_can_connect(int pe);

/* Of the process of a PE: "its process has ended", if that can be seen from here, or what else can be said of it. */
const char *comms_process_in_words(int pe);

static inline struct comms_peer *comms_peer(int pe)
{
	return atomic_load_explicit(&comms.peers[pe], memory_order_acquire);
}

/*
 * Where this process can load and store [address, address + bytes) of a PE. NULL if it cannot, or cannot yet:
 * the routines below then find out, and complain in the name of the routine about arguments that are wrong.
 */
COMMS_INLINE void *comms_within(bool checked, const struct comms_reach *reach, size_t offset, size_t bytes)
{
	char *there = reach->base + offset;

	if (checked && COMMS_UNLIKELY(bytes > reach->size - offset))
		return NULL;
	if (!there) /* saves callers a test that the compiler cannot know to be superfluous */
		__builtin_unreachable();
	return there;
}

/* Not checked: the PE is one that this may be asked about, and all of the bytes are where the first is. */
COMMS_INLINE void *comms_reach_among(bool checked, int pes, const void *address, size_t bytes, int pe,
				     struct comms_peer **peer)
{
	size_t in_heap, in_globals;

	if (checked && COMMS_UNLIKELY((unsigned)pe >= (unsigned)pes))
		return NULL;
	*peer = comms_peer(pe);
	in_heap = (size_t)((const char *)address - comms.segments[COMMS_HEAP].base);
	if (COMMS_LIKELY(in_heap < (*peer)->reach[COMMS_HEAP].size))
		return comms_within(checked, &(*peer)->reach[COMMS_HEAP], in_heap, bytes);
	in_globals = (size_t)((const char *)address - comms.segments[COMMS_GLOBALS].base);
	if (COMMS_LIKELY(in_globals < (*peer)->reach[COMMS_GLOBALS].size))
		return comms_within(checked, &(*peer)->reach[COMMS_GLOBALS], in_globals, bytes);
	return NULL;
}

COMMS_INLINE void *comms_reach(const void *address, size_t bytes, int pe, struct comms_peer **peer)
{
	return comms_reach_among(true, comms.n_pes, address, bytes, pe, peer);
}

/*
 * For what a routine of the API does without calling anything: NULL as well while its calls are observed. A library configured
 * --disable-argument-checks leaves out the two checks of the arguments; calls cannot be observed then.
 */
COMMS_INLINE void *comms_reach_quickly(const void *address, size_t bytes, int pe, struct comms_peer **peer)
{
	return comms_reach_among(ARGUMENT_CHECKS, comms.quick_pes, address, bytes, pe, peer);
}

/* The same for atomics, of which there is one kind in a job. */
COMMS_INLINE void *comms_reach_atomically(const void *address, size_t bytes, int pe, struct comms_peer **peer)
{
	return comms_reach_among(true, comms.quick_atomic_pes, address, bytes, pe, peer);
}

/*
 * The word `sleepers` of a wakeup: their number; whether all wait for one granule of memory; if so, its segment and its place there.
 * All change at once, so who sees a sleeper sees what it waits for.
 */
#define COMMS_GRANULE 8
#define COMMS_WAKEUP_KNOWN (1UL << 15)
#define COMMS_WAKEUP_SEGMENT 16 /* the bit, and the place is above it */
#define COMMS_WAKEUP_PLACE 17
#define COMMS_WAKEUP_PLACES (UINT64_MAX >> COMMS_WAKEUP_PLACE)

/* No sleeper waits for any of [address, address + bytes): most puts to a PE that sleeps find that out. */
COMMS_INLINE bool comms_wakeup_is_for_others(uint64_t sleepers, const void *address, size_t bytes)
{
	const char *base = comms.segments[sleepers >> COMMS_WAKEUP_SEGMENT & 1].base;
	uint64_t offset = (uint64_t)((uintptr_t)address - (uintptr_t)base);
	uint64_t distance = (sleepers >> COMMS_WAKEUP_PLACE) - offset / COMMS_GRANULE;

	return (sleepers & COMMS_WAKEUP_KNOWN) &&
	       (distance & COMMS_WAKEUP_PLACES) > (offset % COMMS_GRANULE + bytes - 1) / COMMS_GRANULE;
}

void comms_wake_sleepers(struct comms_wakeup *wakeup);

/*
 * Threads of a peer that sleep. The caller has just stored to the peer's memory: the compiler keeps the load after the store, and the
 * sleeper's membarrier orders the two for the processor (comms/wait/wait.c).
 */
COMMS_INLINE uint64_t comms_sleepers(const struct comms_peer *peer)
{
	atomic_signal_fence(memory_order_seq_cst);
	return atomic_load_explicit(&peer->wakeup->sleepers, memory_order_relaxed);
}

/* After a store to [address, address + bytes) of a peer's memory: wakes the peer if it sleeps on these bytes. */
COMMS_INLINE void comms_wake_at(const struct comms_peer *peer, const void *address, size_t bytes)
{
	uint64_t sleepers = comms_sleepers(peer);

	if (COMMS_UNLIKELY(sleepers) && !comms_wakeup_is_for_others(sleepers, address, bytes))
		comms_wake_sleepers(peer->wakeup);
}

/* After a store whose place is not known: wakes the peer if it sleeps at all. */
COMMS_INLINE void comms_wake(const struct comms_peer *peer)
{
	if (COMMS_UNLIKELY(comms_sleepers(peer)))
		comms_wake_sleepers(peer->wakeup);
}

#define COMMS_NOBODY (-1) /* no PE, where one may be named */

int comms_compare_ints(const void *left, const void *right);

/* Complains unless the library is up and [address, address + bytes) is symmetric memory. */
void comms_check_symmetric(const void *address, size_t bytes, const char *argument, const char *routine);
/* Complains, with SHMEM_CHECK set, of bytes in the heap that are not in one block. They may be elsewhere. */
void comms_check_in_block(const void *address, size_t bytes, const char *argument, const char *routine);
static inline void comms_check_block(const void *address, size_t bytes, const char *argument, const char *routine)
{
	if (COMMS_UNLIKELY(comms.check_block != NULL))
		comms_check_in_block(address, bytes, argument, routine);
}
void comms_check_up(const char *routine);
void comms_check_pe(int pe, const char *routine);

#endif
