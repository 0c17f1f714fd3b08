/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SOFTOFU_NIC_RECORD_H
#define SOFTOFU_NIC_RECORD_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What the processes of a job did with their cards, for softofu-replay: a file for each rank, in the folder SOFTOFU_RECORD, of these. What a process
 * did is in its order; what a card did alone refers to the message that made it do so.
 *
 * sent       a message left. By the process, after what it has read so far; or by a session, when that was let go
 * read       the process has read the notice of a message; or needed it, where it says when it does (softofu.h)
 * let go     a message has moved a session's pointer
 */
enum record_kind { RECORD_SENT, RECORD_SENT_BY_SESSION, RECORD_READ, RECORD_LET_GO };

struct record {
	uint32_t kind, what; /* what: the kind of the descriptor */
	uint64_t message;    /* rank << 32, and which of that rank's; the one sent, or the one that this follows from */
	uint64_t from, to;   /* VCQ ids */
	uint64_t bytes;
	uint64_t queue; /* a session's, as the job numbers it */
	uint64_t place; /* of the command in it, or of the first that was let go */
	uint64_t steps;
};
#define RECORD_FILE "softofu-rank-%d"

/* What has been read of one edata, and is not yet needed; on: the process says when it is. */
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
/* place: in a session. What follows in this thread is about this message. */
void record_sent(struct vcq *vcq, const struct descriptor *what, uint64_t place);
void record_read(struct vcq *vcq, const struct mrq_entry *notice); /* with the lock of the queue */
void record_let_go(struct nic *nic, const struct shared_vcq *to, uint64_t place, uint64_t steps);
/* The message that this thread is at; 0 where nothing is recorded. */
extern _Thread_local uint64_t record_message;

#endif
