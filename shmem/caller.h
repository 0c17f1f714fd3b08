/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_CALLER_H
#define SHMEM_CALLER_H

#include <stddef.h>

/*
 * The routine that the program called, for a message about `routine`: the Fortran name if the call
 * came through the Fortran library, otherwise the routine without the p of its profiling name. The
 * result may be in buffer. rte prints this name, too (rte/text/routine_names.h).
 */
const char *caller_name(const char *routine, char *buffer, size_t size);

#endif
