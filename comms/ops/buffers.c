/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of this PE's memory that is not symmetric and that others may access. */
#include "buffers.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "comms/core/memory.h"
#include "comms/core/network.h"
#include "rte/rte.h"

enum { NOWHERE_BYTES = 1 << 16 };

static struct {
	pthread_mutex_t lock;
	struct {
		struct comms_buffer buffer; /* serial 0: none */
		void *handle;		    /* the network's */
	} at[COMMS_BUFFERS];
	atomic_int end; /* index after the last; changed with the lock held */
	uint32_t serials;
} buffers = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int end_of_table(void)
{
	return atomic_load_explicit(&buffers.end, memory_order_relaxed);
}

static int free_place(void)
{
	for (int i = 0; i < COMMS_BUFFERS; i++)
		if (buffers.at[i].buffer.serial == 0)
			return i;
	return -1;
}

static void take_place(int place, struct comms_buffer *buffer)
{
	buffer->place = (uint32_t)place;
	buffer->serial = ++buffers.serials;
	buffers.at[place].handle = comms.network ? comms.network->buffers->share(buffer, "shmemx_rdma_register") : NULL;
	buffers.at[place].buffer = *buffer;
	if (place >= end_of_table())
		atomic_store_explicit(&buffers.end, place + 1, memory_order_relaxed);
	atomic_store_explicit(&comms.system->buffers[place], buffer->serial, memory_order_relaxed);
}

bool comms_buffer_share(void *address, size_t bytes, struct comms_buffer *buffer)
{
	int place;

	/*
	 * If the system lets only parents access a process's memory, allows it to all processes
	 * from now on.
	 */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	*buffer = (struct comms_buffer){
		.magic = COMMS_BUFFER_MAGIC,
		.pe = comms.pe,
		.process = getpid(),
		.base = (uint64_t)(uintptr_t)address,
		.size = bytes,
	};
	pthread_mutex_lock(&buffers.lock);
	place = free_place();
	if (place >= 0)
		take_place(place, buffer);
	pthread_mutex_unlock(&buffers.lock);
	return place >= 0;
}

static void give_place(int place)
{
	atomic_store_explicit(&comms.system->buffers[place], 0, memory_order_relaxed);
	if (comms.network)
		comms.network->buffers->unshare(&buffers.at[place].buffer, buffers.at[place].handle);
	buffers.at[place].buffer.serial = 0;
}

bool comms_buffer_unshare(const struct comms_buffer *buffer)
{
	bool mine = buffer->pe == comms.pe && buffer->place < COMMS_BUFFERS && buffer->serial != 0;

	pthread_mutex_lock(&buffers.lock);
	mine = mine && buffers.at[buffer->place].buffer.serial == buffer->serial;
	if (mine)
		give_place((int)buffer->place);
	pthread_mutex_unlock(&buffers.lock);
	return mine;
}

void comms_buffers_stop(void)
{
	for (int i = 0; i < end_of_table(); i++)
		if (buffers.at[i].buffer.serial)
			give_place(i);
	atomic_store_explicit(&buffers.end, 0, memory_order_relaxed);
}

static bool buffer_contains(const struct comms_buffer *buffer, const void *address, size_t bytes)
{
	uint64_t offset = (uint64_t)(uintptr_t)address - buffer->base;

	return buffer->serial && offset < buffer->size && bytes <= buffer->size - offset;
}

bool comms_buffer_find(const void *address, size_t bytes, struct comms_buffer *found)
{
	bool there = false;

	if (COMMS_LIKELY(end_of_table() == 0))
		return false;
	pthread_mutex_lock(&buffers.lock);
	for (int i = 0; i < end_of_table() && !there; i++) {
		there = buffer_contains(&buffers.at[i].buffer, address, bytes);
		if (there)
			*found = buffers.at[i].buffer;
	}
	pthread_mutex_unlock(&buffers.lock);
	return there;
}

/* In place of memory that is registered no more, in a broken job: what nobody reads. */
static void *memory_of_nobody(size_t bytes)
{
	static char *nowhere;
	static size_t room;

	pthread_mutex_lock(&buffers.lock);
	if (bytes > room || !nowhere) {
		room = bytes < NOWHERE_BYTES ? NOWHERE_BYTES : 2 * bytes;
		nowhere = memory_map_nobody(room); /* others may still use the one before */
	}
	pthread_mutex_unlock(&buffers.lock);
	return nowhere;
}

void *comms_memory_of_message(uint64_t address, size_t bytes)
{
	void *there = (void *)(uintptr_t)address;
	enum comms_segment_id id = comms_find_segment(there);
	struct comms_buffer found;
	bool inside = id != COMMS_NO_SEGMENT &&
		      bytes <= comms.segments[id].size - (size_t)((char *)there - comms.segments[id].base);

	if (inside || comms_buffer_find(there, bytes, &found))
		return there;
	if (!rte_is_broken()) /* else the other PE has not learned of it yet */
		rte_break(RTE_ERROR_MISUSE, -1, "shmemx_rdma_put",
			  "a put or get came for memory of this PE at %p, %zu bytes, that is no longer registered; "
			  "unregister memory only when no PE uses it",
			  there, bytes);
	return memory_of_nobody(bytes);
}
