/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is not symmetric and that other PEs may use: registration, and checks of arguments.
 */
#include "rdma.h"

#include <string.h>

_Static_assert(sizeof(shmemx_rdma_buffer_t) == sizeof(struct comms_buffer), "the program keeps it");

bool rdma_check_buffer(const struct comms_buffer *buffer, const char *argument, size_t offset, size_t bytes,
		       const char *routine)
{
	if (!comms_check_up(routine))
		return false;
	if (COMMS_UNLIKELY(!buffer || buffer->magic != COMMS_BUFFER_MAGIC || buffer->pe < 0 ||
			   buffer->pe >= comms.n_pes))
		rte_misuse(routine, "%s=%p is no buffer; give one that shmemx_rdma_register made, or its bytes",
			   argument, (const void *)buffer);
	else if (COMMS_UNLIKELY(offset > buffer->size || bytes > buffer->size - offset))
		rte_misuse(routine,
			   "offset=%zu: %zu bytes from there run past the end of the buffer of PE %d, which has "
			   "%llu; check the offset",
			   offset, bytes, buffer->pe, (unsigned long long)buffer->size);
	else if (COMMS_UNLIKELY(comms_buffer_is_gone(buffer)))
		rte_misuse(routine, "%s: PE %d has unregistered this buffer; do so when nobody uses it any more",
			   argument, buffer->pe);
	return !rte_is_broken();
}

bool rdma_check_mine(const struct comms_buffer *buffer, const char *argument, const char *routine)
{
	if (COMMS_LIKELY(buffer->pe == comms.pe))
		return true;
	rte_misuse(routine, "%s is a buffer of PE %d; only its owner may use it here", argument, buffer->pe);
	return false;
}

API int shmemx_rdma_register(void *address, size_t bytes, shmemx_rdma_buffer_t *buffer)
{
	COMMS_CALL_OR(1, __func__, bytes, COMMS_NOBODY);
	comms_check_up(__func__);
	if (!address || bytes == 0 || !buffer) {
		rte_misuse(__func__,
			   "address=%p, bytes=%zu, buffer=%p: give memory of at least a byte, and where to write "
			   "the buffer",
			   address, bytes, (void *)buffer);
		return 1;
	}
	if (comms_buffer_share(address, bytes, (struct comms_buffer *)buffer))
		return 0;
	rte_report(__func__, "this PE has %d buffers, the maximum; unregister some with shmemx_rdma_unregister",
		   COMMS_BUFFERS);
	memset(buffer, 0, sizeof *buffer);
	return 1;
}

API void shmemx_rdma_unregister(const shmemx_rdma_buffer_t *buffer)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	if (!rdma_check_buffer(rdma_buffer(buffer), "buffer", 0, 0, __func__) ||
	    !rdma_check_mine(rdma_buffer(buffer), "buffer", __func__))
		return;
	if (!comms_buffer_unshare(rdma_buffer(buffer)))
		rte_misuse(__func__, "buffer=%p was unregistered before; do so once", (const void *)buffer);
}
