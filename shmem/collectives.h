/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_COLLECTIVES_H
#define SHMEM_COLLECTIVES_H

#include <shmemx.h>

#include "api.h"
#include "comms/core/near.h"
#include "comms/core/regions.h"
#include "comms/ops/notify.h"
#include "comms/collectives/tree_collective.h"
#include "comms/wait/wait.h"
#include "rte/settings.h"

/*
 * Collectives work on a set: members in order, with a barrier. There are two kinds: a team, or the
 * leaders of its nodes, with barrier and scratch in the team's slot; and an active set of the
 * deprecated interface that got no slot, and so has only the user's pSync array.
 *
 * A collective may write to a member's dest as soon as this PE calls it (the program ensures that
 * every dest is ready), but may read a member's source only after that member has entered. So a
 * collective that puts needs one barrier, at the end; one that gets needs a barrier at each end. A
 * collective between neighbours has no barrier: data goes, in as many pieces as it needs, into a
 * buffer of struct scratch by edge and parity, from which the receiver copies it
 * (docs/protocols/node.md).
 */
struct set {
	struct comms_group *group;
	struct shmemx_team *team; /* NULL: an active set without a slot */
	long *psync;		  /* of an active set without a slot */
	const char *routine;
};

/* Inline because it is a fifth of a small collective on a node. */
static inline struct set set_of_team(shmem_team_t handle, const char *routine)
{
	struct shmemx_team *team = api_team_or_die(handle, routine);

	hang_note_group(routine, &team->group);
	return (struct set){&team->group, team, NULL, routine};
}

static inline int set_pe(const struct set *set, int i)
{
	return comms_group_pe(set->group, i);
}

/* The set that an active-set routine names. Reports invalid ones. */
struct set set_of_active(int start, int log_stride, int size, long *psync, const char *routine);
void api_forget_active_sets(void);

/*
 * Takes a slot that is free on all PEs of the set that want one; COMMS_SLOTS: there is none. PEs
 * that want none must call this, too.
 */
enum slot_wish { SLOT_NOT_FOR_ME, SLOT_IF_FREE, SLOT_NEVER };
int api_agree_on_slot(const struct set *set, enum slot_wish wish);

/*
 * Makes a team of these PEs of the world, the members of the set, and takes ownership of the list.
 * NULL: no slot is free.
 */
struct shmemx_team *api_team_of_list(const struct set *set, int *pes, int me);

void set_sync(const struct set *set);

/* Records the arguments of the collective that begins, for crash reports. */
static inline void set_note(const struct set *set, const void *dest, size_t dest_bytes, const void *source,
			    size_t source_bytes)
{
	comms_near_both = (struct comms_near_both){set->routine, dest, source, dest_bytes, source_bytes};
}

/* Completes this PE's puts, then runs a barrier. */
void set_finish(const struct set *set);

/* The leaders of a team's nodes, or the team itself if no two members share a node. */
struct set set_of_leaders(const struct set *set);

/*
 * Determines the torus of a team's nodes, and measures its links. A collective: all members call it
 * before they use the team's topology, which is NULL if there is none. Later calls do nothing.
 */
void set_prepare_topology(const struct set *set);

#define SET_WATCHED_FROM (64UL << 10) /* bytes; smaller collectives do not count */
/*
 * Checks the cables of a team's topology together with all members, if enough bytes have moved
 * since the last check. All members call this once in a collective that moves this many bytes,
 * before they choose trees. Does nothing for small messages.
 */
void set_check_cables_before(const struct set *set, size_t bytes);
/*
 * The same after the bytes have moved; checks only if the team is at rest. Returns true if it has
 * checked.
 */
bool set_check_cables_after(const struct set *set, size_t bytes, bool at_rest);
/* Is the team on a torus whose cables can be checked? All members get the same answer. */
bool set_watches(const struct set *set);
/* Prints the cables that have changed. */
void set_print_faults(const struct set *set);

/*
 * Rebuilds the plans of a team whose trees were chosen before its topology last changed. A
 * collective, for a team with a topology.
 */
void api_plans_follow(const struct set *set);

/*
 * Called after each barrier and sync of a team by the program: programs that only start plans have
 * no other collective in which to notice cables.
 */
void api_plans_watch(struct shmemx_team *team, const char *routine);
static inline void team_watch_plans(struct shmemx_team *team, const char *routine)
{
	if (COMMS_UNLIKELY(team->watch.agree_each > 0))
		api_plans_watch(team, routine);
}

/* out[i] = low[i] op high[i]; low is from the lower member. */
typedef void combine_t(void *out, const void *low, const void *high, size_t count);

/*
 * With SHMEM_CHECK set: ends the job with a message if a member's routine, its two numbers or its
 * dest differ from the first member's. The names are those of the numbers; NULL: there is no such
 * number. dest is NULL if it need not be symmetric.
 */
void set_must_agree(const struct set *set, const char *name, long value, const char *name2, long value2,
		    const void *dest);

static inline void set_check_agreement(const struct set *set, const char *name, long value, const char *name2,
				       long value2, const void *dest)
{
	if (COMMS_UNLIKELY(comms.checks))
		set_must_agree(set, name, value, name2, value2, dest);
}

/*
 * With SHMEM_CHECK set: ends the job if source or dest is not in a block of the heap, or if they
 * overlap. They may be equal if the routine allows that.
 */
struct set_span {
	const void *data;
	size_t bytes;
};
void set_check_overlap(const struct set *set, struct set_span dest, struct set_span source, bool may_be_same);

/*
 * With SHMEM_CHECK set: is the pSync of an active set unused, and SHMEM_SYNC_VALUE? Call the first
 * before the set is first determined, the others at the start and the end of each call.
 */
struct psync_use {
	const struct set *set; /* NULL: checks nothing */
	uint64_t call;
};
void set_check_psync_new(const long *psync, const char *routine);
struct psync_use set_psync_take(const struct set *set, bool only_sync);
void set_psync_give_back(struct psync_use *use);

static inline struct psync_use set_psync_enter(const struct set *set, bool only_sync)
{
	return COMMS_UNLIKELY(comms.checks) ? set_psync_take(set, only_sync) : (struct psync_use){NULL, 0};
}

static inline void set_psync_leave(struct psync_use *use)
{
	if (COMMS_UNLIKELY(use->set != NULL))
		set_psync_give_back(use);
}

/* Each reads its setting; the words in rte/settings.def have the order of its enum. */
void api_broadcasts_start(void);
void api_reductions_start(void);
void api_gathers_start(void);
void api_alltoalls_start(void);
/* All members of the team call `follow` at the end of each check of the cables. */
void api_faults_start(void (*follow)(const struct set *set));

/*
 * The members agree on the trees of a torus for a broadcast or reduction between nodes; none if
 * another algorithm is faster. These are collectives: the first call measures the links, and later
 * ones may check the cables. shared: members of a node load and store each other's data. The root
 * of a reduction is a node, or -1 for the middle.
 */
struct set_trees {
	struct torus_tree_choice tree_choice;
	const struct torus_disjoint_trees *disjoint;
};
struct set_trees set_agree_on_broadcast_trees(const struct set *set, size_t bytes, int root);
struct set_trees set_agree_on_reduce_trees(const struct set *set, size_t bytes, bool shared, int root);
/*
 * The members agree whether the ring all-reduce of a torus is faster than these trees or, if there
 * are none, than parts. A collective like the ones above.
 */
bool set_agree_on_ring_allreduce(const struct set *set, size_t bytes, bool shared,
				 const struct torus_tree_choice *trees);

/*
 * Returns the function that combines elements of a type, and their size; NULL: the type lacks the
 * operation.
 */
combine_t *set_combine(shmemx_op_t operation, shmemx_type_t type, size_t *size);

/* The size of an element; 0: there is no such type. */
size_t set_type_size(shmemx_type_t type);

/* The same for words; returns false if the elements cannot be combined as words. */
struct words_method;
bool set_find_method(combine_t *combine, struct words_method *method);

/*
 * The complete collectives of one member; shmem/team_collectives.c has the routines that call
 * them. Sizes are in bytes, counts in elements.
 */
void set_broadcast(const struct set *set, void *dest, const void *source, size_t bytes, int root, bool root_too);
void set_fcollect(const struct set *set, void *dest, const void *source, size_t bytes);
void set_collect(const struct set *set, void *dest, const void *source, size_t bytes);
void set_alltoall(const struct set *set, void *dest, const void *source, size_t bytes);
/* `count` elements for each member. Strides are in elements, the size in bytes. */
struct set_strided {
	ptrdiff_t dst, sst;
	size_t size, count;
};
void set_alltoalls(const struct set *set, void *dest, const void *source, struct set_strided elements);
void set_reduce(const struct set *set, void *dest, const void *source, size_t count, size_t size, combine_t *combine);
struct scan {
	const struct set *set;
	char *dest;
	const char *source;
	size_t count, size;
	combine_t *combine;
	bool inclusive;
};
void set_scan(struct scan *scan);

/*
 * Each member puts a block to every member's dest: the same one, or with a step, a different one to
 * each. A barrier follows.
 */
void set_push_blocks(const struct set *set, char *dest, const char *source, size_t source_step, size_t bytes);

/*
 * The same with blocks of equal size, the lowest member's first in dest. On return this member has
 * all blocks, but others may not.
 */
void set_exchange_blocks(const struct set *set, char *dest, const char *source, size_t source_step, size_t bytes);

/* Whether a leader can load and store the data of the members of its node. */
bool set_reaches_all_here(const struct set *set, const void *dest, const void *source);
/* A block for each member: the size of an element, and the distance between elements. */
struct set_blocks {
	char *dest;
	const char *source;
	size_t bytes; /* of all elements of a block */
	size_t size, dst, sst;
};
/*
 * Alltoall from neighbour to neighbour on the team's torus. All nodes have as many members, and
 * set_reaches_all_here. Where a cable is dead or slow, the links are those of the torus without it,
 * while direct messages go over it or round it.
 */
void set_alltoall_by_links(const struct set *set, const struct set_blocks *blocks);

/*
 * Alltoall without checks of its arguments: a block of so many bytes for each member. The caller
 * has called comms_group_prepare.
 */
void set_alltoall_unchecked(const struct set *set, void *dest, const void *source, size_t bytes);
/*
 * Blocks that differ in size, for a team whose nodes have one member each: may they go from
 * neighbour to neighbour on the torus? Then set_prefers_links says whether that is fastest: longest
 * is the longest block, and sent the most that a member sends. Both are collectives, and the second
 * may check the cables.
 */
bool set_may_take_links(const struct set *set);
bool set_prefers_links(const struct set *set, size_t longest, size_t sent);

/* The bitwise and of the members' values, except for the last bit. */
uint64_t set_and(const struct set *set, uint64_t mine);
uint64_t set_reduce_and(const struct set *team, uint64_t mine);
/* The maximum of the values of a team's members. */
uint64_t set_max(const struct set *team, uint64_t mine);
/* Replaces each word by its reduction over the team's members. The words need not be symmetric. */
enum set_operation { SET_SUM, SET_LEAST, SET_MOST };
void set_reduce_words(const struct set *team, uint64_t *words, size_t count, enum set_operation operation);

/*
 * For 2^22 members, and two more for an odd number: one to fold members in, one to send them the
 * result.
 */
#define ROUNDS 24
#define PIECE_BYTES 2048 /* a small message between two members */
#define ROW_BYTES 8192	 /* source that a member shows to the other members of its node */
#define COUNTS 1024	 /* sizes that members exchange at a time */
#define BROADCASTS 32	 /* outstanding at once */
/* That the members of a node exchange with all others through their leader. */
#define ALLTOALL_BYTES 24576
#define NODES_AT_ONCE 1024 /* that exchange in this way */

/*
 * A small piece and the word that shows it share one line. Only for collectives in which each
 * member waits for every other one, directly or through others: the slot of the piece before the
 * last is then free again (docs/protocols/node.md). Other collectives need their own words.
 */
#define SMALL_PIECE 48
struct piece_slot {
	_Alignas(64) _Atomic uint64_t received;
	_Alignas(16) char small[SMALL_PIECE];
};
_Static_assert(sizeof(struct piece_slot) == 64, "one line");

/*
 * The arguments of a member's call, for comparison by the others; for an active set without a slot,
 * at the end of pSync.
 */
struct agreement {
	long routine, value, value2, dest;
};

struct plan_block {
	uint64_t ports, staging, edges; /* positions in the memory of plans, and number of edges */
	uint64_t ready_queue;		/* of this member's NIC: see comms/core/sessions.h */
};

/*
 * Every member of a team has this in the team's slot. docs/protocols/node.md lists who may write
 * which field when. The number stored in a word counts calls, or pieces, and grows alike on all
 * members. The struct fills most of COMMS_SCRATCH_BYTES (comms/core/system.h); to grow, it needs a
 * larger COMMS_SLOT_BYTES, which every team pays for.
 */
struct scratch {
	struct agreement agreement;
	/* Routine whose arguments are compared. */
	char called[64];
	_Atomic uint64_t psync_use;			     /* see checks.c */
	struct plan_block plan;				     /* of the plan being made */
	_Alignas(64) _Atomic uint64_t broadcast[BROADCASTS]; /* by the number of the broadcast */
	/* By round; the last one: along the ring. */
	_Alignas(64) _Atomic uint64_t gathered[ROUNDS + 1];
	_Atomic uint64_t gathered_by_lines[ROUNDS]; /* by round, from above and from below */
	/* By the parity of the piece, and by round. */
	struct piece_slot slot[2][ROUNDS];
	/* By node: the number of the last alltoall whose part arrived. */
	_Atomic uint64_t arrived[NODES_AT_ONCE];
	/* Words end here: a new team need not clear the fields below. */
	_Alignas(64) char row[ROW_BYTES];    /* this member's source */
	_Alignas(64) char result[ROW_BYTES]; /* for the members of this PE's node */
	_Alignas(64) uint64_t counts[COUNTS];
	_Alignas(64) char piece[2][ROUNDS][PIECE_BYTES]; /* pieces that do not fit in their slots */
	/* Data of this leader's node for other nodes in an alltoall. */
	_Alignas(64) char out[ALLTOALL_BYTES];
	/* Data from other nodes, by the parity of its number. */
	char in[2][ALLTOALL_BYTES];
	_Alignas(64) char window[ALLTOALL_BYTES]; /* packed elements of other members */
};
_Static_assert(sizeof(struct scratch) <= COMMS_SCRATCH_BYTES, "the scratch holds it all");

/* The address where other members put a piece for this one. */
static inline char *piece_place(struct scratch *scratch, uint64_t epoch, int round, size_t bytes)
{
	return bytes <= SMALL_PIECE ? scratch->slot[epoch & 1][round].small : scratch->piece[epoch & 1][round];
}

static inline struct scratch *team_scratch(const struct shmemx_team *team)
{
	return (struct scratch *)comms.system->slot[team->group.slot].scratch;
}

static inline struct torus_area *team_torus(const struct shmemx_team *team)
{
	return (struct torus_area *)comms.system->slot[team->group.slot].torus;
}

/* The scratch of another member of this node, for load and store. */
static inline struct scratch *scratch_of(const struct shmemx_team *team, int pe)
{
	return (struct scratch *)comms_system_of(pe)->slot[team->group.slot].scratch;
}

/* The address in another PE's memory on this node that corresponds to this one. */
static inline char *set_memory_of(const void *address, int pe)
{
	struct comms_peer *peer;

	return comms_reach_any(address, 1, pe, &peer);
}

static inline void await_flag(_Atomic uint64_t *word, uint64_t value)
{
	COMMS_WAIT(word, atomic_load_explicit(word, memory_order_acquire) >= value);
}

#endif
