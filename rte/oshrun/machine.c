/* SPDX-License-Identifier: BSD-3-Clause */
#include "machine.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Has it a processor that we may use? NUMA nodes of different memory, such as DRAM and HBM, may have the same; then the first counts. */
static bool is_usable(const struct machine *machine, hwloc_obj_t object)
{
	for (hwloc_obj_t other = object->prev_cousin; other && object->type == HWLOC_OBJ_NUMANODE;
	     other = other->prev_cousin)
		if (hwloc_bitmap_isequal(other->cpuset, object->cpuset))
			return false;
	return hwloc_bitmap_intersects(object->cpuset, machine->allowed);
}

hwloc_obj_t machine_object(const struct machine *machine, hwloc_obj_type_t type, int n)
{
	hwloc_obj_t object = NULL;

	while ((object = hwloc_get_next_obj_by_type(machine->topology, type, object)))
		if (is_usable(machine, object) && n-- == 0)
			return object;
	return NULL;
}

int machine_count(const struct machine *machine, hwloc_obj_type_t type)
{
	hwloc_obj_t object = NULL;
	int count = 0;

	while ((object = hwloc_get_next_obj_by_type(machine->topology, type, object)))
		count += is_usable(machine, object);
	return count;
}

hwloc_obj_t machine_thread(const struct machine *machine, const struct core *core, int n)
{
	hwloc_obj_t thread = NULL;

	while ((thread = hwloc_get_next_obj_inside_cpuset_by_type(machine->topology, core->object->cpuset, HWLOC_OBJ_PU,
								  thread)))
		if (hwloc_bitmap_isset(machine->allowed, thread->os_index) && n-- == 0)
			return thread;
	return NULL;
}

int machine_group(const struct machine *machine, hwloc_const_cpuset_t cpuset)
{
	int group = -1;

	for (int c = 0; c < machine->cores; c++) {
		if (!hwloc_bitmap_intersects(machine->core[c].object->cpuset, cpuset))
			continue;
		if (group >= 0 && machine->core[c].group != group)
			return -1;
		group = machine->core[c].group;
	}
	return group;
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

static bool read_allowed(struct machine *machine)
{
	hwloc_const_cpuset_t usual = hwloc_topology_get_allowed_cpuset(machine->topology);

	machine->elsewhere = !hwloc_topology_is_thissystem(machine->topology);
	machine->allowed = hwloc_bitmap_dup(usual);
	if (!machine->allowed)
		return false;
	if (!machine->elsewhere && !hwloc_get_cpubind(machine->topology, machine->allowed, HWLOC_CPUBIND_PROCESS))
		hwloc_bitmap_and(machine->allowed, machine->allowed, usual);
	machine->hwthreads = machine_count(machine, HWLOC_OBJ_PU);
	return machine->hwthreads > 0;
}

static int count_processors(const struct machine *machine)
{
	cpu_set_t set;

	if (!machine->elsewhere)
		return machine->hwthreads;
	return sched_getaffinity(0, sizeof set, &set) ? (int)sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&set);
}

/* hwloc numbers the kinds of cores from the most frugal to the fastest; -1 where it cannot tell which is faster. */
static int kind_of(const struct machine *machine, hwloc_obj_t object)
{
#if HWLOC_API_VERSION >= 0x00020400
	int kind = hwloc_cpukinds_get_by_cpuset(machine->topology, object->cpuset, 0), efficiency = 0;

	if (kind >= 0)
		hwloc_cpukinds_get_info(machine->topology, (unsigned)kind, NULL, &efficiency, NULL, NULL, 0);
	return efficiency > 0 ? efficiency : 0;
#else
	(void)machine, (void)object;
	return 0;
#endif
}

static bool list_cores(struct machine *machine)
{
	/* Some virtual machines do not say which processors make a core. */
	hwloc_obj_type_t type = machine_count(machine, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
	hwloc_obj_t object = NULL;

	machine->core = calloc((size_t)machine_count(machine, type), sizeof *machine->core);
	while (machine->core && (object = hwloc_get_next_obj_by_type(machine->topology, type, object))) {
		struct core *core = &machine->core[machine->cores];

		if (!is_usable(machine, object))
			continue;
		core->object = object;
		core->kind = kind_of(machine, object);
		while (machine_thread(machine, core, core->threads))
			core->threads++;
		machine->cores++;
	}
	return machine->core;
}

/* Numbers the groups that objects of this type make. False: they make one, or each has one core, or a core is in none. */
static bool group_by(struct machine *machine, hwloc_obj_type_t type)
{
	int groups = machine_count(machine, type), largest = 0;

	for (int c = 0; c < machine->cores; c++)
		machine->core[c].group = -1;
	for (int g = 0; g < groups; g++) {
		hwloc_obj_t object = machine_object(machine, type, g);
		int cores = 0;

		for (int c = 0; c < machine->cores; c++)
			if (machine->core[c].group < 0 &&
			    hwloc_bitmap_intersects(machine->core[c].object->cpuset, object->cpuset)) {
				machine->core[c].group = g;
				cores++;
			}
		largest = cores > largest ? cores : largest;
	}
	for (int c = 0; c < machine->cores; c++)
		if (machine->core[c].group < 0)
			return false;
	machine->groups = groups;
	return groups > 1 && largest > 1;
}

static int by_group_and_kind(const void *left, const void *right)
{
	const struct core *a = left, *b = right;

	if (a->group != b->group)
		return a->group - b->group;
	if (a->kind != b->kind)
		return b->kind - a->kind;
	return a->object->logical_index < b->object->logical_index ? -1 : 1;
}

static void find_groups(struct machine *machine)
{
	bool l3 = hwloc_get_nbobjs_by_type(machine->topology, HWLOC_OBJ_L3CACHE) > 0;

	if (!group_by(machine, HWLOC_OBJ_NUMANODE) && !group_by(machine, HWLOC_OBJ_PACKAGE) &&
	    !group_by(machine, l3 ? HWLOC_OBJ_L3CACHE : HWLOC_OBJ_L2CACHE)) {
		for (int c = 0; c < machine->cores; c++)
			machine->core[c].group = 0;
		machine->groups = 1;
	}
	qsort(machine->core, (size_t)machine->cores, sizeof *machine->core, by_group_and_kind);
}

bool machine_discover(struct machine *machine)
{
	if (!load_topology(machine) || !read_allowed(machine) || !list_cores(machine))
		return false;
	machine->processors = count_processors(machine);
	find_groups(machine);
	return true;
}

void machine_forget(struct machine *machine)
{
	free(machine->core);
	hwloc_bitmap_free(machine->allowed);
	hwloc_topology_destroy(machine->topology);
}
