/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_NUMA_H
#define COMMS_NUMA_H

#include "comms/core/comms.h"

/*
 * A node may have several memory groups: NUMA nodes, such as the core-memory groups of an A64FX,
 * between which a cache line takes several times as long as inside one. The members of a group that
 * are on one node then synchronise in two levels.
 */

/* Reads SHMEM_MEMORY_GROUPS and finds the memory group of this PE. */
void numa_start(void);

/*
 * Divides a group whose members are on one node. Does nothing if the node has one memory group or
 * division does not pay.
 */
void numa_divide(struct comms_group *node);
void numa_forget(struct comms_group *node);

#endif
