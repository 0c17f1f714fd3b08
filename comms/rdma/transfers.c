/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts to and gets from memory of other PEs that is not symmetric. On a node the kernel copies
 * between the processes; between nodes the network does it (network.h).
 */
#include "transfers.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "comms/core/network.h"
#include "comms/observe/counters.h"
#include "events.h"
#include "rte/rte.h"

static bool is_reached_by_kernel(const struct comms_peer *peer)
{
	return peer->reach[COMMS_HEAP].size > 0;
}

bool comms_buffer_is_gone(const struct comms_buffer *buffer)
{
	const struct comms_peer *peer = comms_connect(buffer->pe);
	struct comms_system *system = (struct comms_system *)(void *)peer->reach[COMMS_HEAP].base;

	return is_reached_by_kernel(peer) &&
	       atomic_load_explicit(&system->buffers[buffer->place], memory_order_relaxed) != buffer->serial;
}

static void no_path(const struct comms_buffer *buffer, const char *routine)
{
	int error = errno;

	if (error == EFAULT)
		rte_misuse(routine,
			   "the buffer of PE %d at 0x%llx, or memory of this PE, no longer exists; unregister "
			   "memory before freeing it",
			   buffer->pe, (unsigned long long)buffer->base);
	else
		rte_break(error == ESRCH ? RTE_ERROR_LOST : RTE_ERROR_OTHER, buffer->pe, routine,
			  "the kernel does not let this process reach into that of PE %d (%s); allow it "
			  "(kernel.yama.ptrace_scope=0), or set SHMEM_PATHS=ucx",
			  buffer->pe, strerror(error));
}

static void copy_by_kernel(const struct comms_buffer *buffer, size_t offset, char *here, size_t bytes, bool in,
			   const char *routine)
{
	char *there = (char *)(uintptr_t)buffer->base + offset;

	while (bytes > 0) {
		struct iovec local = {here, bytes}, remote = {there, bytes};
		ssize_t done = in ? process_vm_writev(buffer->process, &local, 1, &remote, 1, 0)
				  : process_vm_readv(buffer->process, &local, 1, &remote, 1, 0);

		if (done <= 0) {
			no_path(buffer, routine);
			return;
		}
		here += done;
		there += done;
		bytes -= (size_t)done;
	}
}

static void put_by_kernel(const struct comms_transfer *t)
{
	if (t->buffer->pe == comms.pe)
		memmove((char *)(uintptr_t)t->buffer->base + t->offset, t->here, t->bytes);
	else
		copy_by_kernel(t->buffer, t->offset, t->here, t->bytes, true, t->routine);
}

void comms_buffer_put(struct comms_request *request, const struct comms_transfer *t,
		      const struct comms_posted_event *event)
{
	const struct comms_buffer *buffer = t->buffer;
	struct comms_notification notification = {.piece = {{NULL, t->here, t->bytes}},
						  .buffer = buffer,
						  .offset = t->offset,
						  .pe = buffer->pe,
						  .routine = t->routine};

	if (is_reached_by_kernel(comms_connect(buffer->pe))) {
		counters_if_on(ROW_LOCAL, SIDE_THERE, buffer->pe, t->bytes);
		put_by_kernel(t);
		counters_stored_if_on(event != NULL);
		if (event)
			comms_event_send(buffer->pe, event, t->routine);
		return;
	}
	if (event)
		comms_event_add(&notification, event);
	if (event || t->bytes > 0)
		comms_put_notify_start(request, &notification);
}

void comms_buffer_get(struct comms_request *request, const struct comms_transfer *t)
{
	const struct comms_buffer *buffer = t->buffer;
	struct comms_peer *peer = comms_connect(buffer->pe);

	counters_if_on(is_reached_by_kernel(peer) ? ROW_LOCAL : comms.network->row, SIDE_HERE, buffer->pe, t->bytes);
	if (is_reached_by_kernel(peer) && buffer->pe == comms.pe)
		memmove(t->here, (char *)(uintptr_t)buffer->base + t->offset, t->bytes);
	else if (is_reached_by_kernel(peer))
		copy_by_kernel(buffer, t->offset, t->here, t->bytes, false, t->routine);
	else if (t->bytes > 0)
		comms.network->buffers->get(request, peer, buffer, t->offset,
					    &(struct comms_piece){t->here, NULL, t->bytes});
}
