/* SPDX-License-Identifier: BSD-3-Clause */
#include "bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const hwloc_obj_type_t object_types[] = {
	[BIND_CORE] = HWLOC_OBJ_CORE,
	[BIND_HWTHREAD] = HWLOC_OBJ_PU,
	[BIND_SOCKET] = HWLOC_OBJ_PACKAGE,
	[BIND_NUMA] = HWLOC_OBJ_NUMANODE,
};

/* The n-th object of this type that has a processor we may use; n = -1 counts them into *count instead. */
static hwloc_obj_t usable_object(const struct machine *machine, hwloc_obj_type_t type, int n, int *count)
{
	hwloc_obj_t object = NULL;
	int seen = 0;

	while ((object = hwloc_get_next_obj_by_type(machine->topology, type, object))) {
		if (!hwloc_bitmap_intersects(object->cpuset, machine->allowed))
			continue;
		if (seen == n)
			return object;
		seen++;
	}
	if (count)
		*count = seen;
	return NULL;
}

static int count_usable(const struct machine *machine, hwloc_obj_type_t type)
{
	int count = 0;

	usable_object(machine, type, -1, &count);
	return count;
}

/*
 * Only the processors matter, and reading only those takes 2 ms instead of 15: no plug-ins (the one for X11
 * displays alone tries ten of them) and no probing by running on every processor in turn.
 */
static bool load_topology(struct machine *machine)
{
	const char *plugins = getenv("HWLOC_PLUGINS_PATH");
	char *kept = plugins ? strdup(plugins) : NULL;
	bool loaded;

	setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
	loaded = !hwloc_topology_init(&machine->topology);
	if (loaded) {
		hwloc_topology_set_components(machine->topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
		loaded = !hwloc_topology_load(machine->topology);
	}
	if (kept)
		setenv("HWLOC_PLUGINS_PATH", kept, 1);
	else
		unsetenv("HWLOC_PLUGINS_PATH");
	free(kept);
	return loaded;
}

bool machine_discover(struct machine *machine)
{
	if (!load_topology(machine))
		return false;
	machine->allowed = hwloc_bitmap_alloc();
	if (hwloc_get_cpubind(machine->topology, machine->allowed, HWLOC_CPUBIND_PROCESS))
		hwloc_bitmap_copy(machine->allowed, hwloc_topology_get_allowed_cpuset(machine->topology));
	hwloc_bitmap_and(machine->allowed, machine->allowed, hwloc_topology_get_allowed_cpuset(machine->topology));
	machine->hwthreads = count_usable(machine, HWLOC_OBJ_PU);
	machine->cores = count_usable(machine, HWLOC_OBJ_CORE);
	/* Some virtual machines do not say which processors make a core. */
	if (machine->cores == 0)
		machine->cores = machine->hwthreads;
	return machine->hwthreads > 0;
}

void machine_forget(struct machine *machine)
{
	hwloc_bitmap_free(machine->allowed);
	hwloc_topology_destroy(machine->topology);
}

enum bind_to bind_choose(const struct machine *machine, enum bind_to wish, int pes, bool *crowded)
{
	*crowded = false;
	if (wish == BIND_NONE || wish == BIND_SOCKET || wish == BIND_NUMA)
		return wish;
	/* One PE gains nothing from standing still, and two jobs of one PE would stand on the same core. */
	if (wish == BIND_DEFAULT && pes == 1)
		return BIND_NONE;
	*crowded = pes > (wish == BIND_HWTHREAD ? machine->hwthreads : machine->cores);
	if (*crowded)
		return BIND_NONE;
	return wish == BIND_HWTHREAD ? BIND_HWTHREAD : BIND_CORE;
}

static hwloc_obj_t bind_object(const struct machine *machine, enum bind_to to, int pe, int pes)
{
	hwloc_obj_type_t type;
	int count;

	if (to == BIND_NONE || to == BIND_DEFAULT)
		return NULL;
	type = object_types[to];
	count = count_usable(machine, type);
	if (count == 0 && to == BIND_CORE)
		count = count_usable(machine, type = HWLOC_OBJ_PU);
	if (count == 0)
		return NULL;
	/* One each where they fit; else in blocks, so that neighbours stay together. */
	if (pes <= count)
		return usable_object(machine, type, pe, NULL);
	return usable_object(machine, type, (int)((long)pe * count / pes), NULL);
}

hwloc_cpuset_t bind_cpuset(const struct machine *machine, enum bind_to to, int pe, int pes)
{
	hwloc_obj_t object = bind_object(machine, to, pe, pes);
	hwloc_cpuset_t cpuset;

	if (!object)
		return NULL;
	cpuset = hwloc_bitmap_dup(object->cpuset);
	hwloc_bitmap_and(cpuset, cpuset, machine->allowed);
	return cpuset;
}

const char *bind_describe(const struct machine *machine, enum bind_to to, int pe, int pes, char *buffer, size_t size)
{
	hwloc_obj_t object = bind_object(machine, to, pe, pes);
	hwloc_cpuset_t cpuset = bind_cpuset(machine, to, pe, pes);
	char cpus[128];

	hwloc_bitmap_list_snprintf(cpus, sizeof cpus, cpuset ? cpuset : machine->allowed);
	if (object)
		snprintf(buffer, size, "%s %u (cpus %s)", bind_to_name(to), object->logical_index, cpus);
	else
		snprintf(buffer, size, "not bound (cpus %s)", cpus);
	hwloc_bitmap_free(cpuset);
	return buffer;
}
