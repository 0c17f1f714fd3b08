/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUSPLAN_REMOTE_H
#define TORUSPLAN_REMOTE_H

#include <stdbool.h>
#include <sys/types.h>

#include "rte/host/hosts.h"

/*
 * One command on each of several hosts, reached as oshrun's launchers reach them: by srun within
 * Slurm, otherwise by the program that the launchers' own settings name in place of ssh, otherwise
 * by ssh. On this host it is started directly.
 */
struct remote {
	pid_t *pid;  /* of each start */
	int *output; /* its output; -1: it has ended, or did not start */
	int *input;  /* the commands end when this is closed */
	int starts;  /* number of hosts, or one srun for all */
	int begun;   /* of the starts */
	bool by_srun;
	const struct hosts *hosts;
	char program[4096], session[40];
};

/* Returns false if nothing can be started, with the reason in `problem`. */
bool remote_prepare(struct remote *remote, const struct hosts *hosts, char *problem, size_t size);

/* Begins the next start. */
void remote_begin(struct remote *remote);

/* Writes to all commands that still run. */
void remote_send_newline(const struct remote *remote);

/* Ends all commands, and waits for them briefly. */
void remote_end(struct remote *remote);

#endif
