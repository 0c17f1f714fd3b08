/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_HOSTS_H
#define OSHRUN_HOSTS_H

#include <stdbool.h>

#include "arguments.h"
#include "options.h"

/* The hosts that --host or --hostfile names. */
struct hosts {
	struct arguments names; /* each once, in the order given */
	int slots;		/* sum of the places given with them; a host without any has one. 0: no host given */
	const char *other;	/* the first that is not this machine, NULL: none */
};

/* Reads what the options name. Returns -1 to go on, or the exit code after one line. */
int hosts_read(struct hosts *hosts, const struct options *options);
void hosts_forget(struct hosts *hosts);

/* Is this a name of the machine we run on? */
bool hosts_is_here(const char *name);

#endif
