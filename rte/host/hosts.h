/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_HOSTS_H
#define RTE_HOSTS_H

#include <stdbool.h>

#include "rte/text/arguments.h"

/* The hosts that a user names to oshrun or torusplan. */
struct hosts {
	struct arguments names; /* each once, in the order given */
	/*
	 * Sum of the slots given with them; a host without a number has one. 0: no host was given.
	 */
	int slots;
	const char *other; /* the first host that is not this machine, NULL: none */
};

/*
 * Reads "node1,node2:4", or a file with one of these per line. Returns false with the reason in
 * `problem`.
 */
bool hosts_read_list(struct hosts *hosts, const char *list, char *problem, size_t size);
bool hosts_read_file(struct hosts *hosts, const char *path, char *problem, size_t size);
void hosts_forget(struct hosts *hosts);

/* Is this a name of this machine? */
bool hosts_is_here(const char *name);

#endif
