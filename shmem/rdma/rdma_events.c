/* SPDX-License-Identifier: BSD-3-Clause */
/* Events that the program has not taken yet: a ring, which grows. */
#include "rdma.h"

#include <stdlib.h>

static struct {
	shmemx_rdma_event_t *events;
	size_t room, first, count;
} program_events;

void *rdma_memory(void *got, const char *routine)
{
	if (!got)
		rte_die(routine, "no memory");
	return got;
}

static void make_room_for_event(const char *routine)
{
	size_t room = program_events.room ? 2 * program_events.room : 64;
	shmemx_rdma_event_t *events = rdma_memory(malloc(room * sizeof *events), routine);

	for (size_t i = 0; i < program_events.count; i++)
		events[i] = program_events.events[(program_events.first + i) % program_events.room];
	free(program_events.events);
	program_events.events = events;
	program_events.room = room;
	program_events.first = 0;
}

void rdma_event_add(const shmemx_rdma_event_t *event, const char *routine)
{
	if (program_events.count == program_events.room)
		make_room_for_event(routine);
	program_events.events[(program_events.first + program_events.count++) % program_events.room] = *event;
}

bool rdma_event_take(shmemx_rdma_event_t *event)
{
	if (program_events.count == 0)
		return false;
	*event = program_events.events[program_events.first];
	program_events.first = (program_events.first + 1) % program_events.room;
	program_events.count--;
	return true;
}

size_t rdma_events_count(void)
{
	return program_events.count;
}

void rdma_events_forget(void)
{
	free(program_events.events);
	program_events.events = NULL;
	program_events.room = program_events.first = program_events.count = 0;
}
