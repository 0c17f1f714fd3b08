/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_CALLER_H
#define RTE_CALLER_H

#include <stddef.h>

/*
 * The routine that the program has called, for a message about this one: the name that a Fortran program knows where the call came through the
 * Fortran library, else the routine itself without the p of its profiling name. buffer holds the answer if need be.
 */
const char *caller_name(const char *routine, char *buffer, size_t size);

#endif
