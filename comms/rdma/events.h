/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_RDMA_EVENTS_H
#define COMMS_RDMA_EVENTS_H

#include "comms/ops/buffers.h"
#include "comms/ops/notify.h"

/*
 * Events from other PEs: a ring of entries in each PE's system memory. A sender draws a number by
 * one atomic addition, which also returns how many events the PE has taken. The entry of that
 * number is free if it is less than one ring ahead of those. The sender writes the event there, and
 * behind it the number plus one, which shows it. No PE keeps state per pair of PEs.
 */
#define COMMS_EVENTS 1024

struct comms_event_entry {
	struct comms_event event;
	_Atomic uint64_t sequence;
};
struct comms_event_queue {
	/* Numbers drawn in the upper half, events taken in the lower. */
	_Alignas(64) _Atomic uint64_t counts;
	_Alignas(64) struct comms_event_entry entry[COMMS_EVENTS];
};
_Static_assert(sizeof(struct comms_event_queue) <= COMMS_EVENTS_BYTES, "there is room in a PE's system memory");

/* An event to send: its size, and the number it has drawn. */
struct comms_posted_event {
	const struct comms_event *event;
	size_t bytes;
	uint32_t number;
};

/*
 * Draws a number. While the PE's queue is full, waits and calls meanwhile, which empties this PE's
 * own queue.
 */
uint32_t comms_event_number(int pe, void (*meanwhile)(void), const char *routine);
void comms_event_send(int pe, const struct comms_posted_event *posted, const char *routine);
/* Makes the event the second piece of a notification, and its number the flag. */
void comms_event_add(struct comms_notification *notification, const struct comms_posted_event *posted);

/* Is there an event? take removes it; one thread at a time may call take. */
bool comms_event_waits(void);
bool comms_event_take(struct comms_event *event, const char *routine);
/* The memory that the next event changes, for a wait. */
const void *comms_event_next(void);
void comms_events_start(void);

#endif
