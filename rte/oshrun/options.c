/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "option_table.h"
#include "say.h"

/* Reads one option with its values, and moves *at behind them. */
static int parse_one(struct options *options, int argc, char **argv, int *at)
{
	const char *word = argv[*at];
	struct option_given given;
	char problem[OPTION_PROBLEM];

	if (word[1] == 'n' && word[2] >= '0' && word[2] <= '9') {
		++*at;
		return option_read_pes(options, "-n", word + 2);
	}
	if (!option_read(&option_table, argc, argv, at, &given, problem)) {
		say("%s", problem);
		return OPTION_MISTAKE;
	}
	if (given.second)
		return option_apply_pair(options, &given);
	if (given.value)
		return option_apply_value(options, given.row, given.name, given.value);
	return option_apply_flag(options, given.row);
}

static int check_together(const struct options *o)
{
	if (o->join_trace && o->program[0]) {
		say("--join-trace %s runs no program; leave %s out", o->join_trace, o->program[0]);
		return OPTION_MISTAKE;
	}
	if (o->join_trace)
		return OPTION_GO_ON;
	if (!o->program[0] || !o->program[0][0]) {
		say("no program given; usage: oshrun [options] program [arguments]");
		return OPTION_MISTAKE;
	}
	if (o->output && (o->label || o->timestamp)) {
		say("--output gives each PE a file of its own; it cannot be combined with --label or --timestamp");
		return OPTION_MISTAKE;
	}
	if (o->debugger && o->debug < 0) {
		say("--debugger is for the PE that --debug names");
		return OPTION_MISTAKE;
	}
	if (o->hosts && o->hostfile) {
		say("--host and --hostfile both name the hosts; give one of them");
		return OPTION_MISTAKE;
	}
	return OPTION_GO_ON;
}

/* --- Several programs in one job, as mpirun has them: oshrun -n 1 ./a : -n 3 ./b --- */

/* Parses the options of a later program. Options of the job come before the first program. */
static int parse_part(struct part *part, int argc, char **argv, int *at)
{
	struct options own = {0};
	int code = OPTION_GO_ON;

	while (code == OPTION_GO_ON && *at < argc && argv[*at][0] == '-' && argv[*at][1]) {
		const char *word = argv[*at];
		int row = option_find(&option_table, word);

		if (row >= 0 && row != OPT_PES && row != OPT_WDIR) {
			say("%s: behind : only -n and --wdir are possible; give it before the first program, for all",
			    word);
			return OPTION_MISTAKE;
		}
		code = parse_one(&own, argc, argv, at);
	}
	part->program = argv + *at;
	part->pes = own.pes;
	part->wdir = own.wdir;
	return code;
}

static int check_parts(struct options *o)
{
	int sum = 0;

	for (int i = 0; i < o->part_count; i++) {
		const struct part *part = &o->parts[i];

		if (!part->program[0] || !part->program[0][0]) {
			say("no program given behind :; usage: oshrun -n 1 program : -n 3 other");
			return OPTION_MISTAKE;
		}
		if (part->pes == 0) {
			say("%s: of several programs each needs its number of PEs, as in -n 2 %s", part->program[0],
			    part->program[0]);
			return OPTION_MISTAKE;
		}
		sum += part->pes;
	}
	if (sum > MOST_PES) {
		say("%d PEs in all: more than oshrun can manage (%d)", sum, MOST_PES);
		return OPTION_MISTAKE;
	}
	o->pes = sum;
	return OPTION_GO_ON;
}

/* A colon that is the last word is an argument like any other. */
static bool is_separator(char *const *word)
{
	return !strcmp(word[0], ":") && word[1];
}

static int split_programs(struct options *o, int argc, char **argv, int at)
{
	int code = OPTION_GO_ON;

	while (code == OPTION_GO_ON && at < argc) {
		if (!is_separator(argv + at)) {
			at++;
			continue;
		}
		argv[at++] = NULL;
		code = parse_part(&o->parts[o->part_count++], argc, argv, &at);
	}
	return code == OPTION_GO_ON && o->part_count > 1 ? check_parts(o) : code;
}

const struct part *options_part(const struct options *options, int pe)
{
	int i = 0;

	while (i < options->part_count - 1 && pe >= options->parts[i].pes)
		pe -= options->parts[i++].pes;
	return &options->parts[i];
}

int options_parse(struct options *options, int argc, char **argv)
{
	bool ended = false;
	int at = 1, code;

	memset(options, 0, sizeof *options);
	options->debug = -1;
	options->exports = calloc((size_t)argc, sizeof *options->exports);
	options->parts = calloc((size_t)argc, sizeof *options->parts);
	if (!options->exports || !options->parts) {
		say("out of memory");
		return 1;
	}
	while (at < argc && argv[at][0] == '-' && argv[at][1]) {
		if (!strcmp(argv[at], "--")) {
			ended = true;
			at++;
			break;
		}
		code = parse_one(options, argc, argv, &at);
		if (code != OPTION_GO_ON)
			return code;
	}
	options->program = argv + at;
	options->parts[0] = (struct part){.program = options->program, .pes = options->pes, .wdir = options->wdir};
	options->part_count = 1;
	code = check_together(options);
	return code == OPTION_GO_ON && !ended ? split_programs(options, argc, argv, at) : code;
}
