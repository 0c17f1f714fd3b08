/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_RDMA_TRANSFERS_H
#define COMMS_RDMA_TRANSFERS_H

#include "comms/ops/buffers.h"

/* Has the owner of this buffer gone, if this PE can see its memory? */
bool comms_buffer_is_gone(const struct comms_buffer *buffer);

/*
 * Both start a transfer without waiting. When the request completes, the source of a put may be
 * reused, and the data of a get has arrived. An event, if given, has room at the owner of the
 * buffer and arrives after the data; it must not change until then.
 */
struct comms_posted_event;
struct comms_transfer {
	const struct comms_buffer *buffer;
	size_t offset, bytes;
	void *here; /* memory of this PE */
	const char *routine;
};
void comms_buffer_put(struct comms_request *request, const struct comms_transfer *transfer,
		      const struct comms_posted_event *event);
void comms_buffer_get(struct comms_request *request, const struct comms_transfer *transfer);

#endif
