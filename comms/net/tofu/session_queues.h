/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TOFU_SESSION_QUEUES_H
#define COMMS_TOFU_SESSION_QUEUES_H

#include "tofu_inside.h"

/*
 * What the sessions of tofu_broadcast.c and tofu_edges.c are made of.
 *
 * session queue     a session-mode queue, and what is posted on it in each run. All of that is written down when the session is made; a start
 *          only posts it. One that is not open posts on a queue of others
 * group    a packet lets at most fifteen commands go. So where many are to go, one lets fourteen go and one more, which is a put to the same session queue that
 *          lets the next group go
 *
 * Nothing asks for notices but the last command of each session queue that reads memory: its source is free then.
 */
enum { SESSION_QUEUES = 40, MOST_COMMANDS = 1000 };

struct session_queue {
	utofu_vcq_hdl_t vcq, by; /* by: the queue it posts on */
	utofu_vcq_id_t id;
	utofu_stadd_t memory[COMMS_SEGMENTS];
	bool open, reports;
	bool over; /* in this run */
	char *commands;
	size_t bytes, room;
	int left; /* commands still to be written, where they go in groups */
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
	_Atomic uint64_t *word[COMMS_SESSION_TREES]; /* become the number of the run at its start */
	struct session_queue *last;		     /* to post: says that this PE is ready */
	struct session_queue *data[TOFU_TNIS];	     /* of edges */
};

/* Opened, if nothing has failed so far. */
struct session_queue *session_queue_add(struct comms_session *session, utofu_tni_id_t tni, int *code);
/* Posts on that queue, and has none. */
struct session_queue *session_queue_add_on(struct comms_session *session, utofu_vcq_hdl_t queue);
/* The session, or NULL: closed, as something has failed. */
struct comms_session *session_queues_opened(struct comms_session *session, int code);

/* Flags of a command in strong order, which lets others go at its target; the last says when it has been sent. */
unsigned long session_queue_flags(int lets_go, bool last);
/* Of symmetric memory; dest by its address here. bytes: at most tofu.most_bytes. */
void session_queue_put(struct session_queue *session_queue, utofu_vcq_id_t queue, const void *dest, const void *source,
		       size_t bytes, unsigned long flags);
/* A packet that brings nothing anybody reads. */
void session_queue_signal(struct session_queue *session_queue, utofu_vcq_id_t queue, unsigned long flags);
void session_queue_pause(struct session_queue *session_queue);

/* How many of those that are left one packet lets go. */
int session_queue_group(int left);
/* A command has been written of those that the session queue lets go in groups by itself. */
void session_queue_next(struct session_queue *session_queue);

#endif
