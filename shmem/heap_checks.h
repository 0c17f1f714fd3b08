/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_HEAP_CHECKS_H
#define SHMEM_HEAP_CHECKS_H

#include <stddef.h>

/*
 * With SHMEM_CHECK, the heap records its blocks here, and comms.check_block compares addresses with
 * them.
 */
void heap_checks_start(void);
void heap_checks_stop(void);
void heap_checks_take(size_t offset, size_t bytes, const char *routine);
void heap_checks_release(size_t offset, const char *routine);
void heap_checks_resize(size_t offset, size_t bytes);

#endif
