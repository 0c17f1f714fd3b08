/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_BIND_H
#define OSHRUN_BIND_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>

#include "options.h"

/* The processors that we may use: the machine, less what the affinity mask and cpusets given to us leave out. */
struct machine {
	hwloc_topology_t topology;
	hwloc_cpuset_t allowed;
	int cores;
	int hwthreads;
};

/* False: hwloc could not read this machine. */
bool machine_discover(struct machine *machine);
void machine_forget(struct machine *machine);

/*
 * What to bind so many PEs to, given the user's wish: BIND_NONE when they do not fit one to a core (or to a
 * hardware thread, if that was asked for). *crowded tells that this is why.
 */
enum bind_to bind_choose(const struct machine *machine, enum bind_to wish, int pes, bool *crowded);

/* The processors of PE number pe; NULL: not bound. Free it with hwloc_bitmap_free. */
hwloc_cpuset_t bind_cpuset(const struct machine *machine, enum bind_to to, int pe, int pes);

/* "core 3 (cpus 6-7)" or "not bound (cpus 0-7)". Returns buffer. */
const char *bind_describe(const struct machine *machine, enum bind_to to, int pe, int pes, char *buffer, size_t size);

#endif
