/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUSPLAN_REMOTE_H
#define TORUSPLAN_REMOTE_H

#include <stdbool.h>
#include <sys/types.h>

#include "rte/host/hosts.h"

/*
 * One command on each of several hosts, reached as the launchers of oshrun reach them: by srun within Slurm, else by the program that the
 * launchers' own settings name in place of ssh, else by ssh. On this host it is started directly.
 */
struct remote {
	pid_t *pid;  /* of each start */
	int *output; /* what it prints; -1: it has ended, or it could not start */
	int *input;  /* the commands end when this is closed */
	int starts;  /* as many as hosts, or one srun for all */
	int begun;   /* of the starts */
	bool by_srun;
	const struct hosts *hosts;
	char program[4096], session[40];
};

/* False: problem says why nothing can be started. */
bool remote_prepare(struct remote *remote, const struct hosts *hosts, char *problem, size_t size);

/* Begins the next start. */
void remote_begin(struct remote *remote);

/* To all commands that still run. */
void remote_send_newline(const struct remote *remote);

/* Ends all commands, and waits for them, not for long. */
void remote_end(struct remote *remote);

#endif
