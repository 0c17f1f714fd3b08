/* SPDX-License-Identifier: BSD-3-Clause */
#include "leak_check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program_kind.h"

#define SUPPRESSIONS "lsan.supp"

/*
 * In a build tree the file is in oshrun's folder. Installed, it is in the data folder, whose path
 * is relative to oshrun, so that the tree can be moved.
 */
static bool find_suppressions(char path[PATH_MAX])
{
	char own[PATH_MAX], *slash;
	ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);

	own[length > 0 ? length : 0] = '\0';
	slash = strrchr(own, '/');
	if (slash) {
		*slash = '\0';
		snprintf(path, PATH_MAX, "%.3900s/" SUPPRESSIONS, own);
		if (!access(path, R_OK))
			return true;
		snprintf(path, PATH_MAX, "%.3900s/../share/torushmem/" SUPPRESSIONS, own);
		if (!access(path, R_OK))
			return true;
	}
	snprintf(path, PATH_MAX, "%s/" SUPPRESSIONS, TORUSHMEM_DATA);
	return !access(path, R_OK);
}

/* print_suppressions is another option. */
static bool names_suppressions(const char *options)
{
	static const char name[] = "suppressions=";

	for (const char *at = options; (at = strstr(at, name)); at++)
		if (at == options || at[-1] != '_')
			return true;
	return false;
}

static bool checks_leaks(const struct options *options)
{
	for (int i = 0; i < options->part_count; i++)
		if (options->parts[i].path && program_checks_leaks(options->parts[i].path))
			return true;
	return false;
}

bool leak_check_prepare(const struct options *options)
{
	const char *own = getenv("LSAN_OPTIONS");
	char path[PATH_MAX], *value;
	bool done;

	if ((own && names_suppressions(own)) || !checks_leaks(options))
		return true;
	/*
	 * The run-time ends a program if it cannot read its suppressions file, and it does not
	 * support quotes inside quotes.
	 */
	if (!find_suppressions(path) || strchr(path, '\''))
		return true;
	/* The user's options come last, so they win. */
	if (asprintf(&value, "suppressions='%s':print_suppressions=0%s%s", path, own && *own ? ":" : "",
		     own ? own : "") < 0)
		return false;
	done = !setenv("LSAN_OPTIONS", value, 1);
	free(value);
	return done;
}
