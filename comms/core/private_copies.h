/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_CORE_PRIVATE_COPIES_H
#define COMMS_CORE_PRIVATE_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The library moves private memory of the program into shared files: global data (globals.h), and
 * memory that the program brings (brought.h). fork() would leave the child and its parent with the
 * same memory, which no program expects. So after a fork the child makes a private copy while the
 * parent waits on a pipe. Children made by vfork or posix_spawn run no code of the program before
 * exec and need nothing.
 */

/*
 * Notes memory that fd maps from its begin on. Returns false if there is no memory for fork
 * handlers.
 */
bool private_copies_add(char *start, size_t size, int fd);
void private_copies_remove(const char *start);
/*
 * Replaces that memory by a private copy, and removes it. The thread must be the only one. Returns
 * false if there is no memory for the copy; then nothing has changed.
 */
bool private_copies_take_back(const char *start);

/* Stores a page of memory, which begins offset bytes behind the start. Returns false on failure. */
typedef bool private_copies_store(void *argument, const char *page, size_t bytes, size_t offset);

/*
 * Calls store for the pages of [at, end) that are in use; without a page map, for all that are not
 * zero. It uses the stack alone.
 */
bool private_copies_used_pages(uintptr_t start, uintptr_t at, uintptr_t end, private_copies_store *store,
			       void *argument);

#endif
