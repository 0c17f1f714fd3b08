/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CORE_GROUP_H
#define COMMS_CORE_GROUP_H

#include "comms/core/comms.h"

/*
 * A group is an ordered set of PEs that synchronise. It has one slot in every member's system
 * memory, with the same number everywhere. Groups that share a PE have different slots. The owner
 * of the group keeps the struct.
 */
struct comms_group {
	int size;
	int me;		    /* index of this PE, -1 if not a member */
	int start, stride;  /* member i is PE start + i * stride ... */
	const int *members; /* ... or, if this is not NULL, members[i] */
	int slot;
	int tier;     /* selects the words of the slot that it synchronises by */
	bool on_node; /* all members load and store each other's memory */
	/* Set by comms_group_prepare, before the members first synchronise. */
	bool prepared;
	bool oversubscribed; /* some node of it has more PEs than processors */
	/* NULL: all members are on one node, or each is on its own node. */
	struct comms_levels *levels;
	/* Members on one node by memory group; NULL: not divided. See numa.h. */
	struct comms_levels *parts;
	bool divided_barrier; /* each part has a counter barrier */
	int barrier;	      /* which of the slot's */
	uint64_t epoch;	      /* number of barriers in rounds that this PE has begun */
	/*
	 * The PEs that this one notifies in each round, along a torus or by memory group; NULL: the
	 * PEs 1, 2, 4 ... positions further on.
	 */
	struct comms_round *round;
	int rounds, *notified, n_notified;
};

/* In this round the PE notifies these members, and then waits for a word of its own. */
struct comms_round {
	int word;
	int first, count; /* range in the group's list of PEs */
};

/* A group whose members share nodes. The first member of each node is its leader. */
struct comms_levels {
	struct comms_group node;    /* members on this PE's node */
	struct comms_group leaders; /* of all nodes, in order; me is -1 unless this PE leads */
	int my_node;		    /* index among the leaders */
	int *node_of;		    /* by member */
	/* The members of node i are at places[first[i]], ..., places[first[i + 1] - 1]. */
	int *places, *first;
};

static inline int comms_group_pe(const struct comms_group *group, int i)
{
	return group->members ? group->members[i] : group->start + i * group->stride;
}

#endif
