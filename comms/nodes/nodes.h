/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TOPOLOGY_NODES_H
#define COMMS_TOPOLOGY_NODES_H

#include "comms/core/comms.h"

/* A level_key: PEs with equal keys are on one node. Returns false on all PEs if this is unknown. */
bool nodes_key(int pe, uint64_t *key);

#endif
