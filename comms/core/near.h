/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_NEAR_H
#define COMMS_NEAR_H

#include "comms.h"

/*
 * The local memory of a put (source) or get (dest). It need not be symmetric, and only an access
 * shows whether it is valid. Routines record it in thread-local memory, so that a crash report
 * names the routine and the argument (fault.c). Short copies on the node record nothing.
 */
struct comms_near {
	const char *routine; /* NULL: nothing is recorded */
	const void *memory;
	size_t bytes;
	int pe; /* the other PE; COMMS_NOBODY: not recorded */
};
extern _Thread_local struct comms_near comms_near __attribute__((tls_model("initial-exec")));

/*
 * The record of a collective. Routines that it calls record the same memory, or parts of it, under
 * their own argument names.
 */
struct comms_near_both {
	const char *routine; /* the last one called */
	const void *dest, *source;
	size_t dest_bytes, source_bytes;
};
extern _Thread_local struct comms_near_both comms_near_both __attribute__((tls_model("initial-exec")));

/* Called by a routine that the program calls, so nothing is recorded before. */
COMMS_INLINE void comms_near_begin(const char *routine, const void *memory, size_t bytes)
{
	comms_near.routine = routine;
	comms_near.memory = memory;
	comms_near.bytes = bytes;
}

COMMS_INLINE void comms_near_end(void)
{
	comms_near.routine = NULL;
}

/* Called by any routine. Returns the record to restore. */
COMMS_INLINE struct comms_near comms_near_note(const char *routine, const void *memory, size_t bytes, int pe)
{
	struct comms_near before = comms_near;

	comms_near = (struct comms_near){routine, memory, bytes, pe};
	return before;
}

/*
 * Accesses each page of memory that is passed to a network. The network would report bad memory
 * late, in another thread and in its own words, or not at all. Symmetric memory is always valid.
 */
void comms_near_read(const void *memory, size_t bytes);
void comms_near_write(void *memory, size_t bytes);

#endif
