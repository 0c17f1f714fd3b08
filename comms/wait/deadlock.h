/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_DEADLOCK_H
#define COMMS_DEADLOCK_H

#include "comms/core/comms.h"

/*
 * A deadlock: every PE of the job waits in a routine of the library, no message is under way, and
 * nothing else could store what a PE waits for. The job then ends with a report (SHMEM_DEADLOCK).
 * If something else could, there is only the report.
 */

/*
 * world: the group of all PEs, valid while the library runs; prepare sorts it by node unless a
 * barrier has done so. one_thread: only one thread of the program may call the library.
 */
typedef void deadlock_prepare(struct comms_group *group);
void deadlock_start(struct comms_group *world, deadlock_prepare *prepare, bool one_thread);
void deadlock_stop(void);

/* What could end a slow wait. */
enum deadlock_wait {
	DEADLOCK_OWN,	/* an answer to this PE's own request: an operation is under way */
	DEADLOCK_PES,	/* other PEs, by calls of the library */
	DEADLOCK_MEMORY /* a store to this PE's memory, by a PE, a thread or a signal handler */
};

/*
 * Called by the thread whose wait is shown (hang.c): its wait has become slow; it still waits,
 * after another poll; it has ended.
 */
void deadlock_wait_begins(void);
void deadlock_wait_goes_on(enum deadlock_wait kind);
void deadlock_wait_ends(void);

#endif
