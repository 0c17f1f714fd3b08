/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NIC_RECORDING_H
#define SOFTOFU_NIC_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The recording of a job's communication for softofu-replay: one file of these records for each
 * rank, in the folder SOFTOFU_RECORD. Records of a process are in the order of its actions. Records
 * of a NIC name the message that caused the action.
 *
 * sent       a message left: from the process, after everything it has read so far, or from a
 *            session, when it was released
 * read       the process has read the notice of a message, or needed it where it says when it does
 *            (softofu.h)
 * released   a message has moved the pointer of a session
 * job        the first record: shape and size of the job
 */
enum record_kind { RECORD_SENT, RECORD_SENT_BY_SESSION, RECORD_READ, RECORD_RELEASED, RECORD_JOB, RECORD_KINDS };

struct record {
	/* What: the kind of the descriptor, or the type of the notice that was read. */
	uint32_t kind, what;
	/* Rank << 32, and which of that rank's; the one sent, or the one that this follows from. */
	uint64_t message;
	uint64_t from, to; /* VCQ ids */
	uint64_t bytes;
	uint64_t queue; /* session's number in the job; 0 without a session */
	uint64_t place; /* of the command in the session, or of the first released one */
	uint64_t steps; /* of the pointer; blocks of a message that was sent */
};
/*
 * Of a job: its ranks (message), sizes of its axes, 10 bits each (from), which of them are rings
 * (to).
 */
enum { RECORD_SIZE_BITS = 10 };
#define RECORD_FILE "softofu-rank-%d"

/*
 * A message that was read for an edata and is not needed yet. on: the process says when it needs
 * it.
 */
struct later {
	uint64_t message; /* 0: nothing */
	bool on;
};

struct nic;
struct vcq;
struct shared_vcq;
struct mrq_entry;
struct descriptor;

void record_open(struct nic *nic);
void record_close(void);
/* Records a message; place is its place in a session. Sets record_message for this thread. */
void record_sent(struct vcq *vcq, const struct descriptor *what, uint64_t place);
void record_read(struct vcq *vcq, const struct mrq_entry *notice); /* with the lock of the queue */
void record_released(struct nic *nic, const struct shared_vcq *to, uint64_t place, uint64_t steps);
/* The message that this thread works on; 0: no recording. */
extern _Thread_local uint64_t record_message;

#endif
