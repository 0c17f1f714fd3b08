/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts to and gets from memory of other PEs that is not symmetric. On a node the kernel copies from one process to the other; elsewhere it
 * is the network's business (network.h).
 */
#include "transfers.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include "comms/net/network.h"
#include "comms/observe/counters.h"
#include "events.h"
#include "rte/rte.h"

static bool by_kernel(const struct comms_peer *peer)
{
	return peer->reach[COMMS_HEAP].size > 0;
}

bool comms_buffer_is_gone(const struct comms_buffer *buffer)
{
	const struct comms_peer *peer = comms_meet(buffer->pe);
	struct comms_system *system = (struct comms_system *)(void *)peer->reach[COMMS_HEAP].base;

	return by_kernel(peer) &&
	       atomic_load_explicit(&system->buffers[buffer->place], memory_order_relaxed) != buffer->serial;
}

static void no_way(const struct comms_buffer *buffer, const char *routine)
{
	if (errno == EFAULT)
		rte_die(routine, "the buffer of PE %d at 0x%llx, or memory of this PE, is not there any more; unregister it before it is freed",
			buffer->pe, (unsigned long long)buffer->base);
	rte_die(routine, "the kernel does not let this process reach into that of PE %d (%s); allow it (kernel.yama.ptrace_scope=0), or set "
			 "SHMEM_PATHS=ucx",
		buffer->pe, strerror(errno));
}

static void copy(const struct comms_buffer *buffer, size_t offset, char *here, size_t bytes, bool in, const char *routine)
{
	char *there = (char *)(uintptr_t)buffer->base + offset;

	while (bytes > 0) {
		struct iovec local = {here, bytes}, remote = {there, bytes};
		ssize_t done = in ? process_vm_writev(buffer->process, &local, 1, &remote, 1, 0)
				  : process_vm_readv(buffer->process, &local, 1, &remote, 1, 0);

		if (done <= 0)
			no_way(buffer, routine);
		here += done;
		there += done;
		bytes -= (size_t)done;
	}
}

static void put_by_kernel(const struct comms_buffer *buffer, size_t offset, const void *source, size_t bytes, const char *routine)
{
	if (buffer->pe == comms.pe)
		memmove((char *)(uintptr_t)buffer->base + offset, source, bytes);
	else
		copy(buffer, offset, (char *)(uintptr_t)source, bytes, true, routine);
}

void comms_buffer_put(struct comms_telling *telling, const struct comms_buffer *buffer, size_t offset, const void *source,
		      size_t bytes, const struct comms_mail *mail, const char *routine)
{
	struct comms_peer *peer = comms_meet(buffer->pe);
	struct comms_place *place = mail ? comms_mail_place(mail->number) : NULL;
	const char *base = comms.segments[COMMS_HEAP].base;

	watch_if_on(by_kernel(peer) ? WATCH_LOCAL : comms.network->row, WATCH_THERE, buffer->pe, bytes);
	if (by_kernel(peer)) {
		put_by_kernel(buffer, offset, source, bytes, routine);
		watch_stored_if_on(mail != NULL);
		if (mail)
			comms_mail_send(buffer->pe, mail, routine);
		return;
	}
	telling->more.bytes = 0;
	telling->value = 0;
	if (mail) {
		telling->value = (uint64_t)mail->number + 1;
		telling->more = (struct comms_piece){&place->letter, mail->letter, mail->bytes};
		telling->more_there = (uint64_t)((const char *)&place->letter - base);
	}
	if (mail || bytes > 0)
		comms.network->tell_buffer(telling, peer, buffer, offset, source, bytes,
					   mail ? (size_t)((const char *)&place->turn - base) : COMMS_NO_WORD);
}

void comms_buffer_get(struct comms_telling *telling, const struct comms_buffer *buffer, size_t offset, void *dest, size_t bytes,
		      const char *routine)
{
	struct comms_peer *peer = comms_meet(buffer->pe);

	watch_if_on(by_kernel(peer) ? WATCH_LOCAL : comms.network->row, WATCH_HERE, buffer->pe, bytes);
	if (by_kernel(peer) && buffer->pe == comms.pe)
		memmove(dest, (char *)(uintptr_t)buffer->base + offset, bytes);
	else if (by_kernel(peer))
		copy(buffer, offset, dest, bytes, false, routine);
	else if (bytes > 0)
		comms.network->get_buffer(telling, peer, buffer, offset, dest, bytes);
}
