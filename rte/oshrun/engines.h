/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_ENGINES_H
#define OSHRUN_ENGINES_H

#include "hosts.h"
#include "options.h"

/* Launchers that reach other hosts. oshrun becomes one of them when a job needs more than this machine. */
struct engine {
	const char *name; /* NULL: none, oshrun starts the job itself */
	const struct dialect *dialect;
	char *path;
	const char *hostfile; /* of the allocation, NULL: none or the engine finds it itself */
};

/* Decides who starts the job. Returns -1 to go on, or the exit code after one line. */
int engine_choose(struct engine *engine, const struct options *options, const struct hosts *hosts);

/* Becomes the engine, or with --dry-run prints the command. Returns the exit code if it comes back. */
int engine_run(struct engine *engine, const struct options *options, const struct hosts *hosts);

#endif
