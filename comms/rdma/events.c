/* SPDX-License-Identifier: BSD-3-Clause */
#include "events.h"

#include "comms/ops/ops.h"
#include "comms/wait/hang.h"
#include "comms/wait/wait.h"
#include "rte/rte.h"

#define ONE_DRAWN (1UL << 32)
#define REPORT_EACH (COMMS_EVENTS / 4) /* events taken before other PEs learn of it */

static struct {
	_Atomic uint32_t taken;
	uint32_t reported;
} events;

static struct comms_event_queue *event_queue(void)
{
	return (struct comms_event_queue *)(void *)comms.system->events;
}

void comms_events_start(void)
{
	atomic_store_explicit(&events.taken, 0, memory_order_relaxed);
	events.reported = 0;
}

static struct comms_event_entry *event_entry(uint32_t number)
{
	return &event_queue()->entry[number % COMMS_EVENTS];
}

static uint64_t add_to_counts(int pe, uint64_t drawn, const char *routine)
{
	return comms_amo_fetch((void *)&event_queue()->counts, (struct comms_atomic){COMMS_ADD, 8, drawn, 0}, pe,
			       routine);
}

uint32_t comms_event_number(int pe, void (*meanwhile)(void), const char *routine)
{
	uint64_t counts = add_to_counts(pe, ONE_DRAWN, routine);
	uint32_t number = (uint32_t)(counts >> 32);
	unsigned sleeps = 0;

	while (number - (uint32_t)counts >= COMMS_EVENTS && !rte_is_broken()) {
		uint32_t key;

		meanwhile();
		hang_note_peer(routine, "an entry in the full event queue of", pe);
		key = comms_sleep_prepare(comms_event_next());
		comms_sleep(key, &sleeps);
		counts = add_to_counts(pe, 0, routine);
	}
	if (sleeps >= COMMS_SLOW)
		comms_wait_is_over();
	return number;
}

void comms_event_send(int pe, const struct comms_posted_event *posted, const char *routine)
{
	struct comms_event_entry *entry = event_entry(posted->number);

	comms_put_notify(&entry->event, posted->event, posted->bytes,
			 (struct comms_flag){&entry->sequence, (uint64_t)posted->number + 1}, pe, routine);
}

void comms_event_add(struct comms_notification *notification, const struct comms_posted_event *posted)
{
	struct comms_event_entry *entry = event_entry(posted->number);

	notification->piece[1] = (struct comms_piece){&entry->event, posted->event, posted->bytes};
	notification->flag = (struct comms_flag){&entry->sequence, (uint64_t)posted->number + 1};
}

const void *comms_event_next(void)
{
	return (const void *)&event_entry(atomic_load_explicit(&events.taken, memory_order_relaxed))->sequence;
}

bool comms_event_waits(void)
{
	uint32_t next = atomic_load_explicit(&events.taken, memory_order_relaxed);

	return atomic_load_explicit(&event_entry(next)->sequence, memory_order_acquire) == (uint64_t)next + 1;
}

/* The lower half of the counts must not overflow into the upper one. */
static void report_taken(const char *routine)
{
	uint32_t taken = atomic_load_explicit(&events.taken, memory_order_relaxed), more = taken - events.reported;
	uint64_t change = more;

	if (taken < events.reported)
		change -= ONE_DRAWN;
	events.reported = taken;
	comms_amo((void *)&event_queue()->counts, (struct comms_atomic){COMMS_ADD, 8, change, 0}, comms.pe, routine);
}

bool comms_event_take(struct comms_event *event, const char *routine)
{
	uint32_t next = atomic_load_explicit(&events.taken, memory_order_relaxed);

	if (!comms_event_waits())
		return false;
	*event = event_entry(next)->event;
	atomic_store_explicit(&events.taken, next + 1, memory_order_relaxed);
	if (next + 1 - events.reported >= REPORT_EACH)
		report_taken(routine);
	return true;
}
