/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_TOFU_LANES_H
#define COMMS_TOFU_LANES_H

#include "tofu_inside.h"

/*
 * What the sessions of tofu_broadcast.c and tofu_edges.c are made of.
 *
 * lane     a session-mode queue, and what is posted on it in each run. All of that is written down when the session is made; a start
 *          only posts it. One that is not open posts on a queue of others
 * group    a packet lets at most fifteen commands go. So where many are to go, one lets fourteen go and one more, which is a put to the same lane that
 *          lets the next group go
 *
 * Nothing asks for notices but the last command of each lane that reads memory: its source is free then.
 */
enum { LANES = 40, MOST_COMMANDS = 1000 };

struct lane {
	utofu_vcq_hdl_t vcq, by; /* by: the queue it posts on */
	utofu_vcq_id_t id;
	utofu_stadd_t memory[COMMS_SEGMENTS];
	bool open, tells;
	bool over; /* in this run */
	char *commands;
	size_t bytes, room;
	int left; /* commands still to be written, where they go in groups */
	int written;
};

struct tree {
	struct lane *first, *more[TOFU_ENGINES]; /* more: from 1 on */
	int lanes;
};

struct comms_session {
	int trees, lanes, words;
	struct tree tree[COMMS_SESSION_TREES];
	struct lane lane[LANES];
	_Atomic uint64_t *word[COMMS_SESSION_TREES]; /* become the number of the run at its start */
	struct lane *last; /* to post: says that this PE is ready */
	struct lane *data[TOFU_ENGINES]; /* of edges */
};

/* Opened, if nothing has failed so far. */
struct lane *lane_add(struct comms_session *session, utofu_tni_id_t tni, int *code);
/* Posts on that queue, and has none. */
struct lane *lane_add_on(struct comms_session *session, utofu_vcq_hdl_t queue);
/* The session, or NULL: closed, as something has failed. */
struct comms_session *lanes_opened(struct comms_session *session, int code);

/* Flags of a command in strong order, which lets others go at its target; the last says when it has been sent. */
unsigned long lane_flags(int lets_go, bool last);
/* Of symmetric memory; dest by its address here. bytes: at most tofu.most_bytes. */
void lane_put(struct lane *lane, utofu_vcq_id_t queue, const void *dest, const void *source, size_t bytes, unsigned long flags);
/* A packet that brings nothing anybody reads. */
void lane_signal(struct lane *lane, utofu_vcq_id_t queue, unsigned long flags);
void lane_pause(struct lane *lane);

/* How many of those that are left one packet lets go. */
int lane_group(int left);
/* A command has been written of those that the lane lets go in groups by itself. */
void lane_next(struct lane *lane);

#endif
