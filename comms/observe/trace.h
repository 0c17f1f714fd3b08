/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TRACE_H
#define COMMS_TRACE_H

#include "rte/trace/trace_events.h"
#include "counters.h"

/*
 * Records the events of SHMEM_TRACE (rte/trace/trace_events.h). Only for traced jobs: callers check
 * comms.traced or comms.observed first.
 *
 * How the end of a message becomes known:
 * - A message of UCX names its event (ucx_message.event); the target's handler records the arrival
 *   before it carries the message out.
 * - If the NIC writes a flag, the target records when its library sees the flag.
 * - A store to a PE of the node has arrived when the sender has stored it. If a flag follows in the
 *   same call, that is certain; otherwise it is the latest possible time, and trace_resolve
 *   compares it with the target's calls. A quiet gives the latest possible time of a NIC's puts.
 * - Data that this PE gets has arrived at the end of the call, or of the quiet.
 */

/* Do the settings ask for a trace, and of how many events? Call before its memory exists. */
bool trace_start(void);
uint64_t trace_events(void);
/*
 * From now on records into this memory, which has room for `capacity` events; NULL: stops
 * recording.
 */
void trace_use(struct trace_ring *ring, uint64_t capacity);

/* A call of this thread. */
struct trace_call {
	const char *routine;
	enum counters_category category;
	int pe;
	size_t bytes;
	uint64_t began;
	uint64_t position; /* of the next event when the call began */
};
/* Begins the call; sets its position. */
void trace_begin(struct trace_call *call);
/* The call has ended. */
void trace_call(const struct trace_call *call, uint64_t end);

/* Records a message; the functions below refer to the last one of this thread. */
void trace_message(bool local, enum counters_side side, int pe, size_t bytes);
/* A message that is not recorded: the functions below then do nothing. */
void trace_no_message(void);
/* Adds bytes to the message. */
void trace_add(size_t bytes);
/* The message has been stored at the other PE. sure: only its flag is still to be stored. */
void trace_stored(bool sure);
/* A quiet of this channel completes the message; or the target will see this flag. */
void trace_set_channel(const void *channel);
void trace_set_flag(const void *flag, uint64_t value);
/* The reference to the event that a network message carries, 0: none; returned only once. */
uint32_t trace_take_event(void);

/* A quiet of the channel has completed. */
void trace_quiet(const void *channel);
/*
 * At the target: a message with this reference has arrived; a flag of this PE is about to show, or
 * shows, a message.
 */
void trace_arrival(int pe, uint32_t event);
void trace_flag(int pe, const void *flag, uint64_t value);

#endif
