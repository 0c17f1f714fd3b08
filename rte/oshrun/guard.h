/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_GUARD_H
#define OSHRUN_GUARD_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * The guardian: a small child of oshrun that outlives it when oshrun is killed with a signal it cannot catch.
 * It sleeps on a pipe; when the pipe closes it kills what is left of the PEs and removes the session folder.
 *
 * The structure is shared memory. Only oshrun and its newborn PEs write, only the guardian reads, and it reads
 * after oshrun has died: no two look at it at once, so it needs no locks.
 */
struct guard {
	pid_t pid;	       /* of the guardian; oshrun's own use */
	int pipe;	       /* oshrun's end; its closing is the alarm */
	char mark[96];	       /* NAME=value that every process of the job has in its environment */
	char folder[PATH_MAX]; /* the session folder, empty: none */
	int count;
	pid_t groups[]; /* process group of each PE, 0: none */
};

/* Starts the guardian of a job of so many PEs, before any thread exists. NULL: it could not be, errno says why. */
struct guard *guard_start(int count);

/* The job is over and tidied up: the guardian goes home without doing anything. */
void guard_dismiss(struct guard *guard);

/*
 * Kills processes of the job that left their PE's process group: all whose environment holds the mark, and all
 * orphans that became our children. Returns how many.
 */
int guard_sweep(const char *mark);

#endif
