/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that is not symmetric: this PE's table of it, and the way to that of others. On a node the kernel copies from one process to the
 * other; elsewhere it is the network's business (network.h).
 */
#include "buffers.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "events.h"
#include "comms/net/network.h"
#include "rte/rte.h"
#include "comms/observe/counters.h"

static struct {
	pthread_mutex_t lock;
	struct {
		struct comms_buffer buffer; /* serial 0: none */
		void *handle;		    /* the network's */
	} at[COMMS_BUFFERS];
	atomic_int end; /* no more behind that; changed with the lock */
	uint32_t serials;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- The table --- */

static int end_of_table(void)
{
	return atomic_load_explicit(&table.end, memory_order_relaxed);
}

static int free_place(void)
{
	for (int i = 0; i < COMMS_BUFFERS; i++)
		if (table.at[i].buffer.serial == 0)
			return i;
	return -1;
}

static void take_place(int place, struct comms_buffer *buffer)
{
	buffer->place = (uint32_t)place;
	buffer->serial = ++table.serials;
	table.at[place].handle = comms.network ? comms.network->share(buffer) : NULL;
	table.at[place].buffer = *buffer;
	if (place >= end_of_table())
		atomic_store_explicit(&table.end, place + 1, memory_order_relaxed);
	atomic_store_explicit(&comms.system->buffers[place], buffer->serial, memory_order_relaxed);
}

bool comms_buffer_share(void *address, size_t bytes, struct comms_buffer *buffer)
{
	int place;

	/* Where only parents may reach into a process, others may reach into this one from now on. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	*buffer = (struct comms_buffer){
		.magic = COMMS_BUFFER_MAGIC,
		.pe = comms.pe,
		.process = getpid(),
		.base = (uint64_t)(uintptr_t)address,
		.size = bytes,
	};
	pthread_mutex_lock(&table.lock);
	place = free_place();
	if (place >= 0)
		take_place(place, buffer);
	pthread_mutex_unlock(&table.lock);
	return place >= 0;
}

static void give_place(int place)
{
	atomic_store_explicit(&comms.system->buffers[place], 0, memory_order_relaxed);
	if (comms.network)
		comms.network->unshare(&table.at[place].buffer, table.at[place].handle);
	table.at[place].buffer.serial = 0;
}

bool comms_buffer_unshare(const struct comms_buffer *buffer)
{
	bool mine = buffer->pe == comms.pe && buffer->place < COMMS_BUFFERS && buffer->serial != 0;

	pthread_mutex_lock(&table.lock);
	mine = mine && table.at[buffer->place].buffer.serial == buffer->serial;
	if (mine)
		give_place((int)buffer->place);
	pthread_mutex_unlock(&table.lock);
	return mine;
}

void comms_buffers_stop(void)
{
	for (int i = 0; i < end_of_table(); i++)
		if (table.at[i].buffer.serial)
			give_place(i);
	atomic_store_explicit(&table.end, 0, memory_order_relaxed);
}

static bool is_in(const struct comms_buffer *buffer, const void *address, size_t bytes)
{
	uint64_t offset = (uint64_t)(uintptr_t)address - buffer->base;

	return buffer->serial && offset < buffer->size && bytes <= buffer->size - offset;
}

bool comms_buffer_find(const void *address, size_t bytes, struct comms_buffer *found)
{
	bool there = false;

	if (COMMS_LIKELY(end_of_table() == 0))
		return false;
	pthread_mutex_lock(&table.lock);
	for (int i = 0; i < end_of_table() && !there; i++) {
		there = is_in(&table.at[i].buffer, address, bytes);
		if (there)
			*found = table.at[i].buffer;
	}
	pthread_mutex_unlock(&table.lock);
	return there;
}

/* --- The way to others --- */

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
