/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_GROUPS_GROUPS_H
#define COMMS_GROUPS_GROUPS_H

#include "comms/core/group.h"
#include "comms/core/operations.h"

/*
 * A barrier: no member leaves before every member has entered. It also publishes plain stores made
 * before it.
 */
void comms_sync(struct comms_group *group);

/*
 * A barrier of the members on each node, in two steps. comms_node_barrier_arrive returns true on
 * one member, after all have entered: this member may act for them, and then opens the barrier. It
 * returns false on the others, after the barrier is open. The acting member is the leader if the
 * group has levels, any member if the group is on one node, and each member if each is on its own
 * node.
 */
bool comms_node_barrier_arrive(struct comms_group *group);
void comms_node_barrier_open(struct comms_group *group);
/* Both steps, without an action. */
void comms_node_barrier(struct comms_group *group);

/* The members of a group on this node if they are synchronised by memory group; otherwise NULL. */
const struct comms_levels *comms_memory_parts(struct comms_group *group);
/*
 * comms_node_barrier_arrive in two steps, so that one member can act for each memory part first.
 * The first returns true on one member of each part, after all of the part have entered; only this
 * member calls the second. Without memory parts, each member is a part.
 */
bool comms_part_barrier_arrive(struct comms_group *group);
bool comms_node_barrier_arrive_for_part(struct comms_group *group);

/* Determines what a group needs to synchronise; releases that when the group ends. */
void comms_group_prepare(struct comms_group *group);
void comms_group_forget(struct comms_group *group);
/*
 * Makes a group with the same members that synchronises by the words of another slot. It shares
 * lists of the group, and needs comms_twin_forget.
 */
void comms_group_twin(struct comms_group *twin, struct comms_group *group, int slot);
void comms_twin_forget(struct comms_group *twin);
bool comms_all_on_node(const struct comms_group *group);

/*
 * Clears a slot. All members call it before the first sync of a group, with a sync of another group
 * in between.
 */
void comms_slot_clear(int slot);

/*
 * Combines this many words; all members get the result. For sums of doubles a word is a double.
 * Returns false on all members if this network cannot.
 */
bool comms_can_reduce_in_network(void);
bool comms_reduce_in_network(const struct comms_group *group, enum comms_reduce_op op, uint64_t *words, size_t count);

#endif
