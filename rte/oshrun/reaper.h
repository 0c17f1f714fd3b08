/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_REAPER_H
#define OSHRUN_REAPER_H

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * The reaper: a small child of oshrun that cleans up after a signal that oshrun cannot catch has
 * killed it. The reaper sleeps on a pipe. When the pipe closes, it kills the remaining processes of
 * the PEs and removes the session folder.
 *
 * The structure is shared memory and needs no locks: only oshrun and the PEs that it starts write,
 * and the reaper reads only after oshrun has died.
 */
struct reaper {
	pid_t pid;	       /* of the reaper; only oshrun uses it */
	int pipe;	       /* oshrun's end; the reaper acts when it closes */
	char mark[96];	       /* NAME=value in the environment of every process of the job */
	char folder[PATH_MAX]; /* the session folder, empty: none */
	int count;
	pid_t groups[]; /* process group of each PE, 0: none */
};

/*
 * Starts the reaper of a job with count PEs. Call it before any thread exists. Returns NULL with
 * errno on failure.
 */
struct reaper *reaper_start(int count);

/* Ends the reaper without any action. Call it after the job has ended and its files are removed. */
void reaper_dismiss(struct reaper *reaper);

/*
 * Kills processes of the job that have left their PE's process group: all processes whose
 * environment contains the mark, and all orphans that have become children of the caller. Returns
 * how many it killed.
 */
int reaper_sweep(const char *mark);

#endif
