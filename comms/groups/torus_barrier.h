/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TORUS_BARRIER_H
#define COMMS_TORUS_BARRIER_H

#include "comms/core/comms.h"

/*
 * For a group with one PE per node: the PEs that this one notifies in each round, if the nodes fill
 * a box of the torus and that is faster.
 */
void comms_group_follow_torus(struct comms_group *nodes);
void comms_group_leave_torus(struct comms_group *nodes);

#endif
