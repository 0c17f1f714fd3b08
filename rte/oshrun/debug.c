/* SPDX-License-Identifier: BSD-3-Clause */
#include "debug.h"

#include <stdlib.h>
#include <string.h>

#include "rte/text/arguments.h"
#include "program.h"
#include "say.h"

#define MISTAKE 2

int debug_prepare(struct job *job)
{
	const struct options *options = job->options;
	const struct part *part;
	struct arguments arguments = {0};
	char *copy, *rest, *argument;
	int code;

	if (options->debug < 0)
		return 0;
	if (options->debug >= job->count) {
		say("--debug %d: the job has PEs 0 to %d", options->debug, job->count - 1);
		return MISTAKE;
	}
	copy = rest = strdup(options->debugger ? options->debugger : "gdb --args");
	while (copy && (argument = strsep(&rest, " ")))
		if (argument[0])
			arguments_add(&arguments, "%s", argument);
	free(copy);
	if (arguments.count == 0) {
		say("--debugger names no program");
		return MISTAKE;
	}
	code = program_find(arguments.list[0], NULL, &job->debugger);
	part = options_part(options, options->debug);
	arguments_add(&arguments, "%s", part->path);
	for (char **next = part->program + 1; *next; next++)
		arguments_add(&arguments, "%s", *next);
	job->debug_arguments = arguments.list;
	return code;
}

bool debug_is(const struct job *job, int pe)
{
	return pe == job->options->debug;
}
