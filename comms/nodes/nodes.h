/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TOPOLOGY_NODES_H
#define COMMS_TOPOLOGY_NODES_H

#include "comms/core/comms.h"

/* PEs with equal keys are on one node. False: this is not known, alike for all PEs. A level_key. */
bool nodes_key(int pe, uint64_t *key);

#endif
