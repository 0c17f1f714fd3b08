/* SPDX-License-Identifier: BSD-3-Clause */
/* The events that the program has not taken yet: a ring, which grows. */
#include "rdma.h"

#include <stdlib.h>

static struct {
	shmemx_rdma_event_t *events;
	size_t room, first, count;
} ring;

void *rdma_memory(void *got, const char *routine)
{
	if (!got)
		rte_die(routine, "no memory");
	return got;
}

static void make_room(const char *routine)
{
	size_t room = ring.room ? 2 * ring.room : 64;
	shmemx_rdma_event_t *events = rdma_memory(malloc(room * sizeof *events), routine);

	for (size_t i = 0; i < ring.count; i++)
		events[i] = ring.events[(ring.first + i) % ring.room];
	free(ring.events);
	ring.events = events;
	ring.room = room;
	ring.first = 0;
}

void rdma_event_add(const shmemx_rdma_event_t *event, const char *routine)
{
	if (ring.count == ring.room)
		make_room(routine);
	ring.events[(ring.first + ring.count++) % ring.room] = *event;
}

bool rdma_event_take(shmemx_rdma_event_t *event)
{
	if (ring.count == 0)
		return false;
	*event = ring.events[ring.first];
	ring.first = (ring.first + 1) % ring.room;
	ring.count--;
	return true;
}

size_t rdma_events_count(void)
{
	return ring.count;
}

void rdma_events_forget(void)
{
	free(ring.events);
	ring.events = NULL;
	ring.room = ring.first = ring.count = 0;
}
