/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_LAUNCHERS_H
#define OSHRUN_LAUNCHERS_H

#include "rte/host/hosts.h"
#include "options.h"

/*
 * A launcher for other hosts: prterun, mpirun or srun. oshrun executes it if a job needs more than
 * this machine.
 */
struct launcher {
	const char *name; /* NULL: none, oshrun starts the job itself */
	const struct launcher_kind *kind;
	char *path;
	const char *hostfile; /* of the allocation, NULL: none, or the launcher finds it */
};

/* Decides which launcher starts the job. Returns -1 to go on, or the exit code after one line. */
int launcher_choose(struct launcher *launcher, const struct options *options, const struct hosts *hosts);

/*
 * Executes the launcher in place of oshrun, or prints its command with --dry-run. Returns only with
 * an exit code.
 */
int launcher_run(struct launcher *launcher, const struct options *options, const struct hosts *hosts);

#endif
