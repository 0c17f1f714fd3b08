/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TOPOLOGY_GROUP_H
#define COMMS_TOPOLOGY_GROUP_H

#include "comms/core/comms.h"

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
	int tier;     /* which words of the slot it synchronises by */
	bool on_node; /* all members load and store each other's memory */
	/* the fields below are filled in: by comms_group_prepare, before the members first synchronise */
	bool prepared;
	bool oversubscribed;	     /* on a node with more PEs than processors */
	struct comms_levels *levels; /* NULL: all members are on one node, or each is on its own */
	struct comms_levels *parts;  /* members on one node by memory group; NULL: they are not divided. See numa.h */
	bool divided_barrier;	     /* and these have a counter barrier each */
	int barrier;		     /* which of the slot's */
	uint64_t epoch;		     /* barriers in rounds this PE has begun */
	/* which PEs this one notifies in each round, along a torus or by memory group; NULL: the one 1, 2, 4 ... places on */
	struct comms_round *round;
	int rounds, *notified, n_notified;
};

/* This PE notifies these members, and then waits for a word of its own. */
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

/* The node of each PE of the job, nodes numbered by their first PEs; returns how many. Each is its own where nobody knows. */
int comms_nodes(int *node_of);

#endif
