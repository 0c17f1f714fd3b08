/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_COMMANDS_H
#define COMMS_COMMANDS_H

#include "comms/ops/notify.h"

/*
 * Lists of commands: communication that is prepared once and then started again and again.
 *
 * command  one step: notify a PE, put a block and notify, copy, combine two blocks, start a session
 *          of the NIC, or advance a procedure until it ends
 * queue    commands that run in order. `write` counts those prepared, `read` those that have run.
 *          The command at `read` waits for its word, like the scheduling pointer of a session-mode
 *          queue: an arrival releases commands, and no processor prepares anything then
 * list     queues that are started together. Each start is a run; runs are numbered from 1
 * word     8 bytes of this PE that another PE, or this PE itself, counts up
 *
 * Words are never reset. A run counts a word up `each` times, so its nth increment in run r makes
 * it (r - 1) * each + nth. A command that waits for the nth increment waits for that value. An nth
 * below 1 belongs to the run before.
 *
 * Any thread that waits in the library moves the lists, and so does the server when the network
 * brings something. Lists of the executor are moved by the executor, the server, and a thread that
 * waits for such a list. One thread at a time moves a list. A thread that finds another one there
 * asks it to poll again, so no thread blocks and no arrival is overlooked.
 *
 * A list that repeats begins its next run by itself until it is stopped: its commands wait for
 * words that other PEs count up.
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

/* out[i] = low[i] op high[i]; op is commutative and associative */
typedef void comms_combine(void *out, const void *low, const void *high, size_t count);

struct comms_command {
	enum comms_command_kind kind;
	int pe;			 /* PE to notify */
	_Atomic uint64_t *until; /* word of this PE; NULL: does not wait */
	struct comms_iteration when;
	_Atomic uint64_t *word;	 /* word of the other PE, by its address here */
	bool second_cable;	 /* see comms_notification */
	_Atomic uint64_t *there; /* where to store it; NULL: the network carries word and data */
	struct comms_iteration notified;
	void *dest;
	const void *source, *with; /* with: the second operand */
	size_t size;		   /* in bytes; of a combine, in elements */
	comms_combine *combine;
};

/*
 * A procedure waits for several arrivals at once, which a queue cannot do. `advance` does what is
 * possible now in that run, sets `moved` if it did anything, and returns true when the run has
 * ended.
 */
struct comms_procedure {
	bool (*advance)(void *state, uint64_t run, bool *moved);
	void (*dispose)(void *state);
	void *state; /* NULL: there is none */
};

#define COMMS_QUEUE_REQUESTS 2 /* per queue, outstanding on the network at once */

struct comms_queue {
	struct comms_command *commands;
	size_t write, read, room;
	/* The first command only notifies: the thread that starts the list runs it. */
	bool notifies_first;
	unsigned begun; /* network notifications started in this run */
	struct comms_request request[COMMS_QUEUE_REQUESTS];
};

struct comms_list {
	struct comms_queue *queues;
	int n_queues, most_queues;
	bool by_executor;	       /* the executor moves this list */
	struct comms_session *session; /* what the NIC does; NULL: nothing */
	struct comms_procedure procedure;
	bool by_network; /* at least one command uses the network */
	bool attended;	 /* a start ends the rest of the network's thread: a run may take longer */
	bool repeats;
	int place; /* number among all lists; the owner chooses it */
	const char *routine;
	uint64_t run;		   /* last run begun */
	_Atomic uint64_t finished; /* last run that has ended */
	atomic_bool active, busy, again;
};

#define COMMS_LISTS 256	      /* numbers for lists of plans */
#define COMMS_SPARE_LISTS 128 /* numbers behind them for lists of list_pool.c */

/* Adds an empty queue to the list and returns it. */
struct comms_queue *comms_list_queue(struct comms_list *list);
/* Ends the job if there is no memory. */
void comms_queue_add(struct comms_queue *queue, const struct comms_command *command);
void comms_list_free(struct comms_list *list);
/* When the network has stopped: frees what lists had in a broken job. */
void comms_lists_stop(void);

/* Begins a run. The run before must have ended. */
void comms_list_start(struct comms_list *list);
/* Moves the list if this thread may. Returns true if the last run has ended. */
bool comms_list_is_over(struct comms_list *list);
void comms_list_wait(struct comms_list *list);
/* Ends a list that repeats. No PE may count up its words again; operations under way complete. */
void comms_list_stop(struct comms_list *list);

/*
 * list_pool.c: empty lists with a number of their own, for uses other than plans. NULL: none is
 * left.
 */
struct comms_list *comms_list_take(const char *routine);
/* Returns a list, which must not be active, to the pool. */
void comms_list_return(struct comms_list *list);
int comms_lists_left(void);

/* Lets waits and the network move lists (comms/wait/lists.h). */
void comms_lists_start(void);

/* executor.c: the thread that moves lists by itself; created on first use. */
void comms_executor_start(const char *routine);
void comms_executor_wake(void);
void comms_executor_stop(void);
/* Number of the executor's lists to move, and the function that moves them. */
extern atomic_int comms_executor_has;
bool comms_executor_move(void);
/*
 * Words that the executor polls because nobody wakes it when they change: how many there are, and
 * the function that acts on them. It returns true if it did anything.
 */
extern atomic_int comms_executor_polls;
extern bool (*comms_executor_poll)(void);

#endif
