/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_NODES_NODES_H
#define COMMS_NODES_NODES_H

#include "comms/core/comms.h"

/* A level_key: PEs with equal keys are on one node. Returns false on all PEs if this is unknown. */
bool nodes_key(int pe, uint64_t *key);

/*
 * The node of each PE of the job, numbered by first PEs; returns the number of nodes. If unknown,
 * each PE is its own node.
 */
int comms_nodes(int *node_of);

#endif
