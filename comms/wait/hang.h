/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_HANG_H
#define COMMS_HANG_H

#include "comms/core/comms.h"

/*
 * What a PE waits for, which it publishes only when the wait becomes slow. A routine that may wait
 * records it by a few stores to thread-local memory, which are read only if the wait lasts tenths
 * of a second. Then the waiting thread writes a description (hang_text.c) where other PEs can read
 * it (comms_system.shown), and some PE may print a report (hang_report.c).
 */

enum hang_kind { HANG_NOTHING, HANG_GROUP, HANG_WORD, HANG_LOCK, HANG_PEER };
struct hang_note {
	enum hang_kind kind;
	const char *routine;
	const struct comms_group *group;
	const void *word;
	const char *text; /* how word and value are compared; or what a PE is to send */
	uint64_t wanted;
	size_t size;
	bool is_signed;
	int pe;
};
extern _Thread_local struct hang_note hang_note __attribute__((tls_model("initial-exec")));

/* Records the collective that this thread has begun. */
COMMS_INLINE void hang_note_group(const char *routine, const struct comms_group *group)
{
	hang_note.kind = HANG_GROUP;
	hang_note.routine = routine;
	hang_note.group = group;
}

/*
 * Records a word of 2, 4 or 8 bytes and the value that it is compared with. Without the rest, the
 * address stands for any of several words there.
 */
void hang_note_word(const char *routine, const void *word, size_t size, bool is_signed, const char *compare,
		    uint64_t wanted);

/* Records a lock, and the PE ahead of this one in its queue. */
void hang_note_lock(const char *routine, const long *lock, int before);

/* Records what another PE is to send or to answer. */
void hang_note_peer(const char *routine, const char *what, int pe);

/* Records a wait that ends by itself, and so is part of no deadlock. */
COMMS_INLINE void hang_note_bounded(const char *routine)
{
	hang_note.kind = HANG_NOTHING;
	hang_note.routine = routine;
}

/* Describes for a report what this thread waits for. */
void hang_describe(struct comms_waiting *w);

/*
 * Reports that all PEs wait, and ends the job if `end`. Otherwise pe is one where something else
 * could end a wait (comms_passive.writer), or COMMS_NOBODY.
 */
void hang_deadlock(bool end, int pe);

void hang_start(void);
void hang_stop(void);

/* hang_report.c: reads what all PEs wait for, and prints it. Runs in a thread of its own. */
void hang_report(int64_t longer_than);

/* Reads what a PE, which may be this one, waits for. Returns false if that kept changing. */
bool hang_read(int pe, struct comms_waiting *waiting);
int64_t hang_clock(void); /* ms, the same on all hosts */

#endif
