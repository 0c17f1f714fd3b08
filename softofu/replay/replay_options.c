/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softofu/replay/replay.h"

void replay_fail(const char *format, ...)
{
	va_list arguments;

	fputs("softofu-replay: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	exit(1);
}

void *replay_memory(void *got)
{
	if (!got)
		replay_fail("no memory");
	return got;
}

void replay_usage(void)
{
	puts("usage: softofu-replay [--messages] [--tnis CHOICE] FOLDER\n"
	     "       softofu-replay --published\n\n"
	     "What a run recorded with SOFTOFU_RECORD=FOLDER would have taken on the machine.\n"
	     "SOFTOFU_NET=packets:... sets the network.\n\n"
	     "  --messages     also say when each message has arrived\n"
	     "  --tnis CHOICE  other TNIs than the recorded ones: direction, round-robin or balanced\n"
	     "  --published    compare the model with published figures");
}

static enum tni_choice read_choice(const char *text)
{
	static const char *const choices[] = {"recorded", "direction", "round-robin", "balanced"};

	for (int i = TNIS_AS_RECORDED; i <= TNIS_BALANCED; i++)
		if (text && strcmp(text, choices[i]) == 0)
			return (enum tni_choice)i;
	replay_fail("--tnis %s: recorded, direction, round-robin or balanced is wanted", text ? text : "");
}

bool replay_read_options(int argc, char **argv, struct replay_options *options)
{
	int at = 1;

	for (; at < argc && argv[at][0] == '-'; at++) {
		if (strcmp(argv[at], "--messages") == 0)
			options->show_messages = true;
		else if (strcmp(argv[at], "--tnis") == 0 && ++at < argc)
			options->choice = read_choice(argv[at]);
		else
			return false;
	}
	options->folder = argv[at];
	return at == argc - 1;
}
