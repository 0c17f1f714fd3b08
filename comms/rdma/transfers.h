/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_RDMA_TRANSFERS_H
#define COMMS_RDMA_TRANSFERS_H

#include "comms/ops/buffers.h"

/* Where its owner's memory can be seen from here, has it gone? */
bool comms_buffer_is_gone(const struct comms_buffer *buffer);

/*
 * Neither waits for the data: the source of a put may be reused, and the data of a get is there, when the request is complete. An event, if
 * there is one, has room at the owner of the buffer, arrives behind the data, and stays as it is until then.
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
