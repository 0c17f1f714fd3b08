/* SPDX-License-Identifier: BSD-3-Clause */
/* Recording. One lock for all threads: who is traced is not measured to the nanosecond. */
#include "trace.h"

#include <pthread.h>
#include <string.h>

#include "rte/rte.h"
#include "rte/settings.h"

static pthread_mutex_t recording = PTHREAD_MUTEX_INITIALIZER;
static struct trace_ring *ring;
static long events;
static uint64_t unsettled; /* no message before this one is still to arrive */
static const char anchor[] = "names are told by how far they are from here";

bool trace_start(void)
{
	bool wanted = setting_text(SETTING_TRACE)[0] != '\0';

	if (wanted && (!setting_number(SETTING_TRACE_EVENTS, &events) || events < 1))
		rte_die_together("shmem_init", "SHMEM_TRACE_EVENTS=%s: give a number of events", setting_text(SETTING_TRACE_EVENTS));
	return wanted;
}

uint64_t trace_events(void)
{
	return (uint64_t)events;
}

void trace_use(struct trace_ring *memory, uint64_t capacity)
{
	pthread_mutex_lock(&recording);
	ring = memory;
	unsettled = 0;
	if (ring) {
		memset(ring, 0, sizeof *ring + capacity * sizeof ring->event[0]);
		ring->capacity = capacity;
		ring->started = watch_clock();
	}
	pthread_mutex_unlock(&recording);
}

uint64_t trace_position(void)
{
	uint64_t position;

	pthread_mutex_lock(&recording);
	position = ring ? ring->recorded : 0;
	pthread_mutex_unlock(&recording);
	return position;
}

const char *trace_name(int64_t name)
{
	return anchor + name;
}

static struct trace_event *event_at(uint64_t number)
{
	return &ring->event[number % ring->capacity];
}

static void record(struct trace_event event)
{
	*event_at(ring->recorded) = event;
	ring->recorded++;
}

/* Of messages from a number on that have not arrived, all, or those that need nothing to complete them. */
static void settle(uint64_t from, uint64_t when, bool all, bool waited_for)
{
	if (ring->recorded - from > ring->capacity)
		from = ring->recorded - ring->capacity;
	for (; from < ring->recorded; from++) {
		struct trace_event *event = event_at(from);

		if (event->kind == TRACE_MESSAGE && event->end == 0 &&
		    (all || event->local || (waited_for && event->way == WATCH_HERE)))
			event->end = when;
	}
}

/* Calls that return when their data has come, and calls that complete what was done before. */
static bool brings(enum watch_family family)
{
	return family == WATCH_GET || family == WATCH_G || family == WATCH_IGET || family == WATCH_ATOMIC_FETCH;
}

static bool completes(enum watch_family family)
{
	return family == WATCH_QUIET || family == WATCH_BARRIER || family == WATCH_MEMORY ||
	       (family >= WATCH_BROADCAST && family <= WATCH_SCAN);
}

void trace_call(const char *routine, enum watch_family family, uint64_t begin, uint64_t end, size_t bytes, int pe,
		uint64_t position)
{
	pthread_mutex_lock(&recording);
	if (ring) {
		settle(completes(family) ? unsettled : position, end, completes(family), brings(family));
		if (completes(family))
			unsettled = ring->recorded;
		record((struct trace_event){begin, end, routine - anchor, bytes, pe, TRACE_CALL, (uint8_t)family, 0, 0});
	}
	pthread_mutex_unlock(&recording);
}

void trace_message(bool local, enum watch_way way, int pe, size_t bytes)
{
	pthread_mutex_lock(&recording);
	if (ring)
		record((struct trace_event){watch_clock(), 0, 0, bytes, pe, TRACE_MESSAGE, 0, local, (uint8_t)way});
	pthread_mutex_unlock(&recording);
}
