/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_HEAP_CHECKS_H
#define SHMEM_HEAP_CHECKS_H

#include <stddef.h>

#include "comms/core/comms.h"

/*
 * With SHMEM_CHECK, the heap and those in memory that the program brings record their blocks here,
 * and comms.check_block compares addresses with them. A program may divide memory that it brings by
 * itself, so addresses there are checked once the library has allocated a block in it.
 */
void heap_checks_start(void);
void heap_checks_stop(void);
void heap_checks_take(enum comms_segment_id segment, size_t offset, size_t bytes, const char *routine);
void heap_checks_release(enum comms_segment_id segment, size_t offset, const char *routine);
/* The heap in this segment has ended. */
void heap_checks_remove(enum comms_segment_id segment);
void heap_checks_resize(size_t offset, size_t bytes);

#endif
