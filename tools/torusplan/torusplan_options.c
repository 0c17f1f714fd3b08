/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rte/option_rows.h"
#include "torusplan.h"

static const struct option_row rows[OPTIONS] = {
	[OPT_SHAPE] = {{"--shape"}, "SHAPE", "sizes of the axes, as in 4x4mx2; m: mesh, d: pair with two cables"},
	[OPT_FILE] = {{"--file"}, "FILE", "a shape file: the machine, and which host is where in it"},
	[OPT_NODES] = {{"--nodes"}, "N", "only the number of nodes is known: a shape is made up (logical)"},
	[OPT_HOSTS] = {{"--hosts"}, "PATTERN", "names of hosts without a file, # for digits (node#)"},
	[OPT_PES] = {{"--pes"}, "N", "PEs on each node (what the file says, else 1)"},
	[OPT_LINKS] = {{"--links"}, NULL, "also list every node with its neighbours"},
	[OPT_TREES] = {{"--trees"}, NULL, "also list the parents of every node in all trees"},
	[OPT_ROOT] = {{"--root"}, "NODE", "the root of the trees: its number or coordinates (0)"},
	[OPT_KIND] = {{"--kind"}, "KIND", "which trees to draw: both, up, twice or packed (the most)"},
	[OPT_SVG] = {{"--svg"}, "FILE", "also write a drawing: of the shape, or with --trees of the trees"},
	[OPT_PAGE] = {{"--page"}, "FILE", "with --trees: also write a page that shows a message travel, step by step"},
	[OPT_DIMS] = {{"--dims"}, "GRID", "the grid of PEs, as in 8x8mx4; m: does not wrap"},
	[OPT_FORMAT] = {{"--format"}, "FORM", "print a rank file: openmpi, prrte, slurm or fujitsu"},
	[OPT_OUTPUT] = {{"--output"}, "FILE", "write there: the rank file (the report is printed), the page"},
	[OPT_TILE] = {{"--tile"}, "TILE", "the part of the grid that the PEs of a node are, as in 2x2"},
	[OPT_TNIS] = {{"--tnis"}, "N", "TNIs of a node (6)"},
	[OPT_RATE] = {{"--rate"}, "GB/s", "of a TNI (6.8)"},
	[OPT_LINK_RATE] = {{"--link-rate"}, "GB/s", "of a link (as a TNI)"},
	[OPT_MEMORY_RATE] = {{"--memory-rate"},
			     "GB/s",
			     "of messages inside the node, if they bypass the TNIs (they do not)"},
	[OPT_VOLUME] = {{"--volume"},
			"LIST",
			"MB of each message along an axis, or in one direction: x=2,y=1 or x+=2,x-=1 (1)"},
	[OPT_ASSIGN] = {{"--assign"}, "HOW", "direction, round-robin or best (best)"},
	[OPT_ADDRESS] = {{"--address"}, "NET", "the network of the hosts' addresses (10.60.0.0/16)"},
	[OPT_HOST] = {{"--host"},
		      "NODE",
		      "the host to print commands for: its number, coordinates or name; all: every one"},
	[OPT_DEVICE] = {{"--device"}, "NAME", "the interface that has the host's own address (lo)"},
	[OPT_NO_CYCLES] = {{"--no-cycles"}, NULL, "routes without channel cycles, some of them longer"},
	[OPT_BATCH] = {{"--batch"}, NULL, "for ip -batch: only addresses and routes, without the word ip"},
	[OPT_HOSTFILE] = {{"--hostfile"}, "FILE", "the hosts, one a line, as for oshrun"},
	[OPT_HOST_LIST] = {{"-H", "--host"}, "A,B", "the hosts, with commas between"},
	[OPT_ROUTES] = {{"--routes"}, NULL, "also print the commands for the routes of all hosts"},
	[OPT_TIMEOUT] = {{"--timeout"}, "SECONDS", "how long to wait for hosts that do not answer (10)"},
	[OPT_CACHED] = {{"--cached"},
			NULL,
			"print only the shape file, as one line, perhaps that of the last hour; jobs start with it"},
	[OPT_TRACE] = {{"TRACE.json"}, NULL, "what SHMEM_TRACE has written"},
	[OPT_HELP] = {{"--help", "-h"}, NULL, "print this"},
	[OPT_VERSION] = {{"--version", "-V"}, NULL, "print the version"},
};

const char *options_name(enum option_id id)
{
	return rows[id].names[0];
}

static void print_help(const struct command *command)
{
	const struct option_table table = {rows, OPTIONS, command->takes, .width = 21};

	printf("usage: torusplan %s [options]\n%s.\n\n", command->name, command->purpose);
	option_print_rows(&table);
	puts("\nSee torusplan(1).");
}

int options_read(const struct command *command, int argc, char **argv, const char *value[OPTIONS], bool *done)
{
	char help[64], problem[OPTION_PROBLEM];
	const struct option_table table = {rows, OPTIONS, command->takes, .help = help};

	snprintf(help, sizeof help, "torusplan %s --help", command->name);
	*done = false;
	for (int at = 1; at < argc && !*done;) {
		struct option_given given;

		if (argv[at][0] != '-' && command->takes >> OPT_TRACE & 1 && !value[OPT_TRACE]) {
			value[OPT_TRACE] = argv[at++];
			continue;
		}
		if (!option_read(&table, argc, argv, &at, &given, problem))
			return say("%s", problem);
		value[given.row] = given.value ? given.value : "";
		if (given.value && !given.value[0])
			return say("%s: its value is empty", given.name);
		if (given.row == OPT_HELP)
			print_help(command);
		if (given.row == OPT_VERSION)
			printf("torusplan (torushmem) %s\n", PACKAGE_VERSION);
		*done = given.row == OPT_HELP || given.row == OPT_VERSION;
	}
	return 0;
}

bool options_number(const char *const value[OPTIONS], enum option_id id, int least, int most, int fallback, int *number)
{
	char *end;
	long n;

	*number = fallback;
	if (!value[id])
		return true;
	n = strtol(value[id], &end, 10);
	if (end == value[id] || *end || n < least || n > most) {
		say("%s %s: not a whole number from %d to %d", rows[id].names[0], value[id], least, most);
		return false;
	}
	*number = (int)n;
	return true;
}

bool options_rate(const char *const value[OPTIONS], enum option_id id, double fallback, double *rate)
{
	char *end;

	*rate = fallback;
	if (!value[id])
		return true;
	*rate = strtod(value[id], &end);
	if (end == value[id] || *end || !isfinite(*rate) || *rate <= 0) {
		say("%s %s: not a number of GB/s above 0", rows[id].names[0], value[id]);
		return false;
	}
	return true;
}
