/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA with events in the module shmemx. Arrays are contiguous, and must not change until an event
 * permits it.
 */
#include "fortran.h"

#include <shmemx.h>

static size_t bytes_of(const array *a, const char *argument, const char *routine)
{
	return fortran_contiguous(a, argument, routine) * a->elem_len;
}

API void torushmemf_rdma_register(const array *memory, shmemx_rdma_buffer_t *buffer, int *stat)
{
	size_t bytes = bytes_of(memory, "memory", "shmemx_rdma_register");

	FORTRAN_STATUS(stat, shmemx_rdma_register(memory->base_addr, bytes, buffer));
}

API void torushmemf_rdma_unregister(const shmemx_rdma_buffer_t *buffer)
{
	shmemx_rdma_unregister(buffer);
}

API void torushmemf_rdma_put(const shmemx_rdma_buffer_t *dest, size_t offset, const array *source, bool notify,
			     uint64_t word)
{
	shmemx_rdma_put(dest, offset, source->base_addr, bytes_of(source, "source", "shmemx_rdma_put"), notify, word);
}

API void torushmemf_rdma_get(const array *dest, const shmemx_rdma_buffer_t *source, size_t offset, uint64_t word)
{
	shmemx_rdma_get(dest->base_addr, source, offset, bytes_of(dest, "dest", "shmemx_rdma_get"), word);
}

API void torushmemf_rdma_send(int pe, const shmemx_rdma_buffer_t *source, size_t offset, size_t bytes, uint64_t word)
{
	shmemx_rdma_send(pe, source, offset, bytes, word);
}

API void torushmemf_rdma_receive(const shmemx_rdma_buffer_t *dest, size_t offset, size_t bytes)
{
	shmemx_rdma_receive(dest, offset, bytes);
}

API bool torushmemf_rdma_test(shmemx_rdma_event_t *event)
{
	return shmemx_rdma_test(event);
}

API void torushmemf_rdma_wait(shmemx_rdma_event_t *event)
{
	shmemx_rdma_wait(event);
}
