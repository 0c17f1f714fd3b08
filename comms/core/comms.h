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
 * peer     what is known of a PE. All start as one shared record that reaches nothing; the first
 *          contact replaces it (comms_meet) by a record of its own, for good
 * reach    where this process can load and store a peer's segment; size 0: it cannot, UCX carries it
 * bell     how a PE that sleeps is told that its memory changed
 * channel  what operations are ordered and completed in
 *
 * Any thread may call anything here once comms_start has returned; but see channels.
 */

#define COMMS_LIKELY(x) __builtin_expect(!!(x), 1)
#define COMMS_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define COMMS_INLINE static inline __attribute__((always_inline))

enum comms_segment_id { COMMS_HEAP, COMMS_GLOBALS, COMMS_SEGMENTS };

struct comms_reach {
	char *base;
	size_t size;
};

/*
 * A group is an ordered set of PEs that synchronise; it has one slot in every member's system memory, the same number in
 * all. Groups that share a PE have different slots. The owner of the group keeps the struct.
 */
struct comms_group {
	int size;
	int me;		    /* my place, -1 if I am no member */
	int start, stride;  /* member i is PE start + i * stride ... */
	const int *members; /* ... or, if this is not NULL, members[i] */
	int slot;
	int tier;     /* which words of the slot it meets by */
	bool on_node; /* all members load and store each other's memory */
	bool seen;    /* what follows is known; comms_group_see finds it out when the members first meet */
	bool crowded; /* on a node with more PEs than processors */
	struct comms_levels *levels; /* NULL: all members are on one node, or each is on its own */
	struct comms_levels *parts;  /* members on one node by memory group; NULL: they are not divided. See numa.h */
	bool divided_gate;	     /* and these have a gate each */
	int gate;		     /* which of the slot's */
	uint64_t epoch;		     /* meetings in rounds this PE has begun */
	struct comms_round *round;   /* whom this PE tells in each round, along a torus or by memory group; NULL: the one 1, 2, 4 ... places on */
	int rounds, *told, n_told;
};

/* This PE tells these members, and then waits for a word of its own. */
struct comms_round {
	int word;
	int first, count; /* in the group's list of PEs */
};

/* A group whose members share nodes. The first member of each node is its leader. */
struct comms_levels {
	struct comms_group node;    /* the members on my node */
	struct comms_group leaders; /* of all nodes, in order; me is -1 unless I lead */
	int my_node;		    /* its place among the leaders */
	int *node_of;		    /* of the member at a place */
	int *places, *first;	    /* the members of node i are at places[first[i]], ..., places[first[i + 1] - 1] */
};

static inline int comms_group_pe(const struct comms_group *group, int i)
{
	return group->members ? group->members[i] : group->start + i * group->stride;
}

struct comms_network;
struct comms_map;

struct comms_peer {
	struct comms_reach reach[COMMS_SEGMENTS];
	struct comms_bell *bell; /* NULL if its memory is not mapped here */
	_Atomic(void *) driver; /* what the network keeps for it; NULL: nothing yet */
	char *remote_base[COMMS_SEGMENTS];
	size_t remote_size[COMMS_SEGMENTS];
	void *info; /* what it published, see peers.h */
	int pe;
	bool met;
	bool same_program;
};

struct comms_segment {
	char *base;
	size_t size;
	int fd;
};

enum comms_barrier { COMMS_AUTO, COMMS_GATE, COMMS_ROUNDS, COMMS_TORUS };

struct comms {
	int pe;
	int n_pes;		   /* 0: not started */
	int quick_pes;		   /* n_pes; but 0 while calls are watched or checked: then they come by the slow way */
	_Atomic(struct comms_peer *) *peers; /* by PE; the record of an unmet PE is &comms.unmet */
	struct comms_segment segments[COMMS_SEGMENTS];
	struct comms_system *system; /* mine */
	struct comms_peer unmet;
	int n_node;	/* PEs reached by load and store, this one included */
	int *node_pes;	/* their numbers, ascending */
	int node_index; /* my place among them */
	atomic_uint spin;
	bool minds_company; /* it changes: contention.h */
	unsigned bare_looks;
	bool crowded; /* more PEs than processors on this node */
	bool stops;   /* waits may stop the processor: see comms_may_stop */
	bool threads;	/* several may be inside at once; said before the start */
	bool quiets;	/* a quiet has something to wait for: a network, or what is held back */
	bool checks;	/* SHMEM_CHECK: check what costs time, too, and hold puts and gets back: see reorder.h */
	bool watched;	/* calls are counted or traced: see counters.h */
	bool traced;
	enum comms_barrier barrier; /* SHMEM_BARRIER_ALGORITHM */
	long node_size;		    /* SHMEM_NODE_PES */
	int divide;		    /* SHMEM_MEMORY_GROUPS, see numa.c */
	int memory_group, memory_groups; /* of the node: mine, -1 where it is not known, and how many */
	bool loopback; /* exchanges on a node go by the network's card, which may always be asked to (SHMEM_TOFU_LOOPBACK) */
	bool network_atomics; /* also between PEs of a node: the network's are not the processor's, and words have one kind */
	bool local_path;
	size_t heap_size;  /* what the user asked for: the segment without the system's part */
	const char *pages; /* kind of pages obtained for the heap */
	_Atomic(struct torus_job *) torus;   /* NULL: not asked for yet; see job_torus.h */
	const struct comms_network *network; /* NULL: none is needed */
	const struct comms_map *map;	     /* where PEs are, if the launcher or a network says so; NULL: nobody does */
	int quick_atomic_pes; /* quick_pes; but 0 where atomics go through the network */
};

extern struct comms comms;

void comms_start(void);
/* Everybody has stopped communicating (the caller met all PEs); lets go of everything. */
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

/* The record of a PE after making its acquaintance. */
struct comms_peer *comms_meet(int pe);

/* The memory group of a PE on its node, which has so many; -1: not known. By what it published. */
int comms_memory_group(int pe, int *groups);

/* Adds how many PEs have been met, and the memory of what is known of them, UCX's left aside. */
void comms_count_peers(uint64_t *peers, uint64_t *bytes);

/* False: it has ended, as far as can be seen from here, and comms_meet would complain. */
bool comms_can_meet(int pe);

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
COMMS_INLINE void *comms_reach_among(bool checked, int pes, const void *address, size_t bytes, int pe, struct comms_peer **peer)
{
	size_t heap, globals;

	if (checked && COMMS_UNLIKELY((unsigned)pe >= (unsigned)pes))
		return NULL;
	*peer = comms_peer(pe);
	heap = (size_t)((const char *)address - comms.segments[COMMS_HEAP].base);
	if (COMMS_LIKELY(heap < (*peer)->reach[COMMS_HEAP].size))
		return comms_within(checked, &(*peer)->reach[COMMS_HEAP], heap, bytes);
	globals = (size_t)((const char *)address - comms.segments[COMMS_GLOBALS].base);
	if (COMMS_LIKELY(globals < (*peer)->reach[COMMS_GLOBALS].size))
		return comms_within(checked, &(*peer)->reach[COMMS_GLOBALS], globals, bytes);
	return NULL;
}

COMMS_INLINE void *comms_reach(const void *address, size_t bytes, int pe, struct comms_peer **peer)
{
	return comms_reach_among(true, comms.n_pes, address, bytes, pe, peer);
}

/*
 * For what a routine of the API does without calling anything: NULL as well while its calls are watched. A library configured
 * --disable-argument-checks leaves out the two looks at what the program gave; nothing can be watched then.
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
 * A bell's word of sleepers: their number; whether all wait for one granule of memory; if so, its segment and its place there.
 * All change at once, so who sees a sleeper sees what it waits for.
 */
#define COMMS_GRANULE 8
#define COMMS_BELL_KNOWN (1UL << 15)
#define COMMS_BELL_SEGMENT 16 /* the bit, and the place is above it */
#define COMMS_BELL_PLACE 17
#define COMMS_BELL_PLACES (UINT64_MAX >> COMMS_BELL_PLACE)

/* No sleeper waits for any of [address, address + bytes): most puts to a PE that sleeps find that out. */
COMMS_INLINE bool comms_bell_is_for_others(uint64_t sleepers, const void *address, size_t bytes)
{
	const char *base = comms.segments[sleepers >> COMMS_BELL_SEGMENT & 1].base;
	uint64_t offset = (uint64_t)((uintptr_t)address - (uintptr_t)base);
	uint64_t distance = (sleepers >> COMMS_BELL_PLACE) - offset / COMMS_GRANULE;

	return (sleepers & COMMS_BELL_KNOWN) &&
	       (distance & COMMS_BELL_PLACES) > (offset % COMMS_GRANULE + bytes - 1) / COMMS_GRANULE;
}

void comms_ring(struct comms_bell *bell);

/* After a store to [address, address + bytes) of a peer's memory: wakes it if it sleeps on that. */
COMMS_INLINE void comms_notify_of(const struct comms_peer *peer, const void *address, size_t bytes)
{
	uint64_t sleepers = atomic_load_explicit(&peer->bell->sleepers, memory_order_relaxed);

	if (COMMS_UNLIKELY(sleepers) && !comms_bell_is_for_others(sleepers, address, bytes))
		comms_ring(peer->bell);
}

/* It may be anything. */
COMMS_INLINE void comms_notify(const struct comms_peer *peer)
{
	if (COMMS_UNLIKELY(atomic_load_explicit(&peer->bell->sleepers, memory_order_relaxed)))
		comms_ring(peer->bell);
}

/*
 * A channel is what operations are ordered and completed in: its fence and its quiet are about what was done on it. NULL is
 * the default channel. One that is alone is used by one thread at a time, and for that takes no lock: at its
 * first operation over UCX it gets connections of its own. All others are free to everyone.
 */
struct comms_channel;

/* False: no memory. A channel that is never needed costs nothing else. */
bool comms_channel_open(bool alone, struct comms_channel **channel);
/* After a quiet. To be done before comms_stop. */
void comms_channel_close(struct comms_channel *channel);

/* The whole way: checks, first contact, any path. The nbi forms complete at a quiet of the channel. */
void comms_channel_put(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
		       const char *routine);
void comms_channel_put_nbi(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
			   const char *routine);
void comms_channel_get(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
		       const char *routine);
void comms_channel_get_nbi(struct comms_channel *channel, void *dest, const void *source, size_t bytes, int pe,
			   const char *routine);

enum comms_amo { COMMS_FETCH, COMMS_ADD, COMMS_AND, COMMS_OR, COMMS_XOR, COMMS_SWAP, COMMS_CSWAP };

/* Atomics on 4 or 8 bytes (width). The fetching form returns the old value, zero-extended. */
void comms_channel_amo(struct comms_channel *channel, enum comms_amo op, size_t width, void *dest, uint64_t operand,
		       int pe, const char *routine);
uint64_t comms_channel_amo_fetch(struct comms_channel *channel, enum comms_amo op, size_t width, void *dest,
				 uint64_t operand, uint64_t cond, int pe, const char *routine);
void comms_channel_amo_fetch_nbi(struct comms_channel *channel, enum comms_amo op, size_t width, void *result,
				 void *dest, uint64_t operand, uint64_t cond, int pe, const char *routine);

/* The same on a word that this process can reach. With a constant op the compiler leaves one instruction. */
#define COMMS_AMO_HERE(name, type)                                                                                    \
	COMMS_INLINE type name(enum comms_amo op, type *word, type operand, type cond)                                \
	{                                                                                                             \
		switch (op) {                                                                                         \
		case COMMS_FETCH:                                                                                     \
			return __atomic_load_n(word, __ATOMIC_SEQ_CST);                                               \
		case COMMS_ADD:                                                                                       \
			return __atomic_fetch_add(word, operand, __ATOMIC_SEQ_CST);                                   \
		case COMMS_AND:                                                                                       \
			return __atomic_fetch_and(word, operand, __ATOMIC_SEQ_CST);                                   \
		case COMMS_OR:                                                                                        \
			return __atomic_fetch_or(word, operand, __ATOMIC_SEQ_CST);                                    \
		case COMMS_XOR:                                                                                       \
			return __atomic_fetch_xor(word, operand, __ATOMIC_SEQ_CST);                                   \
		case COMMS_SWAP:                                                                                      \
			return __atomic_exchange_n(word, operand, __ATOMIC_SEQ_CST);                                  \
		case COMMS_CSWAP:                                                                                     \
			__atomic_compare_exchange_n(word, &cond, operand, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
			return cond;                                                                                  \
		}                                                                                                     \
		return 0;                                                                                             \
	}
COMMS_AMO_HERE(comms_amo_32, uint32_t)
COMMS_AMO_HERE(comms_amo_64, uint64_t)

/* Data, then an atomic on a word of the same PE that shows it. */
void comms_channel_put_signal(struct comms_channel *channel, void *dest, const void *source, size_t bytes,
			      uint64_t *word, uint64_t value, enum comms_amo op, bool nbi, int pe, const char *routine);

void comms_channel_fence(struct comms_channel *channel);
void comms_channel_quiet(struct comms_channel *channel);
/* Of what was done towards these PEs; one may be there twice. */
void comms_channel_quiet_pes(struct comms_channel *channel, const int *pes, size_t n);

/* The same on the default channel. */
static inline void comms_put(void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	comms_channel_put(NULL, dest, source, bytes, pe, routine);
}

static inline void comms_put_nbi(void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	comms_channel_put_nbi(NULL, dest, source, bytes, pe, routine);
}

static inline void comms_get(void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	comms_channel_get(NULL, dest, source, bytes, pe, routine);
}

static inline void comms_get_nbi(void *dest, const void *source, size_t bytes, int pe, const char *routine)
{
	comms_channel_get_nbi(NULL, dest, source, bytes, pe, routine);
}

static inline void comms_amo(enum comms_amo op, size_t width, void *dest, uint64_t operand, int pe, const char *routine)
{
	comms_channel_amo(NULL, op, width, dest, operand, pe, routine);
}

static inline uint64_t comms_amo_fetch(enum comms_amo op, size_t width, void *dest, uint64_t operand, uint64_t cond,
				       int pe, const char *routine)
{
	return comms_channel_amo_fetch(NULL, op, width, dest, operand, cond, pe, routine);
}

static inline void comms_amo_fetch_nbi(enum comms_amo op, size_t width, void *result, void *dest, uint64_t operand,
				       uint64_t cond, int pe, const char *routine)
{
	comms_channel_amo_fetch_nbi(NULL, op, width, result, dest, operand, cond, pe, routine);
}

static inline void comms_put_signal(void *dest, const void *source, size_t bytes, uint64_t *word, uint64_t value,
				    enum comms_amo op, bool nbi, int pe, const char *routine)
{
	comms_channel_put_signal(NULL, dest, source, bytes, word, value, op, nbi, pe, routine);
}

static inline void comms_fence(void)
{
	comms_channel_fence(NULL);
}

static inline void comms_quiet(void)
{
	comms_channel_quiet(NULL);
}

/*
 * The quiet in front of a meeting: what the network carries is complete. Stores need nothing here: the meeting publishes them, and who
 * leaves it has seen the words of all others.
 */
static inline void comms_complete(void)
{
	if (comms.quiets)
		comms_quiet();
}

/*
 * Puts data, then a word that shows it, in this order on every path; bytes may be 0. What it puts is nothing that a later
 * quiet waits for: who has seen the word has the data.
 */
void comms_tell(void *dest, const void *source, size_t bytes, _Atomic uint64_t *word, uint64_t value, int pe,
		const char *routine);
/* Only the word, behind what this PE has stored. */
void comms_tell_word(_Atomic uint64_t *word, uint64_t value, int pe, const char *routine);

/* Waits until all that was ever told over the network has arrived. */
void comms_complete_all(void);

/* Nobody leaves before every member has come. Plain stores made before are visible after. */
void comms_sync(struct comms_group *group);

/*
 * The members on each node meet. After all of them have come and before any leaves, one of them acts: the leader where the group
 * has levels; any where it is on one node; each where each member is on its own node. The action may be NULL.
 */
typedef void comms_action(void *argument);
void comms_meet_node(struct comms_group *group, comms_action *action, void *argument);

/* The members of a group on this node, when they are synchronised by memory group; else NULL. */
const struct comms_levels *comms_memory_parts(struct comms_group *group);
/* As comms_meet_node, for a group with memory parts: first, one member of each part acts for it when all of the part have come. */
void comms_meet_parts(struct comms_group *group, comms_action *part_action, comms_action *action, void *argument);

/* The node of each PE of the job, nodes numbered by their first PEs; returns how many. Each is its own where nobody knows. */
int comms_nodes(int *node_of);

/* Finds out what a group needs to meet; forgets it, when the group ends. */
void comms_group_see(struct comms_group *group);
void comms_group_forget(struct comms_group *group);
/* The members of a group that meet by the words of another slot. It has lists of the group, and needs comms_twin_forget. */
void comms_group_twin(struct comms_group *twin, struct comms_group *group, int slot);
void comms_twin_forget(struct comms_group *twin);
bool comms_all_on_node(const struct comms_group *group);
int comms_compare_ints(const void *left, const void *right);

/* Makes a slot new. To be done by all members before the first sync of a group, with a sync of others in between. */
void comms_slot_clear(int slot);

/* Complains unless the library is up and [address, address + bytes) is symmetric memory. */
void comms_check_symmetric(const void *address, size_t bytes, const char *argument, const char *routine);
void comms_check_up(const char *routine);
void comms_check_pe(int pe, const char *routine);

/*
 * What a routine of the API begins with: is the library up? If calls are watched, from here to the end of the block is one. PE
 * is whom it is about, if it is one. Costs one look at a word that says that there is nothing to do.
 */
#define COMMS_NOBODY (-1)
#define COMMS_CALL(routine, bytes, pe) \
	bool watched_ __attribute__((unused, cleanup(comms_call_end))) = comms_call_begin(routine, bytes, pe)

void comms_watch_begin(const char *routine, size_t bytes, int pe);
void comms_watch_end(void);

/* The library is up, and calls are neither watched nor checked. */
COMMS_INLINE bool comms_calls_are_quick(void)
{
	return comms.quick_pes > 0;
}

COMMS_INLINE bool comms_call_begin(const char *routine, size_t bytes, int pe)
{
	if (COMMS_LIKELY(comms_calls_are_quick()))
		return false;
	comms_watch_begin(routine, bytes, pe);
	return true;
}

COMMS_INLINE void comms_call_end(const bool *watched)
{
	if (COMMS_UNLIKELY(*watched))
		comms_watch_end();
}

#endif
