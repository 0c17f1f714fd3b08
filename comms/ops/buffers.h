/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_BUFFERS_H
#define COMMS_BUFFERS_H

#include "notify.h"

/*
 * Memory that is not symmetric and that others may put to and get from nevertheless. An event is a
 * PE's report to another one about such memory: comms/rdma/events.h.
 */
struct comms_event {
	uint32_t kind;
	int32_t pe;
	uint64_t word, address, bytes;
	uint64_t operation; /* the fields from here on depend on kind */
	struct comms_buffer from;
};

/* Returns false if no more buffers can be registered. */
bool comms_buffer_share(void *address, size_t bytes, struct comms_buffer *buffer);
/* Returns false if this PE has no such buffer, or no longer. */
bool comms_buffer_unshare(const struct comms_buffer *buffer);
void comms_buffers_stop(void);

/* The buffer of this PE that contains [address, address + bytes). */
bool comms_buffer_find(const void *address, size_t bytes, struct comms_buffer *found);

/*
 * The memory of this PE that a message of another one reads or changes; ends the job if it is
 * neither symmetric nor shared. The sender has checked addresses of symmetric memory.
 */
void *comms_memory_of_message(uint64_t address, size_t bytes);

#endif
