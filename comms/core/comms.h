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
 * segment  symmetric memory that every PE has. Two segments last from start to stop, and the path
 *          of a put compares an address with these alone: the heap (with, in front of it, one
 *          struct comms_system for the library's own use) and the program's global data
 * region   any other segment. It comes and goes while the program runs, and all PEs give it the
 *          same number: regions.h
 * peer     the record of a PE. All PEs start with one shared record that reaches nothing; the first
 *          contact replaces it (comms_connect) by a record of its own, for good
 * reach    where this process can load and store a peer's segment; size 0: it cannot, the network
 *          carries it
 * wakeup   how a PE that sleeps learns that its memory changed
 *
 * Any thread may call anything here once comms_start has returned; but see channels
 * (comms/ops/ops.h).
 */

#define COMMS_LIKELY(x) __builtin_expect(!!(x), 1)
#define COMMS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define COMMS_INLINE static inline __attribute__((always_inline))
#define COMMS_APART static __attribute__((noinline))

enum comms_segment_id {
	COMMS_HEAP,
	COMMS_GLOBALS,
	COMMS_FIXED_SEGMENTS, /* number of those above, and the first region */
	COMMS_MOST_SEGMENTS = COMMS_FIXED_SEGMENTS + COMMS_REGIONS,
	COMMS_NO_SEGMENT = COMMS_MOST_SEGMENTS /* an address that is in none */
};

enum comms_segment_kind {
	COMMS_KIND_HEAP,
	COMMS_KIND_GLOBALS,
	COMMS_KIND_BROUGHT, /* memory that the program brings */
	COMMS_KIND_DEVICE   /* memory of a device, which the processor does not load and store */
};

struct comms_reach {
	char *base;
	size_t size;
};

struct comms_group;
struct comms_network;
struct comms_map;
struct comms_device;
struct comms_region;

struct comms_peer {
	struct comms_reach reach[COMMS_FIXED_SEGMENTS];
	struct comms_wakeup *wakeup; /* NULL if its memory is not mapped here */
	_Atomic(void *) driver;	     /* the network's own record; NULL: none yet */
	char *remote_base[COMMS_FIXED_SEGMENTS];
	size_t remote_size[COMMS_FIXED_SEGMENTS];
	_Atomic(struct comms_region *) regions; /* see regions.h; NULL: none is in use */
	void *info;				/* its endpoint info, see peers.h */
	int pe;
	bool connected;
	bool same_program;
};

struct comms_segment {
	char *base;
	size_t size;
	int fd;
	enum comms_segment_kind kind;
};

/*
 * Read by the layer above, and so by the program, to reach a peer of this node: [address, address +
 * COMMS_SHORTCUT_BYTES) is memory of the peer if `address` lies less than `room` from the segment's
 * start; `away` is the distance between the two mappings. The first contact fills it in, `room`
 * last, and it does not change. A slot serves one peer: on a node with more than COMMS_SHORTCUTS
 * PEs the first peer keeps it.
 */
#define COMMS_SHORTCUT_BYTES 32
#define COMMS_SHORTCUTS 256
struct comms_shortcut {
	int pe;
	_Atomic uintptr_t room[COMMS_FIXED_SEGMENTS];
	uintptr_t away[COMMS_FIXED_SEGMENTS];
	const _Atomic uint64_t *sleepers;
	uint64_t unused[2];
};

enum comms_barrier { COMMS_AUTO, COMMS_COUNTER, COMMS_ROUNDS, COMMS_TORUS };

struct comms {
	int pe;
	int n_pes; /* 0: not started */
	/*
	 * n_pes, or 0 while calls are observed or checked, or arguments may be memory of a GPU, so
	 * that they take the slow path.
	 */
	int quick_pes;
	/* By PE; the record of a PE before its first contact is &comms.unconnected. */
	_Atomic(struct comms_peer *) *peers;
	struct comms_shortcut *shortcuts; /* by PE modulo COMMS_SHORTCUTS; NULL: unused */
	struct comms_segment segments[COMMS_MOST_SEGMENTS];
	atomic_uint regions;	     /* one bit for each segment that is a region in use */
	struct comms_system *system; /* of this PE */
	struct comms_peer unconnected;
	int n_node;	/* PEs reached by load and store, this one included */
	int *node_pes;	/* their numbers, ascending */
	int node_index; /* index of this PE in node_pes */
	atomic_uint spin;
	bool minds_contention; /* spin adapts to contention: contention.h */
	unsigned bare_polls;
	bool oversubscribed; /* more PEs than processors on this node */
	bool stops;	     /* waits may stop the processor: see comms_may_stop */
	/* Several threads may call the library at once; set before the start. */
	bool threads;
	bool quiets; /* quiet has work to do: there is a network, or reorder injection */
	/* SHMEM_CHECK: make expensive checks, too, and hold puts and gets back (reorder.h). */
	bool checks;
	bool observed; /* calls are counted or traced: see counters.h */
	bool traced;
	enum comms_barrier barrier; /* SHMEM_BARRIER_ALGORITHM */
	long node_size;		    /* SHMEM_NODE_PES */
	int divide;		    /* SHMEM_MEMORY_GROUPS, see numa.c */
	/* This PE's, -1 if unknown; and their number on the node. */
	int memory_group, memory_groups;
	bool loopback; /* exchanges on a node use the NIC (SHMEM_TOFU_LOOPBACK) */
	/*
	 * Atomics within a node use the network, too, because they do not interoperate with the
	 * processor's.
	 */
	bool network_atomics;
	bool local_path;
	/*
	 * Set with SHMEM_CHECK: ends the job unless these bytes of the heap, beyond the system's
	 * part, are in one block of the allocator.
	 */
	void (*check_block)(const void *address, size_t bytes, const char *argument, const char *routine);
	/* Requested size: the segment without the system's part. */
	size_t heap_size;
	const char *pages;		     /* kind of pages obtained for the heap */
	_Atomic(struct torus_job *) torus;   /* NULL: not determined yet; see job_torus.h */
	char *torus_found;		     /* what PE 0 found, see find_torus.h; NULL: nothing */
	const struct comms_network *network; /* NULL: none is needed */
	const struct comms_device *device;   /* NULL: no memory of a GPU; see device.h */
	bool device_wanted;		     /* the program asks for it: no call is quick */
	/* Where PEs are, by the launcher or a network; NULL: unknown. */
	const struct comms_map *map;
	int quick_atomic_pes; /* quick_pes, or 0 if atomics use the network */
};

extern struct comms comms;

/* False: the job is broken, and only comms_stop may follow. */
bool comms_start(void);
/*
 * Describes the network that carries what load and store cannot, and the sources it accepts
 * connections from. NULL: there is none, or it accepts none.
 */
const char *comms_network_name(void);
const char *comms_network_connections(void);
/* Describes how the network reaches the other hosts. NULL: there is nothing to say. */
const char *comms_network_routes(void);
/* Describes what the network's library cannot do with threads; NULL: it has no such limit. */
const char *comms_network_threads(void);
/*
 * Releases everything. All PEs must have stopped communicating (the caller had a barrier of all
 * PEs), or the job is broken.
 */
void comms_stop(void);

static inline char *comms_heap(void)
{
	return comms.segments[COMMS_HEAP].base + COMMS_SYSTEM_BYTES;
}

/* The segment that contains the address; COMMS_NO_SEGMENT: none. */
enum comms_segment_id comms_find_segment(const void *address);

/*
 * Do all PEs that share a node load and store each other's memory? All PEs of a job get the same
 * answer, also one that is alone on its node.
 */
static inline bool comms_shared(enum comms_segment_id segment)
{
	return segment == COMMS_HEAP ||
	       (segment < COMMS_NO_SEGMENT &&
		(comms.segments[segment].fd >= 0 || comms.segments[segment].kind == COMMS_KIND_BROUGHT));
}

/* The record of a PE; connects to it first if this is the first contact. */
struct comms_peer *comms_connect(int pe);

/* The library's memory of a PE on this node. */
static inline struct comms_system *comms_system_of(int pe)
{
	return (struct comms_system *)(void *)comms_connect(pe)->reach[COMMS_HEAP].base;
}

/* The memory group that a PE published, and the number of groups on its node; -1: unknown. */
int comms_memory_group(int pe, int *groups);

/* Adds the number of connected PEs, and the memory of their records without UCX's own. */
void comms_count_peers(uint64_t *peers, uint64_t *bytes);

/*
 * Can the PE be reached? False: it has ended, as far as this PE can see, and comms_connect would
 * fail.
 */
bool comms_can_connect(int pe);

/*
 * Describes the process of a PE: "its process has ended" if that is visible, or what else is known.
 */
const char *comms_process_in_words(int pe);

static inline struct comms_peer *comms_peer(int pe)
{
	return atomic_load_explicit(&comms.peers[pe], memory_order_acquire);
}

/* Where this process loads and stores bytes at an offset of a segment. NULL: it cannot. */
COMMS_INLINE void *comms_within(bool checked, const struct comms_reach *reach, size_t offset, size_t bytes)
{
	char *there = reach->base + offset;

	if (checked && COMMS_UNLIKELY(bytes > reach->size - offset))
		return NULL;
	if (!there) /* saves callers a test that the compiler cannot see to be superfluous */
		__builtin_unreachable();
	return there;
}

/*
 * Where this process loads and stores [address, address + bytes) of a PE. NULL: it cannot, or the
 * first contact is still to come. The caller then finds out, and reports wrong arguments under the
 * routine's name. checked is false if the PE is valid and all bytes are in one segment.
 */
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
 * For API routines that are inline stores and loads: also NULL while calls are observed. A library
 * configured --disable-argument-checks leaves out both checks of the arguments, and cannot observe
 * calls.
 */
COMMS_INLINE void *comms_reach_quickly(const void *address, size_t bytes, int pe, struct comms_peer **peer)
{
	return comms_reach_among(ARGUMENT_CHECKS, comms.quick_pes, address, bytes, pe, peer);
}

/* For atomics: also NULL while calls are observed, or if the job's atomics use the network. */
COMMS_INLINE void *comms_reach_atomically(const void *address, size_t bytes, int pe, struct comms_peer **peer)
{
	return comms_reach_among(true, comms.quick_atomic_pes, address, bytes, pe, peer);
}

/*
 * The word `sleepers` of a wakeup holds the number of sleepers, whether all wait for one granule of
 * memory, and if so its segment and position. All change in one store, so a thread that sees a
 * sleeper sees what it waits for.
 */
#define COMMS_GRANULE 8
#define COMMS_WAKEUP_KNOWN (1UL << 15)
#define COMMS_WAKEUP_SEGMENT 16 /* bit of the segment; the position is above it */
#define COMMS_WAKEUP_PLACE 17
#define COMMS_WAKEUP_PLACES (UINT64_MAX >> COMMS_WAKEUP_PLACE)

/*
 * Does no sleeper wait for any of [address, address + bytes)? True for most puts to a PE that
 * sleeps.
 */
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
 * Number of threads of a peer that sleep. The caller has just stored to the peer's memory. The
 * compiler keeps the load after that store, and the sleeper's membarrier makes the processor do so,
 * too (comms/wait/wait.c).
 */
COMMS_INLINE uint64_t comms_sleepers(const struct comms_peer *peer)
{
	atomic_signal_fence(memory_order_seq_cst);
	return atomic_load_explicit(&peer->wakeup->sleepers, memory_order_relaxed);
}

/*
 * After a store to [address, address + bytes) of a peer's memory: wakes the peer if it sleeps on
 * these bytes.
 */
COMMS_INLINE void comms_wake_at(const struct comms_peer *peer, const void *address, size_t bytes)
{
	uint64_t sleepers = comms_sleepers(peer);

	if (COMMS_UNLIKELY(sleepers) && !comms_wakeup_is_for_others(sleepers, address, bytes))
		comms_wake_sleepers(peer->wakeup);
}

/* After a store to an unknown address: wakes the peer if it sleeps at all. */
COMMS_INLINE void comms_wake(const struct comms_peer *peer)
{
	if (COMMS_UNLIKELY(comms_sleepers(peer)))
		comms_wake_sleepers(peer->wakeup);
}

#define COMMS_NOBODY (-1) /* stands for "no PE" where a PE is expected */

int comms_compare_ints(const void *left, const void *right);

/*
 * Reports an error unless the library is up and [address, address + bytes) is symmetric memory.
 * False, like all these checks, where that has broken the job.
 */
bool comms_check_symmetric(const void *address, size_t bytes, const char *argument, const char *routine);
/* The same for routines that take memory of a GPU, too. */
bool comms_check_symmetric_anywhere(const void *address, size_t bytes, const char *argument, const char *routine);
/* For memory that need not be symmetric, but that the processor must be able to access. */
bool comms_check_on_host(const void *address, const char *argument, const char *routine);
/*
 * With SHMEM_CHECK, reports bytes in the heap that are not in one block. Bytes outside of the heap
 * pass.
 */
bool comms_check_in_block(const void *address, size_t bytes, const char *argument, const char *routine);
static inline bool comms_check_block(const void *address, size_t bytes, const char *argument, const char *routine)
{
	return COMMS_LIKELY(comms.check_block == NULL) || comms_check_in_block(address, bytes, argument, routine);
}
bool comms_check_up(const char *routine);
bool comms_check_pe(int pe, const char *routine);

#endif
