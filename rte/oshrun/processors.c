/* SPDX-License-Identifier: BSD-3-Clause */
#include "processors.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Does the object have a usable processor? NUMA nodes of different memory, such as DRAM and HBM,
 * may share processors; then the first counts.
 */
static bool is_usable(const struct processors *processors, hwloc_obj_t object)
{
	for (hwloc_obj_t other = object->prev_cousin; other && object->type == HWLOC_OBJ_NUMANODE;
	     other = other->prev_cousin)
		if (hwloc_bitmap_isequal(other->cpuset, object->cpuset))
			return false;
	return hwloc_bitmap_intersects(object->cpuset, processors->allowed);
}

hwloc_obj_t processors_object(const struct processors *processors, hwloc_obj_type_t type, int n)
{
	hwloc_obj_t object = NULL;

	while ((object = hwloc_get_next_obj_by_type(processors->topology, type, object)))
		if (is_usable(processors, object) && n-- == 0)
			return object;
	return NULL;
}

int processors_count(const struct processors *processors, hwloc_obj_type_t type)
{
	hwloc_obj_t object = NULL;
	int count = 0;

	while ((object = hwloc_get_next_obj_by_type(processors->topology, type, object)))
		count += is_usable(processors, object);
	return count;
}

hwloc_obj_t processors_thread(const struct processors *processors, const struct core *core, int n)
{
	hwloc_obj_t thread = NULL;

	while ((thread = hwloc_get_next_obj_inside_cpuset_by_type(processors->topology, core->object->cpuset,
								  HWLOC_OBJ_PU, thread)))
		if (hwloc_bitmap_isset(processors->allowed, thread->os_index) && n-- == 0)
			return thread;
	return NULL;
}

int processors_group(const struct processors *processors, hwloc_const_cpuset_t cpuset)
{
	int group = -1;

	for (int c = 0; c < processors->cores; c++) {
		if (!hwloc_bitmap_intersects(processors->core[c].object->cpuset, cpuset))
			continue;
		if (group >= 0 && processors->core[c].group != group)
			return -1;
		group = processors->core[c].group;
	}
	return group;
}

/*
 * Reads only the processors, which takes 2 ms instead of 15: no plug-ins (the one for X11 displays
 * alone tries ten of them) and no probing on one processor after another.
 */
static bool load_topology(struct processors *processors)
{
	const char *plugins = getenv("HWLOC_PLUGINS_PATH");
	char *saved = plugins ? strdup(plugins) : NULL;
	bool loaded;

	setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
	loaded = !hwloc_topology_init(&processors->topology);
	if (loaded) {
		hwloc_topology_set_components(processors->topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
		loaded = !hwloc_topology_load(processors->topology);
	}
	if (saved)
		setenv("HWLOC_PLUGINS_PATH", saved, 1);
	else
		unsetenv("HWLOC_PLUGINS_PATH");
	free(saved);
	return loaded;
}

static bool read_allowed(struct processors *processors)
{
	hwloc_const_cpuset_t usual = hwloc_topology_get_allowed_cpuset(processors->topology);

	processors->elsewhere = !hwloc_topology_is_thissystem(processors->topology);
	processors->allowed = hwloc_bitmap_dup(usual);
	if (!processors->allowed)
		return false;
	if (!processors->elsewhere &&
	    !hwloc_get_cpubind(processors->topology, processors->allowed, HWLOC_CPUBIND_PROCESS))
		hwloc_bitmap_and(processors->allowed, processors->allowed, usual);
	processors->hwthreads = processors_count(processors, HWLOC_OBJ_PU);
	return processors->hwthreads > 0;
}

static int count_processors(const struct processors *processors)
{
	cpu_set_t set;

	if (!processors->elsewhere)
		return processors->hwthreads;
	return sched_getaffinity(0, sizeof set, &set) ? (int)sysconf(_SC_NPROCESSORS_ONLN) : CPU_COUNT(&set);
}

/*
 * hwloc numbers the kinds of cores from the most efficient to the fastest; -1 if it does not know.
 */
static int kind_of(const struct processors *processors, hwloc_obj_t object)
{
#if HWLOC_API_VERSION >= 0x00020400
	int kind = hwloc_cpukinds_get_by_cpuset(processors->topology, object->cpuset, 0), efficiency = 0;

	if (kind >= 0)
		hwloc_cpukinds_get_info(processors->topology, (unsigned)kind, NULL, &efficiency, NULL, NULL, 0);
	return efficiency > 0 ? efficiency : 0;
#else
	(void)processors, (void)object;
	return 0;
#endif
}

static bool list_cores(struct processors *processors)
{
	/* Some virtual machines do not report cores. */
	hwloc_obj_type_t type = processors_count(processors, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
	hwloc_obj_t object = NULL;

	processors->core = calloc((size_t)processors_count(processors, type), sizeof *processors->core);
	while (processors->core && (object = hwloc_get_next_obj_by_type(processors->topology, type, object))) {
		struct core *core = &processors->core[processors->cores];

		if (!is_usable(processors, object))
			continue;
		core->object = object;
		core->kind = kind_of(processors, object);
		while (processors_thread(processors, core, core->threads))
			core->threads++;
		processors->cores++;
	}
	return processors->core;
}

/*
 * Numbers the groups that objects of this type form. Returns false if there is one group, each has
 * one core, or some core is in none.
 */
static bool group_by(struct processors *processors, hwloc_obj_type_t type)
{
	int groups = processors_count(processors, type), largest = 0;

	for (int c = 0; c < processors->cores; c++)
		processors->core[c].group = -1;
	for (int g = 0; g < groups; g++) {
		hwloc_obj_t object = processors_object(processors, type, g);
		int cores = 0;

		for (int c = 0; c < processors->cores; c++)
			if (processors->core[c].group < 0 &&
			    hwloc_bitmap_intersects(processors->core[c].object->cpuset, object->cpuset)) {
				processors->core[c].group = g;
				cores++;
			}
		largest = cores > largest ? cores : largest;
	}
	for (int c = 0; c < processors->cores; c++)
		if (processors->core[c].group < 0)
			return false;
	processors->groups = groups;
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

static void find_groups(struct processors *processors)
{
	bool l3 = hwloc_get_nbobjs_by_type(processors->topology, HWLOC_OBJ_L3CACHE) > 0;

	if (!group_by(processors, HWLOC_OBJ_NUMANODE) && !group_by(processors, HWLOC_OBJ_PACKAGE) &&
	    !group_by(processors, l3 ? HWLOC_OBJ_L3CACHE : HWLOC_OBJ_L2CACHE)) {
		for (int c = 0; c < processors->cores; c++)
			processors->core[c].group = 0;
		processors->groups = 1;
	}
	qsort(processors->core, (size_t)processors->cores, sizeof *processors->core, by_group_and_kind);
}

bool processors_discover(struct processors *processors)
{
	if (!load_topology(processors) || !read_allowed(processors) || !list_cores(processors))
		return false;
	processors->total = count_processors(processors);
	find_groups(processors);
	return true;
}

void processors_forget(struct processors *processors)
{
	free(processors->core);
	hwloc_bitmap_free(processors->allowed);
	hwloc_topology_destroy(processors->topology);
}
