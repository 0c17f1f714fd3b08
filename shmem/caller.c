/* SPDX-License-Identifier: BSD-3-Clause */
#include "caller.h"

#include <ctype.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rte/text/routine_names.h"

enum { CALLER_FRAMES = 24 };
static const char caller_library[] = "libtorushmem_fortran.", caller_prefix[] = "torushmemf_";
static const char caller_module[] = "module_"; /* compilers put the module's name in front */

/* The part before the type; routines with 64-bit sizes end in _long there. */
static void caller_generic_name(const char *word, char *name, size_t size)
{
	const char *end = strstr(word, "__");
	size_t length = end ? (size_t)(end - word) : strlen(word);

	if (length > 5 && !strncmp(word + length - 5, "_long", 5))
		length -= 5;
	snprintf(name, size, "shmem_%.*s", (int)length, word);
}

/*
 * torushmemf_ctx_put__real8 is shmem_put, torushmemf_team_destroy is shmem_team_destroy, the
 * module's module_allocate_long__real8 is shmem_allocate, and shmem_put8_ is SHMEM_PUT8 of
 * OpenSHMEM 1.3.
 */
static void caller_fortran_name(const char *symbol, char *name, size_t size)
{
	const char *word = strstr(symbol, caller_module);

	if (word) {
		caller_generic_name(word + sizeof caller_module - 1, name, size);
		return;
	}
	if (!strncmp(symbol, caller_prefix, sizeof caller_prefix - 1)) {
		word = symbol + sizeof caller_prefix - 1;
		if (strstr(word, "__") && !strncmp(word, "ctx_", 4))
			word += 4;
		caller_generic_name(word, name, size);
		return;
	}
	snprintf(name, size, "%s", symbol);
	for (size_t i = 0; name[i]; i++)
		name[i] = (char)toupper((unsigned char)name[i]);
	for (size_t length = strlen(name); length > 0 && name[length - 1] == '_'; length--)
		name[length - 1] = '\0';
}

/* The outermost call in the Fortran library; NULL: none. */
static const char *caller_fortran_symbol(void)
{
	void *frames[CALLER_FRAMES];
	int n = backtrace(frames, CALLER_FRAMES);
	const char *found = NULL;
	Dl_info info;

	for (int i = 0; i < n; i++)
		if (dladdr(frames[i], &info) && info.dli_fname && info.dli_sname &&
		    strstr(info.dli_fname, caller_library))
			found = info.dli_sname;
	return found;
}

const char *caller_name(const char *routine, char *buffer, size_t size)
{
	const char *symbol = caller_fortran_symbol();

	if (symbol) {
		caller_fortran_name(symbol, buffer, size);
		return buffer;
	}
	return strncmp(routine, "pshmem_", 7) ? routine : routine + 1;
}

/* Called by a handler of signals. */
static bool is_routine(const char *symbol)
{
	static const char *const prefixes[] = {"shmem_", "shmemx_", "start_pes"};

	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (!strncmp(symbol, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* Messages of calls before shmem_init name the routine, too. */
__attribute__((constructor)) static void caller_hand_names_down(void)
{
	rte_routine_names.to_print = caller_name;
	rte_routine_names.is_routine = is_routine;
}
