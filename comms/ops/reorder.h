/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_REORDER_H
#define COMMS_REORDER_H

#include "comms/core/operations.h"
#include "comms/observe/counters.h"

/*
 * Reorder injection (SHMEM_CHECK): holds operations of the program back for as long as the standard
 * allows, and then carries them out in another order.
 *
 * held     an operation that has returned to the program and is not carried out yet. A blocking put
 *          has copied its source. A nonblocking put reads it when it is carried out, and so does a
 *          get, whose destination holds a canary until then
 * draw     a pseudo-random number from SHMEM_CHECK_SEED, the PE and another number: it decides the
 *          order and the pauses
 *
 * Puts leave at a fence, a quiet or a barrier, and when this PE begins to wait. A thread of the
 * library also sends them after some time, because a put arrives without further calls. Gets leave
 * at a quiet or a barrier. Any thread may call anything here.
 */
enum held_kind { HELD_PUT, HELD_SIGNAL, HELD_GET, HELD_RESULT };
struct held {
	enum held_kind kind;
	struct comms_channel *channel;
	void *dest;
	const void *source; /* for a result, the held operation's own copy */
	size_t bytes;
	int pe;
	const char *routine;
	bool nbi;
	uint64_t *word, value; /* of a signal */
	enum comms_amo op;
	/* Set by reorder_hold. */
	void *copy; /* of the source; NULL: none */
	uint64_t number, draw;
	int64_t since;
};

#define REORDER_CANARY 0xCA /* in each byte */

void reorder_start(void);
/* After the last barrier. */
void reorder_stop(void);

/*
 * Returns false if the operation is not the program's and must be carried out now. The arguments
 * have been checked.
 */
bool reorder_hold(const struct held *operation);

/*
 * Carries out held operations of a channel: puts before a fence, all before a quiet, those to these
 * PEs.
 */
void reorder_fence(struct comms_channel *channel);
void reorder_quiet(struct comms_channel *channel);
void reorder_quiet_pes(struct comms_channel *channel, const int *pes, size_t n);
/* On all channels. */
void reorder_quiet_all(void);

/* Called when the program calls a routine of this category. */
void reorder_call_begins(enum counters_category category);

/* Is any operation held? */
bool reorder_holds(void);

/* Were these bytes written by puts that overtook each other? from: the PE that sent the puts. */
bool reorder_overtook(const void *address, size_t bytes, int *from);

uint64_t reorder_random(uint64_t number);
/* Sleeps for a moment: for each number below `often`, and more and more rarely for larger ones. */
void reorder_pause(uint64_t number, uint64_t often);

/* In ops.c: carries out a held operation. */
void comms_carry_out(const struct held *operation);

#endif
