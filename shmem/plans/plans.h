/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_PLANS_H
#define SHMEM_PLANS_H

/*
 * Persistent plans: making a plan writes a collective as a list of commands
 * (comms/plans/commands.h).
 *
 * edge     data that goes from one PE to another in one run. `near`: the receiver loads it from the
 *          sender's memory and notifies the sender. Otherwise the sender puts it after the receiver
 *          has notified it of room
 * port     words of a PE for one other PE, a line: `came` counts arrivals from it or data that may
 *          be loaded (four words, used cyclically by segments); `answer` counts notifications in
 *          the opposite direction; `own` counts this PE's own steps
 * block    of a plan in the memory of plans: its ports and its staging. Each member allocates its
 *          own; the others learn its position when they make the plan
 *
 * All members add the same edges, each from its side. A port has the same number at both ends
 * unless the edge names two.
 */
#include "shmem/collectives.h"
#include "comms/plans/commands.h"

#define CAME 4

struct port {
	_Alignas(64) _Atomic uint64_t came[CAME];
	_Atomic uint64_t answer, own;
};

struct maker;

/* The arguments of a plan, to make it again after its team's trees have changed (plans_again.c). */
struct plan_order {
	/* Returns false if some member has no room. NULL: cannot be made again. */
	bool (*make)(struct maker *m, const struct plan_order *order);
	void *dest;
	const void *source;
	size_t bytes, count; /* count: of elements, for reductions */
	int root;	     /* -1: all */
	int op, type, executor;
	bool near;
	struct set_strided strided; /* of an alltoall with strides */
	/* Blocks in dest and in source that differ in size, while the plan is made. */
	const struct vector *to, *from;
};

/*
 * One thread uses a plan, but another one may make it again: the plan is then held, and a start
 * waits.
 */
enum plan_state { PLAN_IDLE, PLAN_STARTED, PLAN_HELD };

/* Words that start a plan, and say that it is over (plan_words.c). */
struct plan_words {
	uint64_t *start, *done; /* NULL: there are none */
	uint64_t seen;		/* value of start at the last run */
	bool under_way;
	bool by_executor; /* the list was the executor's before */
};

struct shmemx_plan {
	struct comms_list list;
	struct shmemx_team *team; /* NULL: this plan is free */
	size_t block, room;	  /* room: bytes of the block */
	struct port *ports;
	char *staging;
	atomic_int state;
	uint64_t number; /* among all plans ever made on its team */
	struct plan_order order;
	int changes;	  /* changes of the team's topology before it was made */
	uint64_t counted; /* runs counted by plans_moved */
	struct plan_words words;
	bool divides; /* a start or the end of a run divides, for an average */
	/* Of requests (requests.c): what the plan is for; NULL: a plan of the program. */
	const struct plan_kind *kind;
	struct plan_order key;
	uint64_t serial; /* among all plans of this PE */
	uint64_t used;	 /* number of the team's request that started it last */
};

/* A plan while it is being made. */
struct maker {
	struct set set;
	struct shmemx_plan *plan;
	struct shmemx_plan *again; /* the plan being made again; NULL: a new one */
	bool near;		   /* PEs of a node load and store each other's data */
	int executor;
	size_t bytes;
	bool quiet;   /* a missing room is not reported */
	int known_pe; /* the last PE whose block was looked up, -1: none */
	struct plan_block known;
};

/* A collective as a plan: how its arguments are checked, and made into commands. */
struct plan_kind {
	void (*check)(struct maker *m, const struct plan_order *order);
	bool (*make)(struct maker *m, const struct plan_order *order);
	bool again;   /* its plans can be made again */
	bool divides; /* averages: a start or the end of a run divides */
};
extern const struct plan_kind plan_broadcast, plan_allgather, plan_alltoall, plan_reduction, plan_sync;
extern const struct plan_kind plan_reduce_scatter, plan_alltoalls, plan_inscan, plan_exscan;
/*
 * The function that reduces, and the size of an element. Ends the job if there is no such
 * reduction.
 */
combine_t *plan_operation(const struct plan_order *order, size_t *size, const char *routine);
/*
 * Checks, and makes the complete plan. If there is no room, plans of the team's requests make room,
 * one after another. Returns what the routines that make plans return.
 */
int plan_of_kind(struct maker *m, const struct plan_kind *kind, struct plan_order order, shmemx_plan_t *plan);

/* The plans of a team's requests: how many, and the bytes of their blocks. */
struct plans_kept {
	int count;
	size_t bytes;
};
/*
 * For requests. A plan of a team with this kind and key; the one that was used longest ago; and the
 * steps of its runs. plan_discard is a collective, after the last run is over here.
 */
struct shmemx_plan *plan_find(const struct shmemx_team *team, const struct plan_kind *kind,
			      const struct plan_order *key);
struct shmemx_plan *plan_oldest(const struct shmemx_team *team, struct plans_kept *kept);
void plan_start_run(struct shmemx_plan *plan, const char *routine);
/* The same as a start, but returns false if the plan is held. */
bool plan_try_run(struct shmemx_plan *plan);
void plan_wait_run(struct shmemx_plan *plan);
/* Returns false while the last run is under way. */
bool plan_test_run(struct shmemx_plan *plan);
void plan_discard(const struct set *set, struct shmemx_plan *plan);
/* The same for the one that was used longest ago, after its run. Returns false if there is none. */
bool plan_discard_oldest(const struct set *set);

/*
 * A plan at rest takes words, or NULL: none. A plan with words: has it run for the last value of
 * start?
 */
void plan_take_words(struct shmemx_plan *plan, uint64_t *start, uint64_t *done, const char *routine);
void plan_lose_words(struct shmemx_plan *plan);
bool plan_words_are_over(const struct shmemx_plan *plan);

/* The condition under which a queue's command may run. */
struct when {
	_Atomic uint64_t *word; /* NULL: at once */
	int64_t each, nth;
};
#define AT_ONCE ((struct when){0})

/*
 * Makes a plan with this many ports and bytes of staging. near: this node's PEs can access the
 * data. Returns false if some member, which reports it, has no room; a plan to be made again is
 * then unchanged.
 */
bool plan_begin(struct maker *m, size_t ports, size_t staging, size_t edges);
/* Returns false if the job has broken meanwhile: the commands are of no use. */
bool plan_end(struct maker *m, shmemx_plan_t *plan);
/*
 * For making old plans of a team again: the next plan, in the order of their numbers, after the one
 * with this number that has a record of the call that made it (struct plan_order) and was made
 * before the team's topology changed. NULL: there is no further one.
 */
struct shmemx_plan *plan_after(const struct shmemx_team *team, uint64_t number);
/*
 * Bytes that this PE's runs of a team's plans have moved since the last call, for large plans of
 * kinds that can be made again. A plan that is running counts next time.
 */
size_t plans_moved(const struct shmemx_team *team, bool *under_way);
/* While a plan is held, a start waits. Returns false if the plan is running (plans_again.c). */
bool plan_hold(struct shmemx_plan *plan);
void plan_release(struct shmemx_plan *plan);

/* Checks the arguments that all routines that make a plan share. */
struct maker plan_maker(shmem_team_t team, int executor, size_t bytes, const char *routine);
/* Symmetric data only. */
void plan_check_data(struct maker *m, const void *dest, size_t dest_bytes, const void *source, size_t source_bytes);

bool plan_is_near(const struct maker *m, int pe);
/* Its address in this PE. */
void *plan_here(const struct maker *m, const void *address, int pe);
struct port *plan_port(struct maker *m, int pe, size_t port);
char *plan_staging(struct maker *m, int pe);
const struct plan_block *plan_block_of(struct maker *m, int pe);

/* Queues have numbers; commands are added at their ends. */
int plan_queue(struct maker *m);
void plan_await(struct maker *m, int queue, struct when when);
void plan_notify(struct maker *m, int queue, int pe, struct when notified);
/* For a PE that is not near. */
void plan_put(struct maker *m, int queue, struct when when, int pe, struct comms_piece data, struct when notified);
/* Copies piece by piece; `when` holds for the first. */
void plan_copy(struct maker *m, int queue, struct when when, void *dest, const void *source, size_t bytes);
/* dest[i] = source[i] op with[i] */
struct combination {
	void *dest;
	const void *source, *with;
	size_t count;
	combine_t *combine;
};
void plan_combine(struct maker *m, int queue, struct when when, const struct combination *combination);

/* A place in symmetric memory, as a member shows it to others: by its address in any PE. */
struct spot {
	uint64_t segment, offset;
};
/* No bytes: any place. */
struct spot spot_of(const void *address, size_t bytes);
void *spot_address(const struct spot *spot);

/* Complete edges; at most this many. */
struct edges {
	struct plan_edge *edge;
	size_t count;
};
struct edge_end {
	int pe;
	size_t mine, theirs; /* ports */
};
void plan_edges_begin(const struct maker *m, struct edges *edges, size_t most);
/*
 * From the giver's source, by its address here, to this PE's dest; no copy if the source is dest.
 */
void plan_edge_in(const struct maker *m, struct edges *edges, struct edge_end end, void *dest, const void *source,
		  size_t bytes);
void plan_edge_out(const struct maker *m, struct edges *edges, struct edge_end end, void *dest, const void *source,
		   size_t bytes);
/*
 * Adds the commands; all members call this. Returns false, with nothing added, if only the NIC may
 * carry data between nodes and it cannot.
 */
bool plan_edges_end(struct maker *m, struct edges *edges, bool only_by_nic);

/* Adds a session of the NIC to a queue; done: this PE's part of it has ended. */
void plan_by_nic(struct maker *m, int queue, struct comms_session *session);
void plan_nic_is_done(struct maker *m, int queue);
/* Is there a NIC that executes plans, and may it execute this one? */
bool plan_wants_nic(const struct maker *m);
/* Adds to a queue a procedure that uses the network; the queue advances it until it ends. */
void plan_advance(struct maker *m, int queue, struct comms_procedure procedure);

/* --- Nodes and trees (plan_trees.c) --- */

/* The nodes of a team as a plan sees them: if data is not shared, each PE is a node. */
struct nodes {
	const struct set *set;
	const struct comms_levels *levels; /* NULL: all members are on one node, or each is one */
	int count, mine;
	int size, place; /* number of PEs on this node, and this PE's index */
};
struct nodes plan_nodes(const struct maker *m);
int plan_node_of(const struct nodes *nodes, int member);
int plan_node_pe(const struct nodes *nodes, int place);
/*
 * The index of the leader on this node: the root if it is here, else the first. root -1: always the
 * first.
 */
int plan_first(const struct nodes *nodes, int root);

/* Ports: by direction and step in trees, the same for going up, and by index on the node. */
enum { PORTS_DOWN = 0, PORTS_UP = 32, PORTS_NODE = 64 };

/*
 * An all-reduce between nodes by the rings of a torus (plan_rings.c), as the collective does it:
 * the leader has this node's contribution in source. All of it is one queue. Or a reduce-scatter
 * between PEs that are nodes: source has a block for each member, and dest gets this one's.
 */
struct plan_rings {
	char *dest;
	const char *source;
	combine_t *combine;
	size_t element; /* bytes */
	bool scatters;
};
size_t plan_rings_staging(const struct maker *m, bool scatters);
void plan_rings_add(struct maker *m, int queue, const struct plan_rings *rings);

/* By direction: where the staging of a neighbour on the torus is, from this member's. */
void plan_find_stagings(struct maker *m, ptrdiff_t there[TORUS_DIRECTIONS]);
/*
 * Makes a whole plan of an all-gather by the rings of a torus, where gather_agrees_on_torus says
 * so. Returns what plan_begin returns.
 */
struct layout;
bool plan_gather_by_rings(struct maker *m, const struct layout *layout, char *dest, const void *source);

/*
 * An alltoallv from neighbour to neighbour on a torus (plan_links.c). First the members agree: the
 * bytes of the longest block, or 0 if blocks go directly.
 */
size_t plan_agree_on_links(struct maker *m, const struct plan_order *order);
/*
 * plan_begin with so much staging, or more for the slots of links; longest becomes 0 if some member
 * has no room for these.
 */
bool plan_begin_links(struct maker *m, size_t ports, size_t staging, size_t *longest);
void plan_links_add(struct maker *m, const struct plan_order *order, size_t longest);

enum plan_tree_kind { BINOMIAL, CHAIN, TORUS };
struct tree_set {
	enum plan_tree_kind kind;
	const struct nodes *nodes;
	int root, root_pe; /* the node, and its leader */
	int trees;
	const struct torus_topology *topology; /* of a torus; and its trees */
	struct torus_tree_set tree_set;
	size_t bytes, segment;
};

#define MOST_CHILDREN 32
struct tree_edge {
	int pe, port; /* pe -1: none */
};
/* The part of this PE, the leader of its node, in a tree. */
struct tree_node {
	size_t at, bytes, segments;
	struct tree_edge parent, child[MOST_CHILDREN];
	int children;
};
void plan_tree_set_on_torus(struct tree_set *tree_set, const struct set_trees *trees);
struct tree_node plan_tree_node(const struct tree_set *tree_set, int tree);
static inline size_t tree_node_bytes(const struct tree_set *tree_set, const struct tree_node *tree_node, size_t i)
{
	size_t left = tree_node->bytes - i * tree_set->segment;

	return left < tree_set->segment ? left : tree_set->segment;
}
/* The number of ports, from 0, that its edges need. */
size_t plan_tree_set_directions(const struct tree_set *tree_set);

/*
 * Down the trees, from source at the root to every dest. ask: receivers notify when there is room.
 * counted: at the root, the words `own` of the first ports, one for each tree, count the segments
 * that are ready to send.
 */
void plan_down(struct maker *m, const struct tree_set *tree_set, char *dest, const char *source, bool ask,
	       bool counted);
/*
 * The same by the NIC, including the arrival of all data. stands: this PE is its node's leader.
 * Returns false, with nothing added, if some member cannot.
 */
bool plan_down_by_nic(struct maker *m, const struct tree_set *tree_set, bool stands, int queue, char *dest,
		      const char *source);
/* Waits for the arrival of all data. */
void plan_await_down(struct maker *m, int queue, const struct tree_set *tree_set, bool counted);
/* From the leader of this node (index `first`, data in data.source) to the node's other PEs. */
void plan_share(struct maker *m, const struct nodes *nodes, int first, int queue, struct comms_piece data);

#endif
