/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TORUS_BARRIER_H
#define COMMS_TORUS_BARRIER_H

#include "comms/core/comms.h"

/* Of a group with one PE for each node: which PEs this one notifies in each round, if they fill a box of the torus and that is faster. */
void comms_group_follow_torus(struct comms_group *nodes);
void comms_group_leave_torus(struct comms_group *nodes);

#endif
