/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_RDMA_TRANSFERS_H
#define COMMS_RDMA_TRANSFERS_H

#include "comms/ops/buffers.h"

/* Where its owner's memory can be seen from here, has it gone? */
bool comms_buffer_is_gone(const struct comms_buffer *buffer);

/*
 * Neither waits for the data: the source of a put may be used again, and what was got is there, when the record is at rest. A letter, if
 * there is one, has room at the owner of the buffer, arrives behind the data, and stays as it is until then.
 */
struct comms_mail;
void comms_buffer_put(struct comms_telling *telling, const struct comms_buffer *buffer, size_t offset, const void *source,
		      size_t bytes, const struct comms_mail *mail, const char *routine);
void comms_buffer_get(struct comms_telling *telling, const struct comms_buffer *buffer, size_t offset, void *dest, size_t bytes,
		      const char *routine);

#endif
