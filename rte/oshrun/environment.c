/* SPDX-License-Identifier: BSD-3-Clause */
#include "environment.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "leak_check.h"
#include "say.h"

extern char **environ;

/*
 * PMIX_MCA_* are the user's settings of libpmix; every other PMIX_* describes one process of one
 * job, and so do the variables of a job without a launcher.
 */
static bool is_of_another_job(const char *entry)
{
	static const char *const own[] = {"SHMEM_RANK=", "SHMEM_SIZE=", "SHMEM_ROOT=", "SHMEM_SECRET="};

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		if (!strncmp(entry, own[i], strlen(own[i])))
			return true;
	return !strncmp(entry, "PMIX_", 5) && strncmp(entry, "PMIX_MCA_", 9);
}

static void forget_other_jobs(void)
{
	char **entry = environ;

	while (entry && *entry) {
		char name[128];
		size_t length = strcspn(*entry, "=");

		if (!is_of_another_job(*entry) || length >= sizeof name) {
			entry++;
			continue;
		}
		memcpy(name, *entry, length);
		name[length] = '\0';
		unsetenv(name); /* shifts the following ones */
	}
}

static bool apply_exports(const struct options *options)
{
	for (int i = 0; i < options->export_count; i++) {
		const char *equals = strchr(options->exports[i], '=');
		char *name;
		bool done;

		if (!equals) {
			if (!getenv(options->exports[i]) && !options->quiet)
				say("-x %s: not set here, so not for the PEs either", options->exports[i]);
			continue;
		}
		name = strndup(options->exports[i], (size_t)(equals - options->exports[i]));
		done = name && !setenv(name, equals + 1, 1);
		free(name);
		if (!done)
			return false;
	}
	return true;
}

char **environment_for_pes(const struct options *options)
{
	size_t count = 0;
	char **copy;

	forget_other_jobs();
	if (!apply_exports(options) || !leak_check_prepare(options)) {
		say("out of memory");
		return NULL;
	}
	while (environ && environ[count])
		count++;
	copy = calloc(count + 1, sizeof *copy);
	for (size_t i = 0; copy && i < count; i++)
		copy[i] = strdup(environ[i]);
	if (!copy)
		say("out of memory");
	return copy;
}

bool environment_add(char ***environment, const char *name, const char *value)
{
	size_t count = 0, length = strlen(name);
	char **longer, *entry;

	for (; (*environment)[count]; count++)
		if (!strncmp((*environment)[count], name, length) && (*environment)[count][length] == '=')
			return true;
	longer = realloc(*environment, (count + 2) * sizeof *longer);
	if (!longer)
		return false;
	*environment = longer;
	if (asprintf(&entry, "%s=%s", name, value) < 0)
		return false;
	longer[count] = entry;
	longer[count + 1] = NULL;
	return true;
}

void environment_free(char **environment)
{
	for (char **entry = environment; entry && *entry; entry++)
		free(*entry);
	free(environment);
}
