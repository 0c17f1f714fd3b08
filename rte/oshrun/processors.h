/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_PROCESSORS_H
#define OSHRUN_PROCESSORS_H

#include <hwloc.h>
#include <stdbool.h>

/* A usable core; if the machine does not report cores, a processor. */
struct core {
	hwloc_obj_t object;
	int group;   /* its memory group, from 0 */
	int kind;    /* larger is faster; 0 if all are alike */
	int threads; /* usable hardware threads */
};

/*
 * The processors that this process may use: those of the machine in its affinity mask and cpuset.
 *
 * A memory group is a set of cores that share memory or the outermost cache: a NUMA node, else a
 * package, else the cores of an L3 cache, or of an L2 where there is no L3. Cores are in the order
 * of groups, and in a group the fastest come first.
 */
struct processors {
	hwloc_topology_t topology;
	hwloc_cpuset_t allowed;
	bool elsewhere; /* HWLOC_XMLFILE or HWLOC_SYNTHETIC describe another machine */
	struct core *core;
	int cores;
	int groups;
	int hwthreads;
	int total; /* of this machine */
};

/* Returns false if hwloc cannot read this machine. */
bool processors_discover(struct processors *processors);
void processors_forget(struct processors *processors);

/*
 * The n-th object of a type with a usable processor; NULL: there are fewer. Objects with the same
 * processors count once.
 */
hwloc_obj_t processors_object(const struct processors *processors, hwloc_obj_type_t type, int n);
int processors_count(const struct processors *processors, hwloc_obj_type_t type);

/* The n-th usable hardware thread of a core. */
hwloc_obj_t processors_thread(const struct processors *processors, const struct core *core, int n);

/* The memory group that contains all of these processors; -1: they are in several. */
int processors_group(const struct processors *processors, hwloc_const_cpuset_t cpuset);

#endif
