/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TOPOLOGY_COSTS_H
#define COMMS_TOPOLOGY_COSTS_H

#include <stddef.h>

#include "comms/torus/model.h"

/*
 * Costs of messages on a node and between nodes, from which the model (comms/torus/model.h) finds
 * the best algorithm of a collective. Each path has its figures, and SHMEM_COSTS replaces them by
 * measured ones. A team on a torus also measures its links (shmem/team_topology.c).
 */
const struct torus_costs *comms_costs_on_node(void);
const struct torus_costs *comms_costs_between_nodes(void);

/* One line for SHMEM_INFO: the figures in use, and where they come from. Returns text. */
enum { COMMS_COSTS_TEXT = 200 };
const char *comms_costs_in_words(char text[COMMS_COSTS_TEXT]);

/* Call once the job's network is known; NULL: the job has none. */
void comms_costs_start(const char *network);

#endif
