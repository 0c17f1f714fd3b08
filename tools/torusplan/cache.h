/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TORUSPLAN_CACHE_H
#define TORUSPLAN_CACHE_H

#include "rte/hosts.h"

/*
 * What discover found of a list of hosts, for the starts of their next jobs: a line in the user's cache. It counts for an hour, until this
 * host or its container starts anew, or until the state of a port of this host changes.
 */

/* To be freed; NULL: nothing is known. */
char *cache_read(const struct hosts *hosts);

/* A cache that cannot be written costs time only, so nothing is said. */
void cache_write(const struct hosts *hosts, const char *line);

#endif
