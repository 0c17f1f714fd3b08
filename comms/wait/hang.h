/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_HANG_H
#define COMMS_HANG_H

#include "comms/core/comms.h"

/*
 * What a PE waits for, which it publishes only once the wait has become slow. A routine that may wait notes what it is about to do: a few
 * stores to memory of its own thread, which nobody reads unless the wait lasts for tenths of a second. Then the waiting thread
 * writes what it waits for, in words (hang_text.c), where other PEs can read it (comms_system.shown), and some PE may
 * make a report of it (hang_report.c).
 */

enum hang_kind { HANG_NOTHING, HANG_GROUP, HANG_WORD, HANG_LOCK, HANG_PEER };
struct hang_note {
	enum hang_kind kind;
	const char *routine;
	const struct comms_group *group;
	const void *word;
	const char *text; /* how it is compared, what a PE is to send */
	uint64_t wanted;
	size_t size;
	bool is_signed;
	int pe;
};
extern _Thread_local struct hang_note hang_note __attribute__((tls_model("initial-exec")));

/* The collective that this thread has begun. */
COMMS_INLINE void hang_note_group(const char *routine, const struct comms_group *group)
{
	hang_note.kind = HANG_GROUP;
	hang_note.routine = routine;
	hang_note.group = group;
}

/* A word, of 2, 4 or 8 bytes, that is compared with a value. Only the address: any of several words there. */
void hang_note_word(const char *routine, const void *word, size_t size, bool is_signed, const char *compare,
		    uint64_t wanted);

/* A lock, and the PE in front of this one in its queue. */
void hang_note_lock(const char *routine, const long *lock, int before);

/* What another PE is to send or to answer. */
void hang_note_peer(const char *routine, const char *what, int pe);

/* What this thread waits for, as a report shows it. */
void hang_describe(struct comms_waiting *w);

/*
 * Reports that all PEs wait, and then ends the job if it is to end. Otherwise pe is one where
 * something else could end a wait (comms_passive.writer), or COMMS_NOBODY.
 */
void hang_deadlock(bool end, int pe);

void hang_start(void);
void hang_stop(void);

/* hang_report.c: reads what all PEs wait for, and prints it. Runs in a thread of its own. */
void hang_report(int64_t longer_than);

/* Reads what a PE, which may be this one, waits for; false: it changed too often. */
bool hang_read(int pe, struct comms_waiting *waiting);
int64_t hang_clock(void); /* ms, alike on all hosts */

#endif
