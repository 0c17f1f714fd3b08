/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_JOB_H
#define COMMS_JOB_H

#include "comms/torus/job_places.h"

/*
 * Returns the torus of this job (torus/job_places.h explains the words). The first call, by any
 * thread, makes it from the first source that knows it: the vendor's library, the launcher,
 * SHMEM_TORUS_FILE, SHMEM_TORUS, oshrun, PE 0 (find_torus.h); otherwise it is invented from the
 * number of nodes. The first call may read a file, and ends the job if the file is wrong. All PEs
 * make the same torus without communication; it stays unchanged until the library stops.
 */
const struct torus_job *comms_ensure_torus(void);

/* Does a setting, oshrun or PE 0 give a shape? Then it has been read already. */
bool comms_torus_is_given(void);

/* Called at the start: reads a shape that the user gives, so that mistakes are reported. */
void comms_torus_start(void);
void comms_torus_stop(void);

#endif
