/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_RDMA_H
#define SHMEM_RDMA_H

#include <shmemx.h>

#include "comms/rdma/transfers.h"
#include "shmem/api.h"

/* --- Buffers (rdma_buffers.c) --- */

static inline const struct comms_buffer *rdma_buffer(const shmemx_rdma_buffer_t *buffer)
{
	return (const struct comms_buffer *)buffer;
}

/*
 * Ends the job with a message unless these bytes are in a registered buffer; where errors return,
 * both break it and return false.
 */
bool rdma_check_buffer(const struct comms_buffer *buffer, const char *argument, size_t offset, size_t bytes,
		       const char *routine);
bool rdma_check_mine(const struct comms_buffer *buffer, const char *argument, const char *routine);

/* --- Events for the program (rdma_events.c). Call with the lock of rdma.c held. --- */

void rdma_event_add(const shmemx_rdma_event_t *event, const char *routine);
/* Returns false if there is no event. */
bool rdma_event_take(shmemx_rdma_event_t *event);
size_t rdma_events_count(void);
void rdma_events_forget(void);

/* Returns its argument; ends the job with a message if that is NULL. */
void *rdma_memory(void *allocated, const char *routine);

#endif
