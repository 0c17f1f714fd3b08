/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FJMPI_PLAN_PAIR_H
#define FJMPI_PLAN_PAIR_H

#include <assert.h>
#include "plan.h"

/*
 * Requests of FJMPI_Prequest_send_init and FJMPI_Prequest_recv_init.
 *
 * A request begins as a message of the MPI, which finds the receiver: a header and the data. How
 * two requests connect:
 *
 *   1. The header of the first message asks. It names the sender's mailbox. The receiver, when the
 *      message is complete, answers with a put into it: where its buffer and its own mailbox are,
 *      or that it wants no puts.
 *   2. The sender does not wait for the answer. It goes on with the MPI until it has it, and then
 *      notifies the receiver from which message on it puts. The thread does that, so a receiver
 *      that starts again may wait for it.
 *   3. In a round of puts the receiver's start notifies the sender that the buffer is free. The
 *      sender awaits this, and puts the data in pieces, which the receiver awaits.
 *
 * How they disconnect, when a request is freed, cancelled, or not the only one any more for the
 * messages of a rank and a tag (the MPI then has to match them): each closes once, with a put to
 * the other. The sender's says how many rounds of puts it has begun, so that the receiver knows
 * whether the data of a round that it has started still comes; otherwise the MPI starts the round
 * again. Until both have closed, the mailbox stays, also that of a request which is freed.
 *
 * Control puts between two mailboxes are strongly ordered: behind the one that closes nothing else
 * arrives.
 */
#define PAIR_MAGIC UINT64_C(0x746f667570616972)

struct pair_header {
	uint64_t magic, machine, asks, vcq, mailbox, bytes, unused[2];
};

static_assert(sizeof(struct pair_header) == FJMPI_PAIR_HEADER_BYTES, "fjmpi_persistent.h sends headers of this size");

/* Into the mailbox of the sender. */
struct pair_answer {
	uint64_t agrees, vcq, buffer, mailbox;
};

enum { PAIR_BLOCK = sizeof(struct pair_answer) };

/* Blocks of a mailbox, which are also the slots of its arrivals. */
enum {
	/* The answer; at the receiver the number of the first message that is put. */
	PAIR_BLOCK_REPLY,
	/* The buffer is free; at the receiver that a message without bytes is here. */
	PAIR_BLOCK_FLAG,
	PAIR_BLOCK_CLOSE, /* with the number of rounds of puts that the sender has begun */
	PAIR_BLOCKS
};

enum pair_state {
	PAIR_ALONE,
	PAIR_AGREEING, /* the sender has asked, the receiver has agreed */
	PAIR_CONNECTED
};

struct plan_pair {
	struct fjmpi_pair_call call;
	struct pair_header header; /* of messages of the MPI, sent or received */
	enum pair_state state;
	bool has_mailbox, gave_up; /* asks no more */
	bool by_mpi;		   /* this round */
	bool late, starting;	   /* the MPI has to start it; is about to */
	bool close_wanted, cancel_wanted, freed, said;
	uint64_t number;    /* of the last message since the question, which is 1 */
	uint64_t first_put; /* number of a message */
	uint32_t puts;	    /* rounds that the receiver has started, or that the sender has begun */
	uint32_t closes_sent, closes_seen;
	struct plan_mailbox other;
	utofu_stadd_t buffer; /* of the other rank */
	size_t bytes;	      /* of the message */
	struct fjmpi_pair_result result;
};

/* --- plan_pair.c --- */

const char *pair_routine(const struct fjmpi_pair_call *call);
void pair_report(const struct fjmpi_pair_call *call, const char *how, const char *why);
void pair_report_mpi(struct plan_pair *pair, const char *why);
bool pair_in_puts(const struct fjmpi_plan *plan);
void pair_leave_to_mpi(struct plan_pair *pair);
/* A round of puts for which no data comes. */
void pair_end_round_without_data(struct fjmpi_plan *plan);

/* --- plan_pair_connect.c --- */

bool pair_is_closing(const struct plan_pair *pair);
/*
 * Another request of this rank that may match the same messages, or NULL. A freed one counts until
 * the other rank knows of its end.
 */
struct fjmpi_plan *pair_find_rival(const struct fjmpi_plan *plan, bool freed);
/* A message of the MPI is complete, and its header asks. */
void pair_answer_question(struct fjmpi_plan *plan);

#endif
