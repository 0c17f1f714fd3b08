/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_MEMORY_H
#define COMMS_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "comms.h"

/*
 * Memory that has no name: a PE's heap and globals live in memfds, which other PEs of the node open through
 * /proc/PID/fd. Nothing is left when the last process that maps them ends, however it ends.
 */

/* How another process finds the memory and knows that it found the right one. */
struct memory_handle {
	int32_t pid;
	int32_t fd; /* -1: not shared */
	uint64_t device;
	uint64_t inode;
};

void memory_describe(const struct comms_segment *segment, struct memory_handle *handle);

/* Does /proc show this process's own, and so those of its process table? Some containers do not mount it. */
bool memory_sees_processes(void);

/* Is the process still there, with this memory? */
bool memory_is_there(const struct memory_handle *handle);

/* The last bytes of the file, so many as size says. Ends the job with a message if the memory cannot be mapped. */
void *memory_map_peer(const struct memory_handle *handle, size_t size, int pe);
void memory_unmap(void *base, size_t size);

/*
 * Gives a file of shared memory its size, 0 or -1 as ftruncate does. Where ulimit -f allows less, errno is EFBIG: the
 * kernel would end the process by SIGXFSZ, without a word.
 */
int memory_size_file(int fd, size_t size);

/* The heap of this PE, by SHMEM_SYMMETRIC_SIZE, into comms.segments[COMMS_HEAP] and comms.system. */
void memory_make_heap(void);
void memory_unmake_heap(void);

#endif
