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
#include "rte/option_rows.h"
#include "rte/text/text.h"

enum { OPT_ALL, OPT_SETTINGS, OPT_DEBUG, OPT_PARSABLE, OPT_JSON, OPT_VERSION, OPT_HELP };

static const struct option_row option_rows[] = {
	[OPT_ALL] = {{"-a", "--all"}, NULL, "also what each setting does, and every device of every UCX transport"},
	[OPT_SETTINGS] = {{"--settings"}, NULL, "only the settings, with their values and where these come from"},
	[OPT_DEBUG] = {{"--debug"}, NULL, "also the settings for tests and comparisons"},
	[OPT_PARSABLE] = {{"--parsable", "--parseable"}, NULL, "one fact a line, section.key:value, for scripts"},
	[OPT_JSON] = {{"--json"}, NULL, "the same as JSON: an object of sections"},
	[OPT_VERSION] = {{"-V", "--version"}, NULL, "the version"},
	[OPT_HELP] = {{"-h", "--help"}, NULL, "this text"},
};
static const struct option_table option_table = {option_rows, sizeof option_rows / sizeof option_rows[0], .width = 24,
						 .help = "oshinfo --help"};

static void print_help(void)
{
	puts("usage: oshinfo [--all] [--parsable | --json] [--settings] [--debug]\n"
	     "\n"
	     "Reports what this torushmem is, what it finds on this machine, and what it does not find and why.\n");
	option_print_rows(&option_table);
	puts("\n"
	     "See oshinfo(1); the settings are described in oshmem(7).");
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

	for (int at = 1; at < argc;) {
		struct option_given given;
		char problem[OPTION_PROBLEM];

		if (!option_read(&option_table, argc, argv, &at, &given, problem)) {
			fprintf(stderr, "oshinfo: %s\n", problem);
			return 2;
		}
		switch (given.row) {
		case OPT_ALL: report.all = true; break;
		case OPT_SETTINGS: only_settings = true; break;
		case OPT_DEBUG: report.debug = true; break;
		case OPT_PARSABLE: report.form = PARSABLE; break;
		case OPT_JSON: report.form = JSON; break;
		case OPT_VERSION: printf("oshinfo (torushmem) %s\n", PACKAGE_VERSION); return finish();
		default: print_help(); return finish();
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
		report_gpu(&report);
		report_torus(&report);
		report_launchers(&report);
	}
	report_settings(&report);
	report_end(&report);
	print_end(&report);
	return finish();
}
