/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TARGET_H
#define COMMS_TARGET_H

#include "comms/core/operations.h"
#include "comms/observe/counters.h"

/*
 * The target of an operation. Initialise one in its declaration by the function that makes it. A
 * later assignment goes through a temporary, which is copied with wider loads than the stores that
 * wrote it, and these stall the processor.
 */
struct target {
	struct comms_place place;
	void *here; /* where this process accesses it, NULL: the network carries the operation */
};

/* For arguments that have been checked. */
struct target target_find(const void *address, int pe);

/*
 * Ends the job, naming the routine and the argument, unless these bytes are in symmetric memory of
 * that PE; or breaks it, and returns a target without a peer.
 */
struct target target_check(const void *address, size_t bytes, const char *argument, int pe, const char *routine);
/* The same for a word that atomics change, for which a node may have to use the network, too. */
struct target target_check_word(void *dest, size_t width, int pe, const char *routine);

static inline bool target_is_none(const struct target *target)
{
	return COMMS_UNLIKELY(!target->place.peer);
}

/* Counts an operation that begins now. */
enum counters_row target_row(const struct target *target);
void target_count(const struct target *target, enum counters_side side, size_t bytes,
		  const struct comms_channel *channel);

#endif
