/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TRACE_H
#define COMMS_TRACE_H

#include "rte/trace.h"
#include "counters.h"

/*
 * Recording the events of SHMEM_TRACE (rte/trace.h). Everything here is for traced jobs: callers check comms.traced or comms.observed first.
 *
 * How the end of a message becomes known:
 * - A message of UCX names the event it belongs to (comms_message.event); the target's handler records the arrival before it carries it out.
 * - A flag that the NIC writes is recorded by the target when its library sees it.
 * - A store to a PE of the node has arrived when the sender has stored. If a flag follows in the same call, that is sure; otherwise it is the
 *   latest instant, and trace_resolve compares it with the target's calls. A quiet gives the latest instant of a NIC's puts.
 * - What this PE gets has come when the call ends, or the quiet.
 */

/* Is there to be a trace, and of how many events? Read from the settings before memory is there for it. */
bool trace_start(void);
uint64_t trace_events(void);
/* Records into this memory from now on, which has room for so many; NULL: no more. */
void trace_use(struct trace_ring *ring, uint64_t capacity);

/* A call of this thread begins; returns what trace_call needs to know when it ends. */
uint64_t trace_begin(const char *routine, enum counters_category category, uint64_t begin, size_t bytes, int pe);
void trace_call(const char *routine, enum counters_category category, uint64_t begin, uint64_t end, size_t bytes, int pe, uint64_t position);

/* A message; what follows is about the last one of this thread. */
void trace_message(bool local, enum counters_side side, int pe, size_t bytes);
/* One that is not recorded: what follows is about none. */
void trace_no_message(void);
/* It is more than that: so many bytes go along. */
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
