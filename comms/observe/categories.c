/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The category of a routine follows from its name, which every error message about it also has; so
 * no routine passes a category. Names are constants of the library, so the result is cached by the
 * name's address.
 */
#include <stdatomic.h>
#include <string.h>

#include "counters.h"

struct rule {
	/* Parts of the name; NULL: one is enough. "^x" begins with, "x$" ends with. */
	const char *has, *has_too;
	enum counters_category category;
};

/* The first row that fits counts. */
static const struct rule rules[] = {
	{"^info_", NULL, CATEGORY_OTHER},
	{"_query$", NULL, CATEGORY_OTHER},
	{"_unique_id$", NULL, CATEGORY_OTHER},
	{"rdma_", NULL, CATEGORY_RDMA},
	{"exchange", NULL, CATEGORY_EXCHANGE},
	{"plan_", NULL, CATEGORY_PLAN},
	{"^shmemx_", "_init$", CATEGORY_PLAN},
	{"lock$", NULL, CATEGORY_LOCK},
	{"^team_sync", NULL, CATEGORY_SYNC},
	{"team", NULL, CATEGORY_TEAM},
	{"grid_create$", NULL, CATEGORY_TEAM},
	{"heap_", NULL, CATEGORY_MEMORY},
	{"create$", NULL, CATEGORY_CONTEXT},
	{"destroy$", NULL, CATEGORY_CONTEXT},
	{"session", NULL, CATEGORY_CONTEXT},
	{"wait", NULL, CATEGORY_WAIT},
	{"test", NULL, CATEGORY_TEST},
	{"barrier", NULL, CATEGORY_BARRIER},
	{"sync", NULL, CATEGORY_SYNC},
	{"broadcast", NULL, CATEGORY_BROADCAST},
	{"fcollect", NULL, CATEGORY_FCOLLECT},
	{"collect", NULL, CATEGORY_COLLECT},
	{"alltoall", NULL, CATEGORY_ALLTOALL},
	{"_reduce$", NULL, CATEGORY_REDUCE},
	{"_reduce_nb$", NULL, CATEGORY_REDUCE},
	{"_reduce_scatter", NULL, CATEGORY_REDUCE},
	{"_to_all$", NULL, CATEGORY_REDUCE},
	{"allgatherv", NULL, CATEGORY_COLLECT},
	{"_gather", NULL, CATEGORY_COLLECT},
	{"_scatter", NULL, CATEGORY_BROADCAST},
	{"scan", NULL, CATEGORY_SCAN},
	{"alloc", NULL, CATEGORY_MEMORY},
	{"align", NULL, CATEGORY_MEMORY},
	{"free$", NULL, CATEGORY_MEMORY},
	{"fence$", NULL, CATEGORY_FENCE},
	{"quiet$", NULL, CATEGORY_QUIET},
	{"put", "signal", CATEGORY_PUT_SIGNAL},
	{"^signal", NULL, CATEGORY_SIGNAL},
	{"atomic", "_nbi$", CATEGORY_ATOMIC_NBI},
	{"atomic", "fetch", CATEGORY_ATOMIC_FETCH},
	{"swap$", NULL, CATEGORY_ATOMIC_FETCH},
	{"_fetch$", NULL, CATEGORY_ATOMIC_FETCH},
	{"_finc$", NULL, CATEGORY_ATOMIC_FETCH},
	{"_fadd$", NULL, CATEGORY_ATOMIC_FETCH},
	{"atomic", NULL, CATEGORY_ATOMIC},
	{"_set$", NULL, CATEGORY_ATOMIC},
	{"_inc$", NULL, CATEGORY_ATOMIC},
	{"_add$", NULL, CATEGORY_ATOMIC},
	{"iput", NULL, CATEGORY_IPUT},
	{"ibput", NULL, CATEGORY_IPUT},
	{"iget", NULL, CATEGORY_IGET},
	{"ibget", NULL, CATEGORY_IGET},
	{"put", "_nbi$", CATEGORY_PUT_NBI},
	{"get", "_nbi$", CATEGORY_GET_NBI},
	{"put", NULL, CATEGORY_PUT},
	{"get", NULL, CATEGORY_GET},
	{"_p$", NULL, CATEGORY_P},
	{"_g$", NULL, CATEGORY_G},
};

static bool name_has(const char *name, const char *part)
{
	size_t length = strlen(name), wanted = strlen(part);

	if (part[0] == '^')
		return !strncmp(name, part + 1, wanted - 1);
	if (part[wanted - 1] == '$')
		return length >= wanted - 1 && !strncmp(name + length - (wanted - 1), part, wanted - 1);
	return strstr(name, part) != NULL;
}

static enum counters_category find_category(const char *routine)
{
	const char *name = strstr(routine, "shmem_") ? strstr(routine, "shmem_") + strlen("shmem_") : routine;

	if (!strncmp(name, "ctx_", 4) && strcmp(name, "ctx_create") && strcmp(name, "ctx_destroy"))
		name += 4;
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (name_has(name, rules[i].has) && (!rules[i].has_too || name_has(name, rules[i].has_too)))
			return rules[i].category;
	return CATEGORY_OTHER;
}

/* More than there are routines; if two names share a slot, the later one keeps it. */
#define PLACES 8192

/*
 * Address and category share one word, so that no reader sees a category with another name:
 * addresses need 48 bits.
 */
static _Atomic uint64_t categories[PLACES];

enum counters_category counters_category_of(const char *routine)
{
	uint64_t name = (uint64_t)(uintptr_t)routine;
	_Atomic uint64_t *place = &categories[(name * 0x9e3779b97f4a7c15) >> 51];
	uint64_t entry = atomic_load_explicit(place, memory_order_relaxed);

	if (entry >> 8 != name) {
		entry = name << 8 | find_category(routine);
		atomic_store_explicit(place, entry, memory_order_relaxed);
	}
	return (enum counters_category)(entry & 255);
}

_Static_assert(PLACES == 1 << (64 - 51), "the hash is a place");
_Static_assert(CATEGORY_COUNT < 256, "a category fits beside a name");
