/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_TORUS_CACHE_H
#define RTE_TORUS_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "hosts.h"

/*
 * What torusplan discover found, for the next jobs: a file in the user's cache for each list of hosts. It counts for an hour, and only on a
 * host that is as it was then: it has not started anew, nor has its container, and no port of it has lost or got a carrier (ports_state).
 * The file has three lines: the state of the host that wrote it; the shape file with ; in place of newlines, empty if there is no torus;
 * HOST=STATE for each host that answered.
 */

/* The shape of just these hosts, to be freed; NULL: not known. */
char *torus_cache_read(const struct hosts *hosts);

/* The newest shape that fits says yes to, to be freed; NULL: there is none. */
char *torus_cache_search(bool (*fits)(const char *line, const void *argument), const void *argument);

/* state: by host, 0 where it is not known. A cache that cannot be written costs time only, so nothing is printed. */
void torus_cache_write(const struct hosts *hosts, const uint64_t *state, const char *line);

#endif
