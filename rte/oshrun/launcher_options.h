/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_LAUNCHER_OPTIONS_H
#define OSHRUN_LAUNCHER_OPTIONS_H

#include "rte/text/arguments.h"
#include "launchers.h"

/* The options of each launcher that correspond to oshrun's. */
struct launcher_kind {
	const char *name;
	const char *package; /* the Debian package */
	/*
	 * The variable that names the daemons' network; NULL: daemons do not connect to the
	 * launcher.
	 */
	const char *interface;
	void (*add_options)(struct arguments *command, const struct launcher *launcher, const struct options *options,
			    const struct hosts *hosts);
};

/* In the order of preference outside of Slurm. */
enum { LAUNCHER_PRTERUN, LAUNCHER_MPIRUN, LAUNCHER_SRUN, LAUNCHER_KINDS };
extern const struct launcher_kind launcher_kinds[LAUNCHER_KINDS];

/* Fills in the command, and sets the environment variables that belong to it. */
void launcher_command(struct arguments *command, const struct launcher *launcher, const struct options *options,
		      const struct hosts *hosts);

#endif
