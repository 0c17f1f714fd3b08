/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_MEMORY_H
#define COMMS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "comms.h"

/*
 * Anonymous shared memory: a PE's heap and globals are memfds, which other PEs of the node open
 * through /proc/PID/fd. The kernel frees them when the last process that maps them ends, however it
 * ends.
 */

/* How another process opens the memory and verifies that it opened the right one. */
struct memory_handle {
	int32_t pid;
	int32_t fd; /* -1: not shared */
	uint64_t device;
	uint64_t inode;
};

void memory_describe(const struct comms_segment *segment, struct memory_handle *handle);

/*
 * Does /proc show this process, and so the processes of its PID namespace? Some containers do not
 * mount it.
 */
bool memory_sees_processes(void);

/* Does the process still exist, with this memory? */
bool memory_is_there(const struct memory_handle *handle);

/*
 * Maps `size` bytes of the file from this offset on, or with MEMORY_AT_END its last ones. Ends the
 * job with a message on failure, or breaks it and maps other memory.
 */
#define MEMORY_AT_END ((int64_t)-1)
void *memory_map_peer(const struct memory_handle *handle, size_t size, int64_t offset, int pe);
/* Memory that nobody else has, in place of that of a PE which is gone. */
void *memory_map_nobody(size_t size);
void memory_unmap(void *base, size_t size);

/*
 * Sets the size of a shared memory file; returns 0 or -1 like ftruncate. If ulimit -f is smaller,
 * errno is EFBIG; ftruncate itself would end the process by SIGXFSZ without a message.
 */
int memory_size_file(int fd, size_t size);

/*
 * Creates the heap of this PE, of SHMEM_SYMMETRIC_SIZE, in comms.segments[COMMS_HEAP] and
 * comms.system.
 */
void memory_make_heap(void);
void memory_unmake_heap(void);

#endif
