/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TRACE_H
#define COMMS_TRACE_H

#include <stdatomic.h>

#include "watch.h"

/*
 * Events of SHMEM_TRACE, the last so many of a PE. They lie in symmetric memory, so that PE 0 can fetch them at the end.
 *
 * call      of a routine, from its beginning to its end
 * message   one operation on a path. It has arrived when this PE knows so: on a node with the end of the call, over UCX with
 *           the call that completes it; what a call waits for has come when the call ends.
 */
enum trace_kind { TRACE_NONE, TRACE_CALL, TRACE_MESSAGE };

struct trace_event {
	uint64_t begin, end; /* of a call; of a message, when it left and when it arrived, 0: not known */
	int64_t name;	     /* of the routine, see trace_name */
	uint64_t bytes;
	int32_t pe; /* whom it is about; COMMS_NOBODY */
	uint8_t kind, family, local, way;
};
_Static_assert(sizeof(struct trace_event) == 40, "what PE 0 fetches from others");

struct trace_ring {
	uint64_t recorded; /* ever; event i is at i % capacity */
	uint64_t capacity;
	uint64_t started;     /* by this PE's clock */
	int64_t ahead;	      /* then, of PE 0's clock */
	uint64_t clock;	      /* at PE 0: what another PE's clock said */
	_Atomic uint64_t ask; /* words of the clocks' comparison */
	_Atomic uint64_t answer;
	struct trace_event event[];
};

/* Is there to be a trace, and of how many events? Read from the settings before memory is there for it. */
bool trace_start(void);
uint64_t trace_events(void);
/* Records into this memory from now on, which has room for so many; NULL: no more. */
void trace_use(struct trace_ring *ring, uint64_t capacity);

/* For trace_call: what has been recorded when a call begins. */
uint64_t trace_position(void);
void trace_call(const char *routine, enum watch_family family, uint64_t begin, uint64_t end, size_t bytes, int pe,
		uint64_t position);
void trace_message(bool local, enum watch_way way, int pe, size_t bytes);

/* Names are constants of the library, which all PEs have at the same distance from each other. */
const char *trace_name(int64_t name);

#endif
