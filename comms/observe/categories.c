/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which family a routine belongs to. Its name says so, and every place that can complain of a routine has the name; so
 * no routine has to be told. Names are constants of the library, so what was found of one is kept by its address.
 */
#include <stdatomic.h>
#include <string.h>

#include "counters.h"

struct rule {
	const char *has, *has_too; /* parts of the name; NULL: one is enough. "^x" begins with, "x$" ends with */
	enum watch_family family;
};

/* The first that fits counts. */
static const struct rule rules[] = {
	{"^info_", NULL, WATCH_OTHER},
	{"rdma_", NULL, WATCH_RDMA},
	{"exchange", NULL, WATCH_EXCHANGE},
	{"plan_", NULL, WATCH_PLAN},
	{"^shmemx_", "_init$", WATCH_PLAN},
	{"lock$", NULL, WATCH_LOCK},
	{"^team_sync", NULL, WATCH_SYNC},
	{"team", NULL, WATCH_TEAM},
	{"create$", NULL, WATCH_CONTEXT},
	{"destroy$", NULL, WATCH_CONTEXT},
	{"session", NULL, WATCH_CONTEXT},
	{"wait", NULL, WATCH_WAIT},
	{"test", NULL, WATCH_TEST},
	{"barrier", NULL, WATCH_BARRIER},
	{"sync", NULL, WATCH_SYNC},
	{"broadcast", NULL, WATCH_BROADCAST},
	{"fcollect", NULL, WATCH_FCOLLECT},
	{"collect", NULL, WATCH_COLLECT},
	{"alltoall", NULL, WATCH_ALLTOALL},
	{"_reduce$", NULL, WATCH_REDUCE},
	{"_to_all$", NULL, WATCH_REDUCE},
	{"scan$", NULL, WATCH_SCAN},
	{"alloc", NULL, WATCH_MEMORY},
	{"align", NULL, WATCH_MEMORY},
	{"free$", NULL, WATCH_MEMORY},
	{"fence$", NULL, WATCH_FENCE},
	{"quiet$", NULL, WATCH_QUIET},
	{"put", "signal", WATCH_PUT_SIGNAL},
	{"^signal", NULL, WATCH_SIGNAL},
	{"atomic", "_nbi$", WATCH_ATOMIC_NBI},
	{"atomic", "fetch", WATCH_ATOMIC_FETCH},
	{"swap$", NULL, WATCH_ATOMIC_FETCH},
	{"_fetch$", NULL, WATCH_ATOMIC_FETCH},
	{"_finc$", NULL, WATCH_ATOMIC_FETCH},
	{"_fadd$", NULL, WATCH_ATOMIC_FETCH},
	{"atomic", NULL, WATCH_ATOMIC},
	{"_set$", NULL, WATCH_ATOMIC},
	{"_inc$", NULL, WATCH_ATOMIC},
	{"_add$", NULL, WATCH_ATOMIC},
	{"iput", NULL, WATCH_IPUT},
	{"ibput", NULL, WATCH_IPUT},
	{"iget", NULL, WATCH_IGET},
	{"ibget", NULL, WATCH_IGET},
	{"put", "_nbi$", WATCH_PUT_NBI},
	{"get", "_nbi$", WATCH_GET_NBI},
	{"put", NULL, WATCH_PUT},
	{"get", NULL, WATCH_GET},
	{"_p$", NULL, WATCH_P},
	{"_g$", NULL, WATCH_G},
};

static bool has(const char *name, const char *part)
{
	size_t length = strlen(name), wanted = strlen(part);

	if (part[0] == '^')
		return !strncmp(name, part + 1, wanted - 1);
	if (part[wanted - 1] == '$')
		return length >= wanted - 1 && !strncmp(name + length - (wanted - 1), part, wanted - 1);
	return strstr(name, part) != NULL;
}

static enum watch_family find(const char *routine)
{
	const char *name = strstr(routine, "shmem_") ? strstr(routine, "shmem_") + strlen("shmem_") : routine;

	if (!strncmp(name, "ctx_", 4) && strcmp(name, "ctx_create") && strcmp(name, "ctx_destroy"))
		name += 4;
	for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
		if (has(name, rules[i].has) && (!rules[i].has_too || has(name, rules[i].has_too)))
			return rules[i].family;
	return WATCH_OTHER;
}

#define PLACES 8192 /* more than there are routines; where two names want one place, the later has it */

/* One word for both, so that no reader sees a family with another's name: addresses need 48 bits. */
static _Atomic uint64_t known[PLACES];

enum watch_family watch_family_of(const char *routine)
{
	uint64_t name = (uint64_t)(uintptr_t)routine;
	_Atomic uint64_t *place = &known[(name * 0x9e3779b97f4a7c15) >> 51];
	uint64_t entry = atomic_load_explicit(place, memory_order_relaxed);

	if (entry >> 8 != name) {
		entry = name << 8 | find(routine);
		atomic_store_explicit(place, entry, memory_order_relaxed);
	}
	return (enum watch_family)(entry & 255);
}

_Static_assert(PLACES == 1 << (64 - 51), "the hash is a place");
_Static_assert(WATCH_FAMILY_COUNT < 256, "a family fits beside a name");
