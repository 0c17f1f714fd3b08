/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_TORUS_CACHE_H
#define RTE_TORUS_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "hosts.h"

/*
 * Keeps the result of torusplan discover for later jobs: a file in the user's cache for each list
 * of hosts. It is valid for an hour, and only while the host is unchanged: neither the host nor its
 * container has restarted, and no port has lost or gained a carrier (ports_state). The file has
 * three lines: the state of the host that wrote it; the shape file with ; in place of newlines,
 * empty if there is no torus; HOST=STATE for each host that answered.
 */

/* The shape of exactly these hosts; the caller frees it. NULL: unknown. */
char *torus_cache_read(const struct hosts *hosts);

/* The newest shape that `fits` accepts; the caller frees it. NULL: none. */
char *torus_cache_search(bool (*fits)(const char *line, const void *argument), const void *argument);

/* state: by host, 0 if unknown. Errors are ignored, because a missing cache costs only time. */
void torus_cache_write(const struct hosts *hosts, const uint64_t *state, const char *line);

#endif
