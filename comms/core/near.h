/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_NEAR_H
#define COMMS_NEAR_H

#include "comms.h"

/*
 * The memory of the program that a routine reads or writes on this side: the source of a put, the dest of a get. It need not be symmetric, and
 * nobody can say whether it is good but by using it. Routines note it, so that the report of a crash names routine and argument
 * (fault.c): those that call something for it, in memory of their own thread. Copies of a few bytes to memory of the node note nothing.
 */
struct comms_near {
	const char *routine; /* NULL: none is recorded */
	const void *memory;
	size_t bytes;
	int pe; /* to or from whom; COMMS_NOBODY: not recorded */
};
extern _Thread_local struct comms_near comms_near __attribute__((tls_model("initial-exec")));

/* A collective's; what it calls notes the same memory, or parts, under the names that they have there. */
struct comms_near_both {
	const char *routine; /* of the last one */
	const void *dest, *source;
	size_t dest_bytes, source_bytes;
};
extern _Thread_local struct comms_near_both comms_near_both __attribute__((tls_model("initial-exec")));

/* Called by a routine that the program has called, so that nothing is recorded before. */
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

/* By what any routine calls; returns what is to be put back. */
COMMS_INLINE struct comms_near comms_near_note(const char *routine, const void *memory, size_t bytes, int pe)
{
	struct comms_near before = comms_near;

	comms_near = (struct comms_near){routine, memory, bytes, pe};
	return before;
}

/*
 * Accesses each page of memory that is handed to a network, which would report a bad one late, in another thread and in its own words, or not at
 * all. Symmetric memory is good.
 */
void comms_near_read(const void *memory, size_t bytes);
void comms_near_write(void *memory, size_t bytes);

/* While an operation of this thread waits for an answer of a PE; to be put back to what it was. */
struct hang_answer {
	const char *routine;
	int pe;
};
extern _Thread_local struct hang_answer hang_answer __attribute__((tls_model("initial-exec")));

#endif
