/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_HOSTS_H
#define RTE_HOSTS_H

#include <stdbool.h>

#include "rte/text/arguments.h"

/* The hosts that a user names for oshrun or torusplan. */
struct hosts {
	struct arguments names; /* each once, in the order given */
	int slots;		/* sum of the places given with them; a host without any has one. 0: no host given */
	const char *other;	/* the first that is not this machine, NULL: none */
};

/* "node1,node2:4", or a file with one of these a line. False: problem says why it is neither. */
bool hosts_read_list(struct hosts *hosts, const char *list, char *problem, size_t size);
bool hosts_read_file(struct hosts *hosts, const char *path, char *problem, size_t size);
void hosts_forget(struct hosts *hosts);

/* Is this a name of the machine we run on? */
bool hosts_is_here(const char *name);

#endif
