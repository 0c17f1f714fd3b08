/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * oshinfo reports what this torushmem is, what it finds on this machine, and what it does not find
 * and why. Users paste its output into reports. It starts no job and changes nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "rte/text/text.h"

static const char *const option_names[] = {
	"--all", "--json", "--parsable", "--parseable", "--settings", "--version", "--help",
};

static void print_help(void)
{
	puts("usage: oshinfo [--all] [--parsable | --json] [--settings]\n"
	     "\n"
	     "Reports what this torushmem is, what it finds on this machine, and what it does not find and why.\n"
	     "\n"
	     "  -a, --all        also what each setting does, and every device of every UCX transport\n"
	     "      --settings   only the settings, with their values and where these come from\n"
	     "      --parsable   one fact a line, section.key:value, for scripts\n"
	     "      --json       the same as JSON: an object of sections\n"
	     "  -V, --version    the version\n"
	     "  -h, --help       this text\n"
	     "\n"
	     "See oshinfo(1); the settings are described in oshmem(7).");
}

static int refuse(const char *word)
{
	const char *nearest = text_nearest(word, option_names, sizeof option_names / sizeof option_names[0]);

	if (word[0] != '-')
		fprintf(stderr, "oshinfo: unexpected argument '%s'; oshinfo takes only options, see oshinfo --help\n",
			word);
	else if (nearest)
		fprintf(stderr, "oshinfo: unknown option %s; did you mean %s?\n", word, nearest);
	else
		fprintf(stderr, "oshinfo: unknown option %s; see oshinfo --help\n", word);
	return 2;
}

static int finish(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	fprintf(stderr, "oshinfo: cannot write: %s\n", strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	struct report report = {0};
	bool only_settings = false;

	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (!strcmp(word, "-a") || !strcmp(word, "--all")) {
			report.all = true;
		} else if (!strcmp(word, "--parsable") || !strcmp(word, "--parseable")) {
			report.form = PARSABLE;
		} else if (!strcmp(word, "--json")) {
			report.form = JSON;
		} else if (!strcmp(word, "--settings")) {
			only_settings = true;
		} else if (!strcmp(word, "-V") || !strcmp(word, "--version")) {
			printf("oshinfo (torushmem) %s\n", PACKAGE_VERSION);
			return finish();
		} else if (!strcmp(word, "-h") || !strcmp(word, "--help")) {
			print_help();
			return finish();
		} else {
			return refuse(word);
		}
	}
	print_begin(&report);
	if (!only_settings) {
		report_build(&report);
		report_machine(&report);
		report_limits(&report);
		report_paths(&report);
#define NETWORK(NAME, name) report_##name(&report);
#include "comms/networks.def"
#undef NETWORK
		report_torus(&report);
		report_launchers(&report);
	}
	report_settings(&report);
	report_end(&report);
	print_end(&report);
	return finish();
}
