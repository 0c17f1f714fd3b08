/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_JOB_H
#define OSHRUN_JOB_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "bind.h"
#include "io.h"
#include "options.h"
#include "reaper.h"
#include "server.h"

/*
 * A job of oshrun: the root of all state. docs/protocols/launch.md draws the states.
 *
 * Only the main thread uses it. The PMIx server has threads of its own; they pass events through server_next_event and touch nothing here.
 */

enum pe_phase {
	PE_NOT_STARTED,
	PE_STARTED,   /* runs, and has not connected to PMIx; ordinary programs never do */
	PE_CONNECTED, /* between PMIx_Init and PMIx_Finalize: other PEs may wait for it */
	PE_FINALIZED, /* no PE waits for it any more */
};

struct pe {
	pid_t pid;
	enum pe_phase phase;
	bool in_fence; /* of PMIx, or may be */
	bool gone;     /* has exited and has been reaped */
	bool fresh;    /* its exit has not been judged yet */
	int status;    /* of waitpid */
};

enum job_phase {
	JOB_RUNNING,
	/* the time limit is over; a PE has been asked to report what all PEs wait for, and has a moment to do so */
	JOB_ASKED,
	JOB_GRACE,  /* a PE of an ordinary program failed; the others have a moment to end by themselves */
	JOB_ENDING, /* all PEs have got SIGTERM */
	JOB_KILLED, /* all PEs have got SIGKILL */
};

/* What oshrun changes for itself and each PE restores just before it executes the program. */
struct inherited {
	sigset_t mask;
	struct sigaction pipe;
	struct rlimit files, stack, file_size;
};

struct job {
	struct options *options;
	char *debugger; /* the file to execute for the debugged PE, and its arguments */
	char **debug_arguments;
	char host[HOST_NAME_MAX + 1];
	char folder_name[48]; /* last part of the session folder, which other users can see */
	char name[80];	      /* PMIx namespace; a process that knows it belongs to the job, see accept_filter.h */
	struct processors processors;
	struct binding binding;

	int count;
	struct pe *pes;
	int alive;
	int absent;			   /* exited without ever connecting */
	int connected;			   /* in PE_CONNECTED and alive */
	bool program_known, other_program; /* other_program: not of OpenSHMEM, see program_kind.h */
	char **environment;
	char *trace; /* the file that SHMEM_TRACE names, NULL: no PE has named one */
	struct {
		char *bytes; /* NULL: SOFTOFU_SHAPE is not set */
		size_t size;
	} tofu_map; /* where the ranks are in a Tofu network, as jtofu_initialize reads it */

	enum job_phase phase;
	double deadline;	/* of this phase, 0: none */
	double time_limit;	/* --timeout, 0: none */
	int code;		/* the worst exit code so far, or the code of a decided end */
	bool code_decided;	/* by an abort, the time limit or a signal: codes of PEs no longer count */
	int signal;		/* that ends oshrun, 0: none */
	bool given_up;		/* the user does not want to wait for killed PEs */
	int worst;		/* PE that code is from */
	int failures;		/* PEs whose exit codes were not 0 */
	bool explained;		/* the reason of a nonzero code has been reported */
	int lost_pe;		/* the PE that lost its connection and has until lost_deadline to die */
	double lost_deadline;	/* 0: none */
	double output_deadline; /* for output that nobody reads, after a signal; 0: none */

	struct reaper *reaper;
	struct server *server;
	struct io io;
	int signal_fd;
	struct inherited inherited;
};

/* Runs the job from start to end; returns the exit code of oshrun. */
int job_run(struct job *job);

/* Ends the job: SIGTERM now, SIGKILL a second later. code is final if decided, else a floor. */
void job_end(struct job *job, int code, bool decided);

/* The same, for a PE that has ended too early: one of the other PEs reports the routine that it was in. */
void job_end_without(struct job *job, int pe, int code, bool decided);

/* Seconds of the monotonic clock. */
double job_clock(void);

/* Signals all processes of all PEs that live. */
void job_signal(struct job *job, int sig);

/* supervise.c: what happened to PEs, and what this means for the job. */
void supervise_events(struct job *job);
void supervise_children(struct job *job);
void supervise_grace(struct job *job);	      /* the grace is over */
void supervise_lost(struct job *job);	      /* the wait for a PE that lost its connection is over */
void supervise_report_exits(struct job *job); /* reports PEs that exited nonzero, unless the reason has been reported */

/* job_signals.c: signals to oshrun. */
bool signals_take(struct job *job); /* from now on they arrive at job->signal_fd */
void signals_handle(struct job *job);

/* spawn.c: starts all PEs. Returns 0, or an exit code after one line; PEs may run already then. */
int spawn_all(struct job *job);

/* spawn.c: raises our limits of open files and of the stack to what the job needs. Returns 0 or an exit code after one line. */
int spawn_check_limits(struct job *job);

#endif
