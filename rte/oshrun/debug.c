/* SPDX-License-Identifier: BSD-3-Clause */
#include "debug.h"

#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "say.h"
#include "words.h"

#define MISTAKE 2

int debug_prepare(struct job *job)
{
	const struct options *options = job->options;
	const struct part *part;
	struct words words = {0};
	char *copy, *rest, *word;
	int code;

	if (options->debug < 0)
		return 0;
	if (options->debug >= job->count) {
		say("--debug %d: the job has PEs 0 to %d", options->debug, job->count - 1);
		return MISTAKE;
	}
	copy = rest = strdup(options->debugger ? options->debugger : "gdb --args");
	while (copy && (word = strsep(&rest, " ")))
		if (word[0])
			words_add(&words, "%s", word);
	free(copy);
	if (words.count == 0) {
		say("--debugger names no program");
		return MISTAKE;
	}
	code = program_find(words.list[0], NULL, &job->debugger);
	part = options_part(options, options->debug);
	words_add(&words, "%s", part->path);
	for (char **argument = part->program + 1; *argument; argument++)
		words_add(&words, "%s", *argument);
	job->debug_words = words.list;
	return code;
}

bool debug_is(const struct job *job, int pe)
{
	return pe == job->options->debug;
}
