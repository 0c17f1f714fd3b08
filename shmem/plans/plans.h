/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_PLANS_H
#define SHMEM_PLANS_H

/*
 * Persistent plans: what a collective does, written down as a list of commands (comms/plans/commands.h) when the plan is made.
 *
 * edge     data that goes from one PE to another in one run. `near`: the receiver loads it from the sender's memory and notifies the
 *          sender. Far: the sender puts it after the receiver has notified it of room.
 * port     words of a PE for one other PE, a line: `came` counts what came from it or may be loaded (four words, used cyclically by
 *          segments); `answer` counts notifications in the opposite direction; `own` counts what this PE does itself
 * block    of a plan in the memory of plans: its ports and its staging. Each member has its own, wherever there was room; the others
 *          learn where when they make the plan.
 *
 * All members add the same edges, each from its side; a port has the same number at both ends unless the edge names two.
 */
#include "shmem/collectives.h"
#include "comms/plans/commands.h"

#define CAME 4

struct port {
	_Alignas(64) _Atomic uint64_t came[CAME];
	_Atomic uint64_t answer, own;
};

struct maker;

/* What a plan does, for making it again where the trees of its team have changed (plans_again.c). */
struct plan_order {
	bool (*make)(struct maker *m,
		     const struct plan_order *order); /* false: some member has no room. NULL: not again */
	void *dest;
	const void *source;
	size_t bytes, count; /* count: of elements, for reductions */
	int root;	     /* -1: for all */
	int op, type, executor;
	bool near;
};

/* Of threads one uses a plan, but another one may make it again: then it is held, and a start waits. */
enum plan_state { PLAN_IDLE, PLAN_STARTED, PLAN_HELD };

struct shmemx_plan {
	struct comms_list list;
	struct shmemx_team *team; /* NULL: nobody has this plan */
	size_t block;
	struct port *ports;
	char *staging;
	atomic_int state;
	uint64_t number; /* among all that were ever made on its team */
	struct plan_order order;
	int changes;	  /* of the team's topology, up to when it was made */
	uint64_t counted; /* runs, by plans_moved */
};

/* A plan while it is made. */
struct maker {
	struct set set;
	struct shmemx_plan *plan;
	struct shmemx_plan *again; /* the one that is made again; NULL: it is a new one */
	bool near;		   /* PEs of a node load and store each other's data */
	int executor;
	size_t bytes;
	int known_pe; /* the last whose block was looked up, -1: none */
	struct plan_block known;
};

/* The words that count when a queue's command may run. */
struct when {
	_Atomic uint64_t *word; /* NULL: at once */
	int64_t each, nth;
};
#define AT_ONCE ((struct when){0})

/*
 * A plan with so many ports and bytes of staging; false: some member, which reports that, has no room, and a plan that was to be
 * made again is as it was. Near: if the data
 * is where this node's PEs reach it.
 */
bool plan_begin(struct maker *m, size_t ports, size_t staging, size_t edges);
void plan_end(struct maker *m, shmemx_plan_t *plan);
/* All of it, from an order. Returns what the routines that make plans return. */
int plan_make(struct maker *m, struct plan_order order, shmemx_plan_t *plan);
/* The plan of a team with the least number above this one that was made by an order and before its topology changed; NULL: none. */
struct shmemx_plan *plan_after(const struct shmemx_team *team, uint64_t number);
/*
 * What this PE's runs of the plans of a team have moved since the last call, of much data and of kinds that can be made again. A plan that is
 * under way counts next time.
 */
size_t plans_moved(const struct shmemx_team *team, bool *under_way);
/* While a plan is held a start waits; false: it is under way (plans_again.c). */
bool plan_hold(struct shmemx_plan *plan);
void plan_release(struct shmemx_plan *plan);

/* Checks what all routines that make a plan have in common. */
struct maker plan_maker(shmem_team_t team, int executor, size_t bytes, const char *routine);
/* Of symmetric data. */
void plan_check_data(struct maker *m, const void *dest, size_t dest_bytes, const void *source, size_t source_bytes);

bool plan_is_near(const struct maker *m, int pe);
/* Where it is here. */
void *plan_here(const struct maker *m, const void *address, int pe);
struct port *plan_port(struct maker *m, int pe, size_t port);
char *plan_staging(struct maker *m, int pe);
const struct plan_block *plan_block_of(struct maker *m, int pe);

/* Queues have numbers, commands are added to their ends. */
int plan_queue(struct maker *m);
void plan_await(struct maker *m, int queue, struct when when);
void plan_notify(struct maker *m, int queue, int pe, struct when notified);
/* The PE must not be near. */
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

/* Whole edges; at most so many. */
struct edges {
	struct plan_edge *edge;
	size_t count;
};
struct edge_end {
	int pe;
	size_t mine, theirs; /* ports */
};
void plan_edges_begin(const struct maker *m, struct edges *edges, size_t most);
/* From the giver's source, by its address here, to my dest; or nothing, if that is where it is. */
void plan_edge_in(const struct maker *m, struct edges *edges, struct edge_end end, void *dest, const void *source,
		  size_t bytes);
void plan_edge_out(const struct maker *m, struct edges *edges, struct edge_end end, void *dest, const void *source,
		   size_t bytes);
/* Writes them down; all members do. False: only the NIC was to take what is far, and it cannot; nothing has been written down. */
bool plan_edges_end(struct maker *m, struct edges *edges, bool only_by_nic);

/* What the NIC is to do from here on in a queue; done: its part of this PE is over. */
void plan_by_nic(struct maker *m, int queue, struct comms_session *session);
void plan_nic_is_done(struct maker *m, int queue);
/* A procedure that sends over the network, to be advanced from here on in a queue until it is over. */
void plan_advance(struct maker *m, int queue, struct comms_procedure procedure);

/* --- Nodes and trees (plan_trees.c) --- */

/* The nodes of a team as a plan sees them: where data is not shared, each PE is one. */
struct nodes {
	const struct set *set;
	const struct comms_levels *levels; /* NULL: all members are on one, or each is one */
	int count, mine;
	int size, place; /* PEs on mine, and which of them I am */
};
struct nodes plan_nodes(const struct maker *m);
int plan_node_of(const struct nodes *nodes, int member);
int plan_node_pe(const struct nodes *nodes, int place);
/* The place on my node of its leader: the root if it is here, else the first. Root -1: always the first. */
int plan_first(const struct nodes *nodes, int root);

/* Ports: of directions and steps in trees, the same upwards, and of the places on a node. */
enum { PORTS_DOWN = 0, PORTS_UP = 32, PORTS_NODE = 64 };

/*
 * An all-reduce between nodes by the rings of a torus (plan_rings.c), as the call does it: what this node brings, its leader has in source. All
 * in order in a queue.
 */
struct plan_rings {
	char *dest;
	const char *source;
	combine_t *combine;
	size_t element; /* bytes */
};
size_t plan_rings_staging(const struct maker *m);
void plan_rings_add(struct maker *m, int queue, const struct plan_rings *rings);

enum plan_tree_kind { BINOMIAL, CHAIN, TORUS };
struct tree_set {
	enum plan_tree_kind kind;
	const struct nodes *nodes;
	int root, root_pe; /* node, and its leader */
	int trees;
	const struct torus_topology *topology; /* of a torus, and what grows on it */
	struct torus_tree_set tree_set;
	size_t bytes, segment;
};

#define MOST_CHILDREN 32
struct tree_edge {
	int pe, port; /* pe -1: there is none */
};
/* What this PE, the leader of its node, has to do with a tree. */
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
/* How many ports, counted from 0, the ends of its edges need. */
size_t plan_tree_set_directions(const struct tree_set *tree_set);

/*
 * Down the trees, from source at the root to everybody's dest. ask: the takers say when there is room. Of the root: the words `own` of the
 * first ports, one for each tree, count its segments as there is something to send, if counted.
 */
void plan_down(struct maker *m, const struct tree_set *tree_set, char *dest, const char *source, bool ask,
	       bool counted);
/*
 * The same by the NIC, and everything has come down. stands: this PE does for its node. False: it cannot be done for some member, and
 * nothing has been written down.
 */
bool plan_down_by_nic(struct maker *m, const struct tree_set *tree_set, bool stands, int queue, char *dest,
		      const char *source);
/* Everything has come down. */
void plan_await_down(struct maker *m, int queue, const struct tree_set *tree_set, bool counted);
/* From the leader of this node (its place is `first`, its data at data.source) to the other PEs of the node. */
void plan_share(struct maker *m, const struct nodes *nodes, int first, int queue, struct comms_piece data);

#endif
