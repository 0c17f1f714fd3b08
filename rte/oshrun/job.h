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
 * Only the main thread uses it. The PMIx server has threads of its own; they pass events through
 * server_next_event and touch nothing here.
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
	bool in_fence; /* in a PMIx fence, or may be */
	bool gone;     /* has exited and been reaped */
	bool fresh;    /* its exit has not been evaluated yet */
	int status;    /* of waitpid */
};

enum job_phase {
	JOB_RUNNING,
	/*
	 * The time limit has passed; a PE has been asked to report what all PEs wait for, and gets
	 * a moment to do so.
	 */
	JOB_ASKED,
	/* A PE of an ordinary program failed; the others get a moment to end by themselves. */
	JOB_GRACE,
	JOB_ENDING, /* all PEs have been sent SIGTERM */
	JOB_KILLED, /* all PEs have been sent SIGKILL */
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
	char folder_name[48]; /* last part of the session folder's name; visible to other users */
	/* PMIx namespace; a process that knows it belongs to the job, see accept_filter.h. */
	char name[80];
	struct processors processors;
	struct binding binding;

	int count;
	struct pe *pes;
	int alive;
	int absent;			   /* PEs that exited without ever connecting */
	int connected;			   /* in PE_CONNECTED and alive */
	bool program_known, other_program; /* other_program: not of OpenSHMEM, see program_kind.h */
	char **environment;
	char *trace; /* the file that SHMEM_TRACE names, NULL: no PE has named one */
	struct {
		char *bytes; /* NULL: SOFTOFU_SHAPE is not set */
		size_t size;
	} tofu_map; /* rank positions in a Tofu network, for jtofu_initialize */
	/*
	 * IPC namespaces of the nodes of software Tofu, each of so many PEs; NULL: the PEs are in
	 * that of oshrun.
	 */
	int *ipc_of_node, pes_of_node;

	enum job_phase phase;
	double deadline;   /* of this phase, 0: none */
	double time_limit; /* --timeout, 0: none */
	int code;	   /* the worst exit code so far, or the code of a decided end */
	/* By an abort, the time limit or a signal: exit codes of PEs no longer count. */
	bool code_decided;
	int signal;	/* signal that ends oshrun, 0: none */
	bool given_up;	/* the user does not want to wait for killed PEs */
	int worst;	/* PE that exited with `code` */
	int failures;	/* PEs whose exit codes were not 0 */
	bool explained; /* the reason for a nonzero code has been reported */
	/* The PE that lost its connection and has until lost_deadline to die. */
	int lost_pe;
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

/*
 * Ends the job: SIGTERM now, SIGKILL a second later. code is final if decided, otherwise a minimum.
 */
void job_end(struct job *job, int code, bool decided);

/* The same after a PE has ended too early: one of the others reports the routine that it was in. */
void job_end_without(struct job *job, int pe, int code, bool decided);

/* Seconds of the monotonic clock. */
double job_clock(void);

/* Sends a signal to all processes of all living PEs. */
void job_signal(struct job *job, int sig);

/* supervise.c: handles the server's events about PEs. */
void supervise_events(struct job *job);
void supervise_children(struct job *job);
void supervise_grace(struct job *job); /* the grace period has ended */
/* The deadline of a PE that lost its connection has passed. */
void supervise_lost(struct job *job);
/* Reports PEs with a nonzero exit code, unless the reason has been reported. */
void supervise_report_exits(struct job *job);

/* job_signals.c: signals to oshrun. */
bool signals_take(struct job *job); /* from now on they arrive at job->signal_fd */
void signals_handle(struct job *job);

/*
 * spawn.c: starts all PEs. Returns 0, or an exit code after one line; some PEs may run even then.
 */
int spawn_all(struct job *job);

/*
 * spawn.c: raises this process's limits of open files and stack to what the job needs. Returns 0 or
 * an exit code after one line.
 */
int spawn_check_limits(struct job *job);

#endif
