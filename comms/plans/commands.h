/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_COMMANDS_H
#define COMMS_COMMANDS_H

#include "comms/ops/notify.h"

/*
 * Lists of commands: communication that is prepared once and then started again and again.
 *
 * command  one step: notify a PE, put a block and notify, copy, combine two blocks, have the NIC do all of it, advance a procedure until it
 *          is over
 * queue    commands that run in order. `write` is how many are prepared, `read` how many have run. In between lies what a
 *          session-mode queue of a NIC calls the scheduling pointer: the first command whose word has not come yet.
 *          So an arrival releases commands, and nobody prepares anything then.
 * list     queues that are started together. A start is a run, and runs are numbered from 1.
 * word     8 bytes of this PE that somebody else counts up, or this PE itself
 *
 * Words are never reset. In each run a word is counted up `each` times; so the nth time in run r makes it (r - 1) * each + nth, and
 * a command that waits for the nth time waits for that. Below 1, nth is of the run before.
 *
 * Whoever has time moves a list: the server when the network brought something, a PE that waits for anything in the library.
 * The executor, the server, and a thread that waits for a list move lists of the executor. One at a time is inside; a thread that finds another there asks it to poll again. So nobody
 * ever waits to move a list, and no arrival is overlooked.
 *
 * A list that repeats begins its next run by itself, until it is stopped: its commands wait for words that others count up.
 */
enum comms_command_kind {
	COMMS_AWAIT,
	COMMS_NOTIFY,
	COMMS_PUT,
	COMMS_COPY,
	COMMS_COMBINE,
	COMMS_BY_NIC,
	COMMS_NIC_IS_DONE,
	COMMS_ADVANCE
};
struct comms_session;

struct comms_iteration {
	int64_t each, nth;
};

/* out[i] = low[i] op high[i]; the operation has no order that matters. */
typedef void comms_combine(void *out, const void *low, const void *high, size_t count);

struct comms_command {
	enum comms_command_kind kind;
	int pe;			 /* whom it notifies */
	_Atomic uint64_t *until; /* mine; NULL: it waits for nothing */
	struct comms_iteration when;
	_Atomic uint64_t *word;	 /* theirs, by its address here */
	bool second_cable;	 /* see comms_notification */
	_Atomic uint64_t *there; /* where to store it; NULL: the network carries it, and its data */
	struct comms_iteration notified;
	void *dest;
	const void *source, *with; /* with: the other operand */
	size_t size;		   /* bytes; of a combine, elements */
	comms_combine *combine;
};

/*
 * A procedure that waits for several arrivals at once, which a queue of commands cannot. Advance does what can be done now in that run, sets
 * moved if that was something, and returns true when the run is over.
 */
struct comms_procedure {
	bool (*advance)(void *state, uint64_t run, bool *moved);
	void (*dispose)(void *state);
	void *state; /* NULL: there is none */
};

#define COMMS_QUEUE_REQUESTS 2 /* of a queue, under way at once over the network */

struct comms_queue {
	struct comms_command *commands;
	size_t write, read, room;
	bool notifies_first; /* its first command is a notification alone: the thread that starts the list runs it */
	unsigned begun;	     /* notifications over the network, in this run */
	struct comms_request request[COMMS_QUEUE_REQUESTS];
};

struct comms_list {
	struct comms_queue *queues;
	int n_queues, most_queues;
	bool by_executor;	       /* the executor moves it */
	struct comms_session *session; /* what the NIC does; NULL: nothing */
	struct comms_procedure procedure;
	bool by_network; /* some command goes over the network */
	bool repeats;
	int place; /* among all lists, which the owner sees to */
	const char *routine;
	uint64_t run;		   /* the last one begun */
	_Atomic uint64_t finished; /* the last one that is over */
	atomic_bool active, busy, again;
};

#define COMMS_LISTS 256	      /* places of plans' lists */
#define COMMS_SPARE_LISTS 128 /* and of those that list_pool.c has, behind them */

/* A queue to which commands are to be added. */
struct comms_queue *comms_list_queue(struct comms_list *list);
/* Ends the job where there is no memory. */
void comms_queue_add(struct comms_queue *queue, const struct comms_command *command);
void comms_list_free(struct comms_list *list);

/* Begins a run; the last one is over. */
void comms_list_start(struct comms_list *list);
/* Moves it if it can be moved from here. Is the last run over? */
bool comms_list_is_over(struct comms_list *list);
void comms_list_wait(struct comms_list *list);
/* Ends a list that repeats. Nobody will count up its words again; what is under way completes. */
void comms_list_stop(struct comms_list *list);

/* list_pool.c: lists for other uses than plans, empty and with a place of their own. NULL: none is left. */
struct comms_list *comms_list_take(const char *routine);
/* The list is not active. */
void comms_list_return(struct comms_list *list);
int comms_lists_left(void);

/* Makes waits and the network move lists (comms/wait/lists.h). */
void comms_lists_start(void);

/* executor.c: the one thread that moves lists by itself. Made when it is first needed. */
void comms_executor_start(const char *routine);
void comms_executor_wake(void);
void comms_executor_stop(void);
/* The same for its lists. */
extern atomic_int comms_executor_has;
bool comms_executor_move(void);

#endif
