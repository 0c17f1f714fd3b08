/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TOFU_SESSION_QUEUES_H
#define COMMS_TOFU_SESSION_QUEUES_H

#include "tofu_inside.h"

/*
 * The building blocks of the sessions of tofu_broadcast.c and tofu_edges.c.
 *
 * session queue     a session-mode queue, and the commands posted on it in each run. They are
 *                   prepared when the session is made; a start only posts them. One that is not
 *                   open posts on the queue of another
 * group    a packet releases at most fifteen commands. So for more, it releases fourteen and one
 *          put to the same session queue, which releases the next group
 *
 * Only the last command of each session queue that reads memory requests a notice: its source is
 * free then.
 */
enum { SESSION_QUEUES = 40, MOST_COMMANDS = 1000 };

struct session_queue {
	utofu_vcq_hdl_t vcq, by; /* by: the queue that posts */
	utofu_vcq_id_t id;
	utofu_stadd_t memory[COMMS_MOST_SEGMENTS];
	unsigned registered; /* one bit for each of them */
	bool open, reports;
	bool over; /* in this run */
	char *commands;
	size_t bytes, room;
	int left; /* commands still to be prepared, if they go in groups */
	int written;
};

struct tree {
	struct session_queue *first, *more[TOFU_TNIS]; /* more: from 1 on */
	int session_queues;
};

struct comms_session {
	int trees, session_queues, words;
	struct tree tree[COMMS_SESSION_TREES];
	struct session_queue session_queue[SESSION_QUEUES];
	/* Each becomes the number of the run at its start. */
	_Atomic uint64_t *word[COMMS_SESSION_TREES];
	/* Posted last: reports that this PE is ready. */
	struct session_queue *last;
	struct session_queue *data[TOFU_TNIS]; /* of edges */
};

/* Opens one, unless an earlier step has failed. */
struct session_queue *session_queue_add(struct comms_session *session, utofu_tni_id_t tni, int *code);
/* Posts on that queue, and has none of its own. */
struct session_queue *session_queue_add_on(struct comms_session *session, utofu_vcq_hdl_t queue);
/* Returns the session; NULL after closing it if a step failed. */
struct comms_session *session_queues_opened(struct comms_session *session, int code);

/*
 * Flags of a command in strong order that releases commands at its target; the last one requests a
 * notice when it has been sent.
 */
unsigned long session_queue_flags(int lets_go, bool last);
/* Operate on symmetric memory; dest by its address here. bytes: at most tofu.most_bytes. */
void session_queue_put(struct session_queue *session_queue, utofu_vcq_id_t queue, const void *dest, const void *source,
		       size_t bytes, unsigned long flags);
/* Adds a packet whose data is never read. */
void session_queue_signal(struct session_queue *session_queue, utofu_vcq_id_t queue, unsigned long flags);
void session_queue_pause(struct session_queue *session_queue);

/*
 * How many commands the next packet must release if `left` commands are not released yet: all, or,
 * if they are more than a group (see the head of this file), a group and the put that continues.
 */
int session_queue_group(int left);
/* Call after preparing a command that the session queue releases in groups by itself. */
void session_queue_next(struct session_queue *session_queue);

#endif
