/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_BUFFERS_H
#define COMMS_BUFFERS_H

#include "notify.h"

/*
 * Memory that is not symmetric, and that others may put to and get from nevertheless.
 *
 * buffer  a PE's memory, with all that others need to reach it: plain bytes, which the program sends to whom it likes
 * event   what a PE reports to another one about such memory: comms/rdma/events.h
 */
struct comms_buffer {
	uint64_t magic;
	int32_t pe, process;
	uint64_t base, size;
	uint32_t place, serial; /* which of its PE's; serials are never 0 */
	uint64_t network[19];	/* the network's own */
};
#define COMMS_BUFFER_MAGIC 0x7265666675626d74
_Static_assert(sizeof(struct comms_buffer) == 24 * sizeof(uint64_t), "as large as the program's shmemx_rdma_buffer_t");

struct comms_event {
	uint32_t kind;
	int32_t pe;
	uint64_t word, address, bytes;
	uint64_t operation; /* from here on only where kind says so */
	struct comms_buffer from;
};

/* False: there are as many as there may be. */
bool comms_buffer_share(void *address, size_t bytes, struct comms_buffer *buffer);
/* False: it is none of this PE's, or not any more. */
bool comms_buffer_unshare(const struct comms_buffer *buffer);
void comms_buffers_stop(void);

/* One of this PE's that [address, address + bytes) is in. */
bool comms_buffer_find(const void *address, size_t bytes, struct comms_buffer *found);

#endif
