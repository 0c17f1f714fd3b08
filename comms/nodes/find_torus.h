/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_FIND_TORUS_H
#define COMMS_FIND_TORUS_H

#include "comms/torus/file.h"
#include "comms/torus/job_places.h"

/*
 * How PE 0 determines the torus of the job for all PEs: it does so before the PEs exchange their
 * addresses, and publishes the result with its own, where all read it. So all PEs have the same
 * answer, and only one PE reads files and runs programs.
 */

/*
 * On PE 0: the number of the source and a shape file with ; in place of newlines; the caller frees
 * it. NULL: nothing was found.
 */
char *comms_find_torus(void);

/* After the exchange: reads what PE 0 found. */
void comms_read_found_torus(void);

/* The shape file that PE 0 has from this source; NULL: none. */
const char *comms_found_torus(enum torus_source source);

#endif
