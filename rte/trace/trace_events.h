/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_TRACE_EVENTS_H
#define RTE_TRACE_EVENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "rte/text/plain.h"

/*
 * The events of SHMEM_TRACE as a PE keeps them: a head and a ring, in memory and in the PE's part file alike. The library and oshrun read
 * them: this header and trace_events.c have the format, the times, the matching of both ends of a message, and the JSON.
 *
 * call     of a routine, from its beginning to its end
 * message  one operation to or from another PE, recorded by the PE that issues it
 * arrival  of a message that names its event, recorded by the target before it carries the message out
 * flag     the target has seen the flag that shows a message; both ends compute the same key for it
 *
 * An arrow is drawn for a message whose end is known: between its arrival and the moment the target can use it. trace_resolve finds out.
 */
enum trace_kind { TRACE_NONE, TRACE_CALL, TRACE_MESSAGE, TRACE_ARRIVAL, TRACE_FLAG };

/* What `end` of a message is. */
enum trace_end {
	TRACE_UNKNOWN,
	TRACE_SURE,   /* the instant to draw, by the clock of the PE that recorded it */
	TRACE_LATEST, /* it has arrived by then; the target may have used it before */
	TRACE_JOB     /* the instant to draw, in the job's time */
};

struct trace_event {
	uint64_t begin,
		end; /* of a call; of a message: issued, and see trace_end; of an arrival or a flag: begin only */
	/* call: the number of its name. message, flag: the flag's key or the channel. arrival: the event it names */
	int64_t key;
	uint64_t bytes;
	int32_t pe; /* the other PE, -1: none */
	uint8_t kind;
	uint8_t detail;	     /* call: reads memory of this PE; message: an enum trace_end */
	uint8_t local, away; /* message: by load and store; data goes from here to the other PE */
};
_Static_assert(sizeof(struct trace_event) == 40, "the same on all PEs and in part files");

enum { TRACE_NAMES = 512 };

struct trace_name {
	char routine[48];
	char category[16];
};

#define TRACE_MAGIC 0x3130727472617074ULL /* another one for every other layout */

struct trace_ring {
	uint64_t magic;
	int32_t pe, n_pes;
	_Atomic uint64_t recorded; /* ever; event i is at i % capacity */
	uint64_t capacity;
	uint64_t started, zero;	     /* by this PE's clock; PE 0's start by PE 0's */
	int64_t ahead, ahead_at_end; /* how far this PE's clock is ahead of PE 0's: at the start, and at `ended` */
	uint64_t ended;		     /* 0: not compared again */
	uint64_t error;		     /* of the comparisons, ns; 0: the clock is PE 0's */
	uint64_t clock;		     /* number of the clock: PEs with the same number need no comparison */
	uint64_t reading;	     /* at PE 0: the time that another PE's clock shows */
	_Atomic uint64_t ask;	     /* flags of the comparison */
	_Atomic uint64_t answer;
	uint64_t unfinished;	  /* is there a call that has begun? */
	struct trace_event doing; /* this call */
	uint64_t names;
	struct trace_name name[TRACE_NAMES];
	struct trace_event event[];
};

static inline size_t trace_ring_bytes(uint64_t capacity)
{
	return sizeof(struct trace_ring) + capacity * sizeof(struct trace_event);
}

/* How many events were recorded ever. */
static inline uint64_t trace_recorded(const struct trace_ring *ring)
{
	return atomic_load_explicit(&ring->recorded, memory_order_relaxed);
}

/* The number of the first event that is still there. */
uint64_t trace_first(const struct trace_ring *ring);

/* In nanoseconds since PE 0 started. */
int64_t trace_time(const struct trace_ring *ring, uint64_t when);

int64_t trace_flag_key(uint64_t offset, uint64_t value);

/* Finds the ends of messages from mine to the PE that `theirs` is of, which may be the same. False: no memory for it. */
bool trace_resolve(struct trace_ring *mine, const struct trace_ring *theirs);

/* JSON, each event followed by a comma. The ring may be a head without events. */
void trace_write_names(struct plain_text *text, int pe);
void trace_write_event(struct plain_text *text, const struct trace_ring *ring, const struct trace_event *event,
		       int64_t number);
/* The call that has not ended, if there is one, and that the PE has not finalized. */
void trace_write_unfinished(struct plain_text *text, const struct trace_ring *ring);

/* --- Part files: FILE.PEn is the ring of PE n while it runs --- */

enum { TRACE_PART_NAME = 4096 };

void trace_part_name(char name[TRACE_PART_NAME], const char *file, int pe);
/* Removes parts of earlier jobs that had more PEs than this one. */
void trace_remove_parts(const char *file, int from_pe);

struct trace_joined {
	int pes;	 /* of the job; 0: there is no part */
	int absent;	 /* PEs without a part that can be read */
	int cut;	 /* PEs whose part is shorter than it says */
	char which[200]; /* "; no part of PEs 1, 3; parts of PEs 2 are cut off", or nothing */
	char problem[200];
};

/* Makes one trace of the parts and removes them. False: it could not be written (problem); the parts are still there. */
bool trace_join(const char *file, struct trace_joined *joined);

#endif
