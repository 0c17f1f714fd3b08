/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_WRITERS_H
#define COMMS_WRITERS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What could store to symmetric memory without a call of the library while all PEs wait: a handler
 * or thread of the program, another process, the kernel, a device, a debugger. While one exists, a
 * deadlock is not certain: docs/protocols/deadlock.md.
 */

/* Call before the library starts: threads and handlers that exist now belong to the program. */
void writers_before_start(void);

/* Call when the library has started: those that have come since belong to libraries. */
void writers_after_start(void);

/* Does the program have a thread besides the calling one? */
bool writers_have_thread(void);

/*
 * Finds a writer in this process; the first PE of a node also examines the node's processes.
 * Returns true with a description in text. Also true, to be safe, if /proc does not tell. Call in
 * the thread that waits.
 */
bool writers_find(char *text, size_t size);

/* The part of writers_find that examines other processes of the node. */
bool writers_find_process(char *text, size_t size);

#endif
