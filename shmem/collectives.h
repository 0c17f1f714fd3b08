/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_COLLECTIVES_H
#define SHMEM_COLLECTIVES_H

#include <shmemx.h>

#include "api.h"
#include "comms/core/near.h"
#include "comms/ops/notify.h"
#include "comms/collectives/tree_collective.h"
#include "comms/wait/wait.h"
#include "rte/settings.h"

/*
 * Collectives work on a set: members in order, with a barrier. Two kinds exist: a team, or the leaders of
 * its nodes, whose barrier and scratch are in the team's slot; and an active set of the deprecated interface
 * for which no slot was left, which has nothing but the user's pSync array.
 *
 * A collective may write to a member's dest as soon as this PE calls it (the program ensures that every dest is ready),
 * but may read a member's source only after that member has entered. So a collective that puts needs one barrier, at the
 * end; one that gets needs a barrier at each end. Between neighbours there is no barrier that could tell anybody else: data goes into a
 * buffer of struct scratch by edge and parity, in as many pieces as it needs, and the receiver copies it (docs/protocols/node.md).
 */
struct set {
	struct comms_group *group;
	struct shmemx_team *team; /* NULL: an active set without a slot */
	long *psync;		  /* of such a set */
	const char *routine;
};

/* Inline: it is a fifth of a small collective on a node. */
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

/* The set that an active-set routine names. Complains of sets that are none. */
struct set set_of_active(int start, int log_stride, int size, long *psync, const char *routine);
void api_forget_active_sets(void);

/*
 * Takes a slot that is free on all PEs of the set that want one; COMMS_SLOTS: there is none. PEs that want none
 * call this all the same.
 */
enum slot_wish { SLOT_NOT_FOR_ME, SLOT_IF_FREE, SLOT_NEVER };
int api_agree_on_slot(const struct set *set, enum slot_wish wish);

/* Makes a team of these PEs of the world, which are those of the set, and takes over the list. NULL: no slot is left. */
struct shmemx_team *api_team_of_list(const struct set *set, int *pes, int me);

void set_sync(const struct set *set);

/* Notes the arguments of the collective that begins now, for the report of a crash. */
static inline void set_note(const struct set *set, const void *dest, size_t dest_bytes, const void *source,
			    size_t source_bytes)
{
	comms_near_both = (struct comms_near_both){set->routine, dest, source, dest_bytes, source_bytes};
}

/* Completes this PE's puts, then runs a barrier. */
void set_finish(const struct set *set);

/* The leaders of a team's nodes; the team itself if its members share no node. */
struct set set_of_leaders(const struct set *set);

/*
 * Finds the torus that the nodes of a team are on, and measures its links: a collective, to be called by all members alike
 * before they use the team's topology, which is NULL if there is none. Does nothing after the first call.
 */
void set_prepare_topology(const struct set *set);

#define SET_WATCHED_FROM (64UL << 10) /* bytes: less does not count */
/*
 * Checks the cables of a team's topology together with all members, if enough bytes have moved since the last check.
 * All members call this alike, once in a collective that moves so many bytes and before they choose trees. Does nothing
 * for small messages.
 */
void set_check_cables_before(const struct set *set, size_t bytes);
/* The same after the bytes have moved; checks only if the team is at rest. True if it has checked. */
bool set_check_cables_after(const struct set *set, size_t bytes, bool at_rest);
/* Is the team on a torus whose cables may be checked? All members have the same answer. */
bool set_watches(const struct set *set);
/* Prints the cables that have changed. */
void set_print_faults(const struct set *set);

/* Makes the plans of a team again whose trees were chosen before its topology last changed: a collective, for a team with a topology. */
void api_plans_follow(const struct set *set);

/* Follows each barrier and sync of a team that the user calls: programs that only start plans have no other collective to notice cables in. */
void api_plans_watch(struct shmemx_team *team, const char *routine);
static inline void team_watch_plans(struct shmemx_team *team, const char *routine)
{
	if (COMMS_UNLIKELY(team->watch.agree_each > 0))
		api_plans_watch(team, routine);
}

/* out[i] = low[i] op high[i], low from the lower member. */
typedef void combine_t(void *out, const void *low, const void *high, size_t count);

/*
 * With SHMEM_CHECK set: do all members call the same routine with the same two numbers and the same dest? Ends the job with a
 * message where one differs from the first member. The names belong to the numbers; NULL: there is no such number. A dest
 * that need not be symmetric is given as NULL.
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
 * With SHMEM_CHECK set: ends the job where source or dest is no block of the heap, and where they overlap, unless they may be the same and
 * are.
 */
struct set_span {
	const void *data;
	size_t bytes;
};
void set_check_overlap(const struct set *set, struct set_span dest, struct set_span source, bool may_be_same);

/*
 * With SHMEM_CHECK set: is the pSync of an active set free, and SHMEM_SYNC_VALUE? Call the first before the set is known for the first
 * time, the others at the beginning and the end of each call.
 */
struct psync_use {
	const struct set *set; /* NULL: nothing is checked */
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
/* follow is called at the end of each check of the cables, by all members of the team. */
void api_faults_start(void (*follow)(const struct set *set));

/*
 * The members agree on the trees of a torus that a broadcast or a reduction takes between nodes; none where another
 * algorithm is faster. These are collectives: the first call measures the links, and later ones may check the cables.
 * shared: members of a node load and store each other's data. A reduction's root is a node, or -1 for the middle.
 */
struct set_trees {
	struct torus_tree_choice tree_choice;
	const struct torus_disjoint_trees *disjoint;
};
struct set_trees set_agree_on_broadcast_trees(const struct set *set, size_t bytes, int root);
struct set_trees set_agree_on_reduce_trees(const struct set *set, size_t bytes, bool shared, int root);
/*
 * The members agree whether they take the ring all-reduce of a torus: it is faster than these trees, or, if there are
 * none, than parts. A collective like the ones above.
 */
bool set_agree_on_ring_allreduce(const struct set *set, size_t bytes, bool shared,
				 const struct torus_tree_choice *trees);

/* Combines elements of a type, and sets their size; NULL: the type lacks the operation. */
combine_t *set_combine(shmemx_op_t operation, shmemx_type_t type, size_t *size);

/* The same word by word; false: the elements cannot be combined so. */
struct words_method;
bool set_find_method(combine_t *combine, struct words_method *method);

/* The whole collective for one member; shmem/collectives.c has the routines that call them. Sizes are in bytes unless they are counts. */
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

/* Each member puts a block to every member's dest: the same block or, with a step, one for each. A barrier follows. */
void set_push_blocks(const struct set *set, char *dest, const char *source, size_t source_step, size_t bytes);

/* The same with blocks of one size, the lowest member's first at dest. On return this member has its blocks; others may not have theirs. */
void set_exchange_blocks(const struct set *set, char *dest, const char *source, size_t source_step, size_t bytes);

/*
 * The members agree whether an alltoall goes from neighbour to neighbour on the team's torus: it is faster than from
 * each to each, or it is forced and possible. A collective like set_agree_on_broadcast_trees; nodes have equal numbers
 * of members.
 */
bool set_agree_on_links(const struct set *set, const void *dest, const void *source, size_t bytes, bool forced);
/* A block for each member: elements of so many bytes, and how far it is from one to the next. */
struct set_blocks {
	char *dest;
	const char *source;
	size_t bytes; /* of all elements of a block */
	size_t size, dst, sst;
};
void set_alltoall_by_links(const struct set *set, const struct set_blocks *blocks);

/* The and of the members' values; the last bit does not count. */
uint64_t set_and(const struct set *set, uint64_t mine);
uint64_t set_reduce_and(const struct set *team, uint64_t mine);
/* The greatest of the values of a team's members. */
uint64_t set_max(const struct set *team, uint64_t mine);
/* Replaces each word by the result over the team's members. The words need not be symmetric memory. */
enum set_operation { SET_SUM, SET_LEAST, SET_MOST };
void set_reduce_words(const struct set *team, uint64_t *words, size_t count, enum set_operation operation);

#define ROUNDS 24	     /* 2^22 members, one round to fold in the odd ones, one to send them the result */
#define PIECE_BYTES 2048     /* of a small exchange between two members */
#define ROW_BYTES 8192	     /* that the members of a node lay out for each other */
#define COUNTS 1024	     /* sizes that members exchange at a time */
#define BROADCASTS 32	     /* outstanding at once */
#define ALLTOALL_BYTES 24576 /* that the members of a node exchange with all others through their leader */
#define NODES_AT_ONCE 1024   /* that do so */

/*
 * A small piece comes in one line with the word that shows it. Only for collectives in which each member waits for each other one, directly or
 * through others: then a slot of the piece before the last is free again (docs/protocols/node.md). Others need words of their own.
 */
#define SMALL_PIECE 48
struct piece_slot {
	_Alignas(64) _Atomic uint64_t received;
	_Alignas(16) char small[SMALL_PIECE];
};
_Static_assert(sizeof(struct piece_slot) == 64, "one line");

/* What a member called with, for the others to compare; of an active set without a slot, at the end of pSync. */
struct agreement {
	long routine, value, value2, dest;
};

struct plan_block {
	uint64_t ports, staging, edges; /* where they are in the memory of plans, and how many edges */
	uint64_t ready_queue;		/* of this member's NIC: see comms/core/sessions.h */
};

/*
 * Every member of a team has this in the team's slot; docs/protocols/node.md lists who may write what when. Numbers that come with
 * a word are counts of calls, or of pieces, which grow alike in all members. Most of COMMS_SCRATCH_BYTES (comms/core/system.h) is in use: it
 * may grow, at the price of so much more for each team, with COMMS_SLOT_BYTES.
 */
struct scratch {
	struct agreement agreement;
	char called[64];				     /* the routine whose arguments are compared */
	_Atomic uint64_t psync_use;			     /* see checks.c */
	struct plan_block plan;				     /* of the plan that is being made */
	_Alignas(64) _Atomic uint64_t broadcast[BROADCASTS]; /* by the number of the broadcast */
	_Alignas(64) _Atomic uint64_t gathered[ROUNDS + 1];  /* by round; the last: along the ring */
	_Atomic uint64_t gathered_by_lines[ROUNDS];	     /* by round, from above and from below */
	struct piece_slot slot[2][ROUNDS];		     /* by the parity of a piece, and by round */
	/* by node: the number of the last alltoall its part came of */
	_Atomic uint64_t arrived[NODES_AT_ONCE];
	/* Words end here: what follows need not be clear when a team gets it. */
	_Alignas(64) char row[ROW_BYTES];    /* this member's source */
	_Alignas(64) char result[ROW_BYTES]; /* what the members of its node get */
	_Alignas(64) uint64_t counts[COUNTS];
	_Alignas(64) char piece[2][ROUNDS][PIECE_BYTES]; /* those that do not fit in their slots */
	_Alignas(64) char out[ALLTOALL_BYTES];		 /* what this leader's node sends to others in an alltoall */
	char in[2][ALLTOALL_BYTES];			 /* what they send, by the parity of its number */
	_Alignas(64) char window[ALLTOALL_BYTES];	 /* packed elements of others */
};
_Static_assert(sizeof(struct scratch) <= COMMS_SCRATCH_BYTES, "the scratch holds it all");

/* Where the others put a piece for me. */
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

/* Where a PE whose memory is here has what is at this address of mine. */
static inline char *set_memory_of(const void *address, int pe)
{
	struct comms_peer *peer;

	comms_connect(pe);
	return comms_reach(address, 1, pe, &peer);
}

static inline void await_flag(_Atomic uint64_t *word, uint64_t value)
{
	COMMS_WAIT(word, atomic_load_explicit(word, memory_order_acquire) >= value);
}

#endif
