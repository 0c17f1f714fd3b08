/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_BIND_H
#define OSHRUN_BIND_H

#include <hwloc.h>
#include <stdbool.h>
#include <stddef.h>

#include "options.h"
#include "processors.h"

/*
 * Where the PEs of a job run. Cores: one PE each, the fastest cores first. PEs are divided among
 * the memory groups in proportion to their cores, in blocks, so that neighbours in rank share a
 * group. If the number of PEs is a multiple of the cores, each core gets the same number. Hardware
 * threads: the first of each core, and others only if there are more PEs than cores. Sockets and
 * NUMA nodes: in blocks; if there are more PEs than these, several share one.
 */
struct binding {
	enum bind_to to;
	int pes;
	hwloc_obj_t *object; /* of each PE; NULL: not bound */
};

/*
 * Places the PEs as the user asks. They stay unbound (BIND_NONE) if there are more than cores and
 * no multiple of them, or more than hardware threads if those were asked for; *oversubscribed is
 * true in these cases. Returns false if there is no memory.
 */
bool bind_make(struct binding *binding, const struct processors *processors, enum bind_to wish, int pes,
	       bool *oversubscribed);
void bind_free(struct binding *binding);

/* The processors of a PE; NULL: not bound. Free it with hwloc_bitmap_free. */
hwloc_cpuset_t bind_cpuset(const struct binding *binding, const struct processors *processors, int pe);

/* The memory group of a PE; -1: it is not bound to one. */
int bind_group(const struct binding *binding, const struct processors *processors, int pe);

/*
 * Writes "core 3 (cpus 6-7)", with ", memory group 1 of 4" if there are several, or "not bound
 * (cpus 0-7)". Returns buffer.
 */
const char *bind_describe(const struct binding *binding, const struct processors *processors, int pe, char *buffer,
			  size_t size);

#endif
