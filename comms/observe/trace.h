/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TRACE_H
#define COMMS_TRACE_H

#include "rte/trace/trace_events.h"
#include "counters.h"

/*
 * Recording the events of SHMEM_TRACE (rte/trace/trace_events.h). Everything here is for traced jobs: callers read comms.traced or comms.observed first.
 *
 * How the end of a message becomes known:
 * - A message of UCX names the event it belongs to (ucx_message.event); the target's handler records the arrival before it carries it out.
 * - A flag that the NIC writes is recorded by the target when its library sees it.
 * - A store to a PE of the node has arrived when the sender has stored. If a flag follows in the same call, that is sure; otherwise it is the
 *   latest instant, and trace_resolve compares it with the target's calls. A quiet gives the latest instant of a NIC's puts.
 * - What this PE gets has come when the call ends, or the quiet.
 */

/* Do the settings ask for a trace, and of how many events? Call before there is memory for it. */
bool trace_start(void);
uint64_t trace_events(void);
/* Records into this memory from now on, which has room for `capacity` events; NULL: stops recording. */
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
/* The call begins; sets its position. */
void trace_begin(struct trace_call *call);
/* The call has ended. */
void trace_call(const struct trace_call *call, uint64_t end);

/* A message; the calls that follow concern the last one of this thread. */
void trace_message(bool local, enum counters_side side, int pe, size_t bytes);
/* A message that is not recorded: the calls that follow concern none. */
void trace_no_message(void);
/* So many bytes go along with it. */
void trace_add(size_t bytes);
/* It has been stored to the other PE. Sure: the flag that shows it has not been stored yet. */
void trace_stored(bool sure);
/* A quiet of this channel completes it; the target will see this flag. */
void trace_set_channel(const void *channel);
void trace_set_flag(const void *flag, uint64_t value);
/* What a network message carries of it, 0: nothing; only once. */
uint32_t trace_take_event(void);

/* A quiet of the channel has completed. */
void trace_quiet(const void *channel);
/* At the target: a message has come that carries this; a flag of this PE is about to show, or shows, a message. */
void trace_arrival(int pe, uint32_t event);
void trace_flag(int pe, const void *flag, uint64_t value);

#endif
