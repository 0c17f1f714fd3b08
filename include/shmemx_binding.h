/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For interfaces of other languages on top of the C interface, such as Fortran's. Not for programs.
 */
#ifndef TORUSHMEM_SHMEMX_BINDING_H
#define TORUSHMEM_SHMEMX_BINDING_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Ends the job with a line about a mistake, like those of the library. If all PEs may make the
 * mistake alike, PE 0 reports it for them.
 */
void shmemx_binding_die(const char *routine, const char *text) __attribute__((noreturn));

/*
 * Ends the job after shmem_malloc of this size has returned NULL, for a caller that cannot
 * continue.
 */
void shmemx_binding_no_room(size_t size) __attribute__((noreturn));

#ifdef __cplusplus
}
#endif

#endif
