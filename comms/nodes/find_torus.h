/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_FIND_TORUS_H
#define COMMS_FIND_TORUS_H

#include "comms/torus/file.h"
#include "comms/torus/job_places.h"

/*
 * What PE 0 finds out about the torus of the job, for all PEs: it looks before the PEs exchange their addresses, publishes the result with its
 * own, and all read it there. So all PEs have the same answer, and no file and no program is asked by more than one PE.
 */

/* Does the job want that? No if a setting or the launcher gives a shape. Alike on all PEs. */
bool comms_torus_is_sought(void);

/* On PE 0: the number of the source and a shape file with ; in place of newlines; to be freed. NULL: nothing was found. */
char *comms_find_torus(void);

/* After the exchange: reads what PE 0 found. */
void comms_read_found_torus(void);

/* The shape file that PE 0 has from this source; NULL: it has none. */
const char *comms_found_torus(enum torus_source source);

/* Reads a shape file with ; in place of newlines. */
bool comms_torus_line_read(struct torus_file *file, const char *line);

/*
 * The number of a host in the file, and of the dead ones behind those that live; -1: it is not there. Names may be with or without their
 * domain. The search begins at the host with the number likely.
 */
int comms_number_in_file(const struct torus_file *file, const char *name, int likely);

#endif
