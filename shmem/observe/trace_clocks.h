/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_TRACE_CLOCKS_H
#define SHMEM_TRACE_CLOCKS_H

#include "comms/observe/trace.h"

/*
 * An identifier of this process's clock, the same for all processes that read the same clock; 0:
 * unknown.
 */
uint64_t trace_clock_number(void);

/*
 * Stores in each PE's ring how far its clock is ahead of PE 0's. All PEs call it together, each
 * with its symmetric ring.
 */
void trace_compare_clocks(struct trace_ring *ring, bool at_end);

#endif
