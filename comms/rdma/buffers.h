/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_BUFFERS_H
#define COMMS_BUFFERS_H

#include "comms/core/notify.h"

/*
 * Memory that is not symmetric, and that others may put to and get from nevertheless.
 *
 * buffer  a PE's memory, with all that others need to reach it: plain bytes, which the program sends to whom it likes
 * letter  what one PE tells another of such memory: see events.h
 */
struct comms_buffer {
	uint64_t magic;
	int32_t pe, process;
	uint64_t base, size;
	uint32_t place, serial; /* which of its PE's; serials are never 0 */
	union {
		uint64_t tofu[6]; /* its address, for each queue of its PE */
		struct {
			uint32_t bytes;
			char key[148];
		} ucx;
	} network;
};
#define COMMS_BUFFER_MAGIC 0x7265666675626d74
_Static_assert(sizeof(struct comms_buffer) == 24 * sizeof(uint64_t), "as large as the program's shmemx_rdma_buffer_t");

struct comms_letter {
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
