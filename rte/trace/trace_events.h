/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_TRACE_EVENTS_H
#define RTE_TRACE_EVENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rte/text/plain.h"

/*
 * The events of SHMEM_TRACE: a head and a ring, the same in a PE's memory and in its part file. The
 * library and oshrun read them. This header and trace_events.c define the format, the times, the
 * matching of both ends of a message, and the JSON.
 *
 * call     of a routine, from its beginning to its end
 * message  one operation to or from another PE, recorded by the PE that issues it
 * arrival  of a message that names its event, recorded by the target before it carries the message
 *          out
 * flag     the target has seen the flag that shows a message; both ends compute the same key from
 *          the flag
 *
 * A message whose end is known gets an arrow, which ends between its arrival and the time when the
 * target can use it. trace_resolve finds that time.
 */
enum trace_kind { TRACE_NONE, TRACE_CALL, TRACE_MESSAGE, TRACE_ARRIVAL, TRACE_FLAG };

/* The meaning of a message's `end`. */
enum trace_end {
	TRACE_UNKNOWN,
	TRACE_SURE,   /* the time to draw, by the clock of the recording PE */
	TRACE_LATEST, /* it has arrived by then; the target may have used it earlier */
	TRACE_JOB     /* the time to draw, in the job's time */
};

struct trace_event {
	/* Of a call: its end; of a message: see trace_end; of an arrival or a flag: unused. */
	uint64_t begin, end;
	/*
	 * call: the number of its name. message, flag: the flag's key or the channel. arrival: the
	 * event it names
	 */
	int64_t key;
	uint64_t bytes;
	int32_t pe; /* the other PE, -1: none */
	uint8_t kind;
	uint8_t detail;	     /* call: reads memory of this PE; message: an enum trace_end */
	uint8_t local, away; /* message: by load and store; data goes to the other PE */
};
_Static_assert(sizeof(struct trace_event) == 40, "the same on all PEs and in part files");

enum { TRACE_NAMES = 512 };

struct trace_name {
	char routine[48];
	char category[16];
};

#define TRACE_MAGIC 0x3130727472617074ULL /* differs for every layout */

struct trace_ring {
	uint64_t magic;
	int32_t pe, n_pes;
	_Atomic uint64_t recorded; /* number ever recorded; event i is at i % capacity */
	uint64_t capacity;
	uint64_t started, zero; /* by this PE's clock; PE 0's start, by PE 0's clock */
	/* Difference of this PE's clock and PE 0's: at the start, and at `ended`. */
	int64_t ahead, ahead_at_end;
	uint64_t ended; /* 0: not compared at the end */
	uint64_t error; /* of the comparisons, ns; 0: the clock is PE 0's */
	/* Identifier of the clock: PEs with the same one need no comparison. */
	uint64_t clock;
	uint64_t reading;     /* at PE 0: the time on another PE's clock */
	_Atomic uint64_t ask; /* flags of the comparison */
	_Atomic uint64_t answer;
	uint64_t unfinished;	  /* is a call in progress? */
	struct trace_event doing; /* that call */
	uint64_t names;
	struct trace_name name[TRACE_NAMES];
	struct trace_event event[];
};

static inline size_t trace_ring_bytes(uint64_t capacity)
{
	return sizeof(struct trace_ring) + capacity * sizeof(struct trace_event);
}

/* Number of events ever recorded. */
static inline uint64_t trace_recorded(const struct trace_ring *ring)
{
	return atomic_load_explicit(&ring->recorded, memory_order_relaxed);
}

/* The number of the oldest event still in the ring. */
uint64_t trace_first(const struct trace_ring *ring);

/* Nanoseconds since PE 0 started. */
int64_t trace_time(const struct trace_ring *ring, uint64_t when);

int64_t trace_flag_key(uint64_t offset, uint64_t value);

/*
 * Finds the ends of messages from `mine` to the PE of `theirs`, which may be the same. Returns
 * false if there is no memory.
 */
bool trace_resolve(struct trace_ring *mine, const struct trace_ring *theirs);

/* Writes JSON, each event followed by a comma. The ring may be a head without events. */
void trace_write_names(struct plain_text *text, int pe);
void trace_write_event(struct plain_text *text, const struct trace_ring *ring, const struct trace_event *event,
		       int64_t number);
/* The call in progress when the PE ended without finalizing, if any. */
void trace_write_unfinished(struct plain_text *text, const struct trace_ring *ring);

/* --- Part files: FILE.PEn is the ring of PE n while it runs --- */

enum { TRACE_PART_NAME = 4096 };

void trace_part_name(char name[TRACE_PART_NAME], const char *file, int pe);
/* Removes parts of earlier jobs that had more PEs than this one. */
void trace_remove_parts(const char *file, int from_pe);

struct trace_joined {
	int pes;	 /* of the job; 0: no part exists */
	int absent;	 /* PEs without a readable part */
	int cut;	 /* PEs whose part is shorter than its head says */
	char which[200]; /* "; no part of PEs 1, 3; parts of PEs 2 are cut off", or nothing */
	char problem[200];
};

/*
 * Joins the parts into one trace and removes them. Returns false if it cannot be written (problem);
 * the parts then stay.
 */
bool trace_join(const char *file, struct trace_joined *joined);

#endif
