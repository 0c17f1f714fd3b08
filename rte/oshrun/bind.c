/* SPDX-License-Identifier: BSD-3-Clause */
#include "bind.h"

#include <stdio.h>
#include <stdlib.h>

/* The middle of part i of n equal parts. No two parts have the same while n <= total. */
static int middle_of_part(int i, int n, int total)
{
	return (int)((2L * i + 1) * total / (2L * n));
}

/* The slowest kind of core needed for this many PEs. */
static int slowest_needed(const struct processors *processors, int pes)
{
	int kind = 0, cores = 0, below;

	for (int c = 0; c < processors->cores; c++)
		kind = processors->core[c].kind > kind ? processors->core[c].kind : kind;
	for (;; kind = below) {
		below = 0;
		for (int c = 0; c < processors->cores; c++) {
			cores += processors->core[c].kind == kind;
			if (processors->core[c].kind < kind && processors->core[c].kind > below)
				below = processors->core[c].kind;
		}
		if (cores >= pes || kind == 0)
			return kind;
	}
}

/*
 * Parts of a node at least as large as groups begin at a group; smaller parts have their middle in
 * one.
 */
static int group_for(const struct processors *processors, int pe, int pes, const int *candidate, int candidates)
{
	int place = pes < processors->groups ? (int)((long)pe * candidates / pes) : middle_of_part(pe, pes, candidates);

	return processors->core[candidate[place]].group;
}

/*
 * The cores for this many PEs, in PE order: each group gets its share, and in it the first cores.
 * There are as many cores as PEs.
 */
static bool choose_cores(const struct processors *processors, int pes, int *chosen)
{
	int *candidate = malloc((size_t)processors->cores * sizeof *candidate);
	int *share = calloc((size_t)processors->groups, sizeof *share);
	int kind = slowest_needed(processors, pes), candidates = 0, n = 0;
	bool good = candidate && share;

	for (int c = 0; good && c < processors->cores; c++)
		if (processors->core[c].kind >= kind)
			candidate[candidates++] = c;
	for (int i = 0; good && i < pes; i++)
		share[group_for(processors, i, pes, candidate, candidates)]++;
	for (int i = 0; good && i < candidates; i++)
		if (share[processors->core[candidate[i]].group]-- > 0)
			chosen[n++] = candidate[i];
	free(candidate);
	free(share);
	return good;
}

/*
 * The index of a PE among the chosen cores, each with this many PEs: the PEs of a group are
 * consecutive and alternate between its cores, so that neighbours in rank are on different cores.
 */
static int place_of(const struct processors *processors, const int *chosen, int count, int each, int pe)
{
	int first = 0, cores = 0;

	for (int at = 0; at < count; at++) {
		if (processors->core[chosen[at]].group != processors->core[chosen[first]].group) {
			if (pe < at * each)
				break;
			first = at;
			cores = 0;
		}
		cores++;
	}
	return first + (pe - first * each) % cores;
}

static bool bind_to_cores(struct binding *binding, const struct processors *processors)
{
	int each = binding->pes > processors->cores ? binding->pes / processors->cores : 1;
	int count = binding->pes / each;
	int *chosen = malloc((size_t)count * sizeof *chosen);
	bool good = chosen && choose_cores(processors, count, chosen);

	for (int pe = 0; good && pe < binding->pes; pe++) {
		const struct core *core = &processors->core[chosen[place_of(processors, chosen, count, each, pe)]];

		binding->object[pe] = binding->to == BIND_CORE ? core->object : processors_thread(processors, core, 0);
	}
	free(chosen);
	return good;
}

/*
 * The number of hardware threads with at most this many per core; and the number of cores with
 * more.
 */
static int count_threads(const struct processors *processors, int most, int *with_more)
{
	int threads = 0;

	*with_more = 0;
	for (int c = 0; c < processors->cores; c++) {
		threads += processors->core[c].threads < most ? processors->core[c].threads : most;
		*with_more += processors->core[c].threads > most;
	}
	return threads;
}

/*
 * For more PEs than cores: each core takes as many PEs as it can, up to a limit, and some cores
 * with room take one more.
 */
static void bind_to_threads(struct binding *binding, const struct processors *processors)
{
	int each = 1, with_more, threads, more, next = 0, seen = 0, pe = 0;

	while ((threads = count_threads(processors, each + 1, &with_more)) < binding->pes)
		each++;
	threads = count_threads(processors, each, &with_more);
	more = binding->pes - threads;
	for (int c = 0; c < processors->cores; c++) {
		const struct core *core = &processors->core[c];
		int here = core->threads < each ? core->threads : each;

		if (core->threads > each && next < more && seen++ == middle_of_part(next, more, with_more)) {
			next++;
			here++;
		}
		for (int t = 0; t < here; t++)
			binding->object[pe++] = processors_thread(processors, core, t);
	}
}

static void bind_to_objects(struct binding *binding, const struct processors *processors)
{
	hwloc_obj_type_t type = binding->to == BIND_SOCKET ? HWLOC_OBJ_PACKAGE : HWLOC_OBJ_NUMANODE;
	int count = processors_count(processors, type);

	for (int pe = 0; count > 0 && pe < binding->pes; pe++)
		binding->object[pe] = processors_object(processors, type, (int)((long)pe * count / binding->pes));
}

/*
 * More PEs than cores: without binding, the kernel may leave three of four PEs on one of two cores,
 * because PEs that yield are never idle.
 */
static bool fit_evenly(const struct processors *processors, int pes)
{
	return pes % processors->cores == 0;
}

static enum bind_to choose(const struct processors *processors, enum bind_to wish, int pes, bool *oversubscribed)
{
	*oversubscribed = false;
	if (wish == BIND_NONE || wish == BIND_SOCKET || wish == BIND_NUMA)
		return wish;
	/*
	 * A single PE gains nothing from binding, and two jobs of one PE would be bound to the same
	 * core.
	 */
	if (wish == BIND_DEFAULT && pes == 1)
		return BIND_NONE;
	if (wish == BIND_HWTHREAD)
		*oversubscribed = pes > processors->hwthreads;
	else
		*oversubscribed = pes > processors->cores && !fit_evenly(processors, pes);
	if (*oversubscribed)
		return BIND_NONE;
	return wish == BIND_HWTHREAD ? BIND_HWTHREAD : BIND_CORE;
}

bool bind_make(struct binding *binding, const struct processors *processors, enum bind_to wish, int pes,
	       bool *oversubscribed)
{
	*binding = (struct binding){.to = choose(processors, wish, pes, oversubscribed), .pes = pes};
	binding->object = calloc((size_t)pes, sizeof(hwloc_obj_t));
	if (!binding->object)
		return false;
	if (binding->to == BIND_SOCKET || binding->to == BIND_NUMA)
		bind_to_objects(binding, processors);
	else if (binding->to == BIND_HWTHREAD && pes > processors->cores)
		bind_to_threads(binding, processors);
	else if (binding->to != BIND_NONE)
		return bind_to_cores(binding, processors);
	return true;
}

void bind_free(struct binding *binding)
{
	free(binding->object);
	binding->object = NULL;
}

hwloc_cpuset_t bind_cpuset(const struct binding *binding, const struct processors *processors, int pe)
{
	hwloc_cpuset_t cpuset;

	if (!binding->object[pe])
		return NULL;
	cpuset = hwloc_bitmap_dup(binding->object[pe]->cpuset);
	hwloc_bitmap_and(cpuset, cpuset, processors->allowed);
	return cpuset;
}

int bind_group(const struct binding *binding, const struct processors *processors, int pe)
{
	return binding->object[pe] ? processors_group(processors, binding->object[pe]->cpuset) : -1;
}

const char *bind_describe(const struct binding *binding, const struct processors *processors, int pe, char *buffer,
			  size_t size)
{
	hwloc_cpuset_t cpuset = bind_cpuset(binding, processors, pe);
	int group = bind_group(binding, processors, pe);
	char cpus[128], where[48] = "";

	hwloc_bitmap_list_snprintf(cpus, sizeof cpus, cpuset ? cpuset : processors->allowed);
	if (processors->groups > 1 && group >= 0)
		snprintf(where, sizeof where, ", memory group %d of %d", group, processors->groups);
	if (cpuset)
		snprintf(buffer, size, "%s %u (cpus %s)%s", bind_to_name(binding->to),
			 binding->object[pe]->logical_index, cpus, where);
	else
		snprintf(buffer, size, "not bound (cpus %s)", cpus);
	hwloc_bitmap_free(cpuset);
	return buffer;
}
