/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_REORDER_H
#define COMMS_REORDER_H

#include "ops.h"
#include "comms/core/comms.h"
#include "comms/observe/counters.h"

/*
 * Reorder injection (SHMEM_CHECK): operations of the program are held back for as long as the standard allows, and then carried out in
 * another order than they were called in.
 *
 * held     an operation that has returned to the program and is not carried out yet. A blocking put has copied its source; one without
 *          blocking reads it when it is carried out, and so does a get, whose destination holds a canary until then
 * draw     a number that follows from SHMEM_CHECK_SEED, the PE and another number: the order, and where to pause, are drawn so
 *
 * Puts leave at a fence, a quiet or a barrier, when this PE begins to wait, and by a thread of the library after some time, since a put
 * arrives without further calls, too. Gets leave at a quiet or a barrier. Any thread may call anything here.
 */
enum held_kind { HELD_PUT, HELD_SIGNAL, HELD_GET, HELD_RESULT };
struct held {
	enum held_kind kind;
	struct comms_channel *channel;
	void *dest;
	const void *source; /* of a result, the held operation's own copy */
	size_t bytes;
	int pe;
	const char *routine;
	bool nbi;
	uint64_t *word, value; /* of a signal */
	enum comms_amo op;
	/* By reorder_hold. */
	void *copy; /* of the source, NULL: there is none */
	uint64_t number, draw;
	int64_t since;
};

#define REORDER_CANARY 0xCA /* in each byte */

void reorder_start(void);
/* After the last barrier. */
void reorder_stop(void);

/* False: it is none of the program's, and to be carried out now. The arguments have been checked. */
bool reorder_hold(const struct held *operation);

/* What was done on a channel leaves: puts before a fence, all before a quiet, what concerns these PEs. */
void reorder_fence(struct comms_channel *channel);
void reorder_quiet(struct comms_channel *channel);
void reorder_quiet_pes(struct comms_channel *channel, const int *pes, size_t n);
/* On all channels. */
void reorder_quiet_all(void);

/* The program calls a routine of this category. */
void reorder_call_begins(enum counters_category category);

/* Is something held? */
bool reorder_holds(void);

/* Written by puts to PE that overtook each other: none, or the PE they came from. */
bool reorder_overtook(const void *address, size_t bytes, int *from);

uint64_t reorder_random(uint64_t number);
/* Sleeps for a moment: at so many first numbers each time, and at later ones the more rarely. */
void reorder_pause(uint64_t number, uint64_t often);

/* Carries one out: by ops.c. */
void comms_carry_out(const struct held *operation);

#endif
