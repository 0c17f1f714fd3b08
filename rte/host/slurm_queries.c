/* SPDX-License-Identifier: BSD-3-Clause */
#include "slurm_queries.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "rte/text/text.h"

#define SECONDS 2

/* If the last of them exists, the other files are only on the controller's host. */
static bool find_conf(char path[PATH_MAX])
{
	const char *const paths[] = {getenv("SLURM_CONF"), "/etc/slurm/slurm.conf", "/run/slurm/conf/slurm.conf"};

	for (size_t i = 0; getenv("SLURM_JOB_ID") && i < sizeof paths / sizeof paths[0]; i++)
		if (paths[i] && snprintf(path, PATH_MAX, "%s", paths[i]) < PATH_MAX && access(path, R_OK) == 0)
			return true;
	return false;
}

char *slurm_file(const char *name)
{
	char path[PATH_MAX], problem[256], *slash;

	if (!find_conf(path))
		return NULL;
	slash = strrchr(path, '/');
	if (strcmp(name, "slurm.conf") != 0 && slash)
		snprintf(slash + 1, (size_t)(path + PATH_MAX - slash - 1), "%s", name);
	return access(path, R_OK) == 0 ? text_of_file(path, problem, sizeof problem) : NULL;
}

char *slurm_nodes(void)
{
	static const char *const words[] = {"sinfo", "--all", "--noheader", "--Node", "--format=%N", NULL};

	return getenv("SLURM_JOB_ID") ? command_output(words, SECONDS) : NULL;
}
