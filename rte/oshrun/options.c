/* SPDX-License-Identifier: BSD-3-Clause */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rte/text.h"
#include "say.h"

#define MISTAKE 2
#define GO_ON (-1)
#define MOST_PES 1000000
#define MOST_NAMES 6

enum option_id {
	OPT_PES,
	OPT_EXPORT,
	OPT_WDIR,
	OPT_LABEL,
	OPT_TIMESTAMP,
	OPT_OUTPUT,
	OPT_TIMEOUT,
	OPT_BIND,
	OPT_DEBUG,
	OPT_DEBUGGER,
	OPT_REPORT,
	OPT_HOST,
	OPT_HOSTFILE,
	OPT_LAUNCHER,
	OPT_DRY_RUN,
	OPT_QUIET,
	OPT_VERBOSE,
	OPT_ALWAYS,
	OPT_ENV,
	OPT_MCA,
	OPT_PER_NODE,
	OPT_ORDER,
	OPT_RANKFILE,
	OPT_JOIN_TRACE,
	OPT_STDIN,
	OPT_HELP,
	OPT_VERSION,
};

/* The one list of options: parsing, --help and the nearest match of an unknown one come from it. */
static const struct option_row {
	enum option_id id;
	const char *names[MOST_NAMES]; /* long ones are also accepted with one dash */
	const char *value;	       /* what the value is, NULL: takes none */
	const char *help;	       /* NULL: not listed; other launchers have it */
} option_rows[] = {
	{OPT_PES, {"-n", "-np", "--np"}, "N", "number of PEs (default: one per core we may use)"},
	{OPT_EXPORT, {"-x"}, "VAR[=VALUE]", "set VAR for the PEs; with another launcher, pass it to every host (repeatable)"},
	{OPT_WDIR, {"--wdir", "--chdir", "-wd"}, "DIR", "run the PEs in DIR"},
	{OPT_LABEL, {"-l", "--label", "--tag-output", "--prepend-rank"}, NULL, "begin each line of output with its PE, as in [3]"},
	{OPT_TIMESTAMP, {"--timestamp"}, NULL, "begin each line of output with the time"},
	{OPT_OUTPUT, {"--output", "--output-dir", "--output-filename"}, "DIR", "write each PE's output to a file of its own in DIR"},
	{OPT_TIMEOUT, {"--timeout"}, "SECONDS", "end the job after so long, with exit code 124"},
	{OPT_BIND, {"--bind-to"}, "WHAT", "none, core, hwthread, socket or numa (default: core where the PEs fit)"},
	{OPT_DEBUG, {"--debug"}, "PE", "run this PE under a debugger, which gets what is typed"},
	{OPT_DEBUGGER, {"--debugger"}, "COMMAND", "the debugger, or a tool such as valgrind (gdb --args)"},
	{OPT_REPORT, {"--report-bindings", "--display-map", "--display-devel-map"}, NULL, "say where each PE may run"},
	{OPT_HOST, {"-H", "--host", "--hosts"}, "A[:N],B[:N]", "hosts to run on; others than this one need another launcher"},
	{OPT_HOSTFILE, {"-f", "--hostfile", "--machinefile"}, "FILE", "the same, one host per line"},
	{OPT_LAUNCHER, {"--launcher"}, "NAME", "hand the job to prterun, mpirun or srun (none: never)"},
	{OPT_DRY_RUN, {"--dry-run"}, NULL, "print what would be done, and do nothing"},
	{OPT_QUIET, {"-q", "--quiet"}, NULL, "only say what went wrong"},
	{OPT_VERBOSE, {"-v", "--verbose"}, NULL, "say what is being done"},
	{OPT_ALWAYS, {"--oversubscribe", "--allow-run-as-root"}, NULL, "accepted for old scripts; always so"},
	{OPT_ENV, {"-env", "-genv"}, "VAR VALUE", NULL},
	{OPT_MCA, {"--mca", "--gmca"}, "NAME VALUE", NULL},
	{OPT_PER_NODE, {"-N", "-ppn", "--npernode", "--perhost", "--ntasks-per-node"}, "N", NULL},
	{OPT_ORDER, {"--map-by", "--rank-by"}, "WHAT", NULL},
	{OPT_RANKFILE, {"--rankfile", "-rf"}, "FILE", "place PEs on hosts as this file says, which torusplan place writes"},
	{OPT_JOIN_TRACE, {"--join-trace"}, "FILE", "make one trace of the parts FILE.PE* that PEs of another launcher left, and end"},
	{OPT_STDIN, {"--stdin"}, "PE", NULL},
	{OPT_HELP, {"-h", "--help"}, NULL, "print this"},
	{OPT_VERSION, {"-V", "--version"}, NULL, "print the version"},
};
#define ROWS (sizeof option_rows / sizeof option_rows[0])

static const char *const bind_names[] = {"default", "none", "core", "hwthread", "socket", "numa"};
#define BINDS (sizeof bind_names / sizeof bind_names[0])

const char *bind_to_name(enum bind_to to)
{
	return bind_names[to];
}

static void print_help(void)
{
	printf("usage: oshrun [options] program [arguments]\n"
	       "       oshrun [options] -n N program [arguments] : -n M other [arguments]\n"
	       "       oshrun --join-trace FILE\n"
	       "Runs N copies (PEs) of an OpenSHMEM program, or of any other, and ends with the worst exit code.\n\n");
	for (size_t i = 0; i < ROWS; i++) {
		const struct option_row *row = &option_rows[i];
		char left[80] = "";

		if (!row->help)
			continue;
		for (int k = 0; k < MOST_NAMES && row->names[k]; k++) {
			strncat(left, k ? ", " : "", sizeof left - strlen(left) - 1);
			strncat(left, row->names[k], sizeof left - strlen(left) - 1);
		}
		if (row->value) {
			strncat(left, " ", sizeof left - strlen(left) - 1);
			strncat(left, row->value, sizeof left - strlen(left) - 1);
		}
		if (strlen(left) > 32)
			printf("  %s\n  %-32s %s\n", left, "", row->help);
		else
			printf("  %-32s %s\n", left, row->help);
	}
	printf("\nA program not found in PATH is looked for in the current folder. -- ends the options.\n"
	       "Settings: SHMEM_LAUNCHER names the launcher for jobs on several hosts. See oshrun(1).\n");
}

/* Does the word (up to length) spell this name? Long names take one dash as well as two. */
static bool name_is(const char *name, const char *word, size_t length)
{
	if (strlen(name) == length && !memcmp(name, word, length))
		return true;
	name++;
	return name[0] == '-' && strlen(name) == length && !memcmp(name, word, length);
}

static const struct option_row *find_row(const char *word, size_t length)
{
	for (size_t i = 0; i < ROWS; i++)
		for (int k = 0; k < MOST_NAMES && option_rows[i].names[k]; k++)
			if (name_is(option_rows[i].names[k], word, length))
				return &option_rows[i];
	return NULL;
}

static int unknown_option(const char *word, size_t length)
{
	const char *names[ROWS * MOST_NAMES];
	const char *nearest;
	size_t count = 0;
	char given[64];

	if (length >= sizeof given)
		length = sizeof given - 1;
	memcpy(given, word, length);
	given[length] = '\0';
	/* Long names first: of two equally near, the one that says what it does. */
	for (int k = MOST_NAMES - 1; k >= 0; k--)
		for (size_t i = 0; i < ROWS; i++)
			if (option_rows[i].names[k] && option_rows[i].names[k][1] == '-')
				names[count++] = option_rows[i].names[k];
	nearest = length > 4 ? text_nearest(given, names, count) : NULL; /* of a few letters another word is always near */
	if (nearest)
		say("unknown option %s; did you mean %s?", given, nearest);
	else
		say("unknown option %s; oshrun --help lists them", given);
	return MISTAKE;
}

static int read_pes(struct options *options, const char *name, const char *text)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (end == text || *end || errno)
		say("%s %s: the number of PEs is not a whole number; give one, as in -n 4", name, text);
	else if (n < 1)
		say("%s %s: a job needs at least one PE; give 1 or more", name, text);
	else if (n > MOST_PES)
		say("%s %s: more PEs than oshrun can manage (%d)", name, text, MOST_PES);
	else
		options->pes = (int)n;
	return options->pes ? GO_ON : MISTAKE;
}

static int read_timeout(struct options *options, const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !isfinite(seconds) || seconds <= 0) {
		say("--timeout %s: not a number of seconds above 0", text);
		return MISTAKE;
	}
	options->timeout = seconds;
	return GO_ON;
}

static int read_debug(struct options *options, const char *text)
{
	char *end;
	long pe = strtol(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || pe >= MOST_PES) {
		say("--debug %s: give the number of a PE", text);
		return MISTAKE;
	}
	options->debug = (int)pe;
	return GO_ON;
}

static int read_bind(struct options *options, const char *text)
{
	const char *nearest;

	for (size_t i = 1; i < BINDS; i++)
		if (!strcmp(text, bind_names[i])) {
			options->bind = (enum bind_to)i;
			return GO_ON;
		}
	nearest = text_nearest(text, bind_names + 1, BINDS - 1);
	if (nearest)
		say("--bind-to %s: no such place; did you mean %s?", text, nearest);
	else
		say("--bind-to %s: no such place; give none, core, hwthread, socket or numa", text);
	return MISTAKE;
}

static int read_export(struct options *options, char *text)
{
	if (!text[0] || text[0] == '=') {
		say("-x %s: no variable name; give VAR or VAR=value", text);
		return MISTAKE;
	}
	options->exports[options->export_count++] = text;
	return GO_ON;
}

/* Text options: an empty value is a slip, such as an unset variable in a script. */
static int read_text(const char **field, const char *name, const char *text)
{
	if (!text[0]) {
		say("%s: its value is empty", name);
		return MISTAKE;
	}
	*field = text;
	return GO_ON;
}

/* PEs are in order on the cores of one host, and on several host by host: which is what most wish who say so. */
static int read_order(const char *name, const char *text)
{
	static const char *const usual[] = {"slot", "core", "node", "hwthread", "fill"};
	size_t length = strcspn(text, ":");

	for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
		if (strlen(usual[i]) == length && !strncasecmp(text, usual[i], length))
			return GO_ON;
	if (strstr(name, "map-by") && (!strcmp(text, "socket") || !strcmp(text, "package") || !strcmp(text, "numa")))
		say("%s %s: oshrun spreads PEs in order; to bind them so, use --bind-to %s", name, text, text[0] == 'n' ? text : "socket");
	else
		say("%s %s: oshrun puts PEs in order; for another one use --rankfile, or mpirun itself", name, text);
	return MISTAKE;
}

static int read_stdin(const char *text)
{
	if (!strcmp(text, "0"))
		return GO_ON;
	say("--stdin %s: PE 0 gets the standard input, the others get none; let PE 0 broadcast what it reads", text);
	return MISTAKE;
}

static int read_per_node(struct options *options, const char *name, const char *text)
{
	struct options number = {0};
	int code = read_pes(&number, name, text);

	options->per_node = number.pes;
	return code;
}

/* Two words of other launchers become one of ours. */
static int read_pair(struct options *options, const struct option_row *row, const char *name, const char *value)
{
	char *assignment;

	if (!name[0] || strchr(name, '=')) {
		say("%s %s: give a name and, behind it, a value", row->names[0], name);
		return MISTAKE;
	}
	if (asprintf(&assignment, "%s%s=%s", row->id == OPT_MCA ? "OMPI_MCA_" : "", name, value) < 0) {
		say("out of memory");
		return 1;
	}
	return read_export(options, assignment);
}

static int apply_value(struct options *o, const struct option_row *row, const char *name, char *value)
{
	switch (row->id) {
	case OPT_PES: o->pes = 0; return read_pes(o, name, value);
	case OPT_EXPORT: return read_export(o, value);
	case OPT_TIMEOUT: return read_timeout(o, value);
	case OPT_BIND: return read_bind(o, value);
	case OPT_DEBUG: return read_debug(o, value);
	case OPT_DEBUGGER: return read_text(&o->debugger, name, value);
	case OPT_WDIR: return read_text(&o->wdir, name, value);
	case OPT_OUTPUT: return read_text(&o->output, name, value);
	case OPT_HOST: return read_text(&o->hosts, name, value);
	case OPT_HOSTFILE: return read_text(&o->hostfile, name, value);
	case OPT_LAUNCHER: return read_text(&o->launcher, name, value);
	case OPT_RANKFILE: return read_text(&o->rankfile, name, value);
	case OPT_JOIN_TRACE: return read_text(&o->join_trace, name, value);
	case OPT_PER_NODE: return read_per_node(o, name, value);
	case OPT_ORDER: return read_order(name, value);
	case OPT_STDIN: return read_stdin(value);
	default: return GO_ON;
	}
}

static int apply_flag(struct options *o, const struct option_row *row)
{
	switch (row->id) {
	case OPT_LABEL: o->label = true; break;
	case OPT_TIMESTAMP: o->timestamp = true; break;
	case OPT_REPORT: o->report_bindings = true; break;
	case OPT_DRY_RUN: o->dry_run = true; break;
	case OPT_QUIET: o->quiet = true; break;
	case OPT_VERBOSE: o->verbose = true; break;
	case OPT_HELP: print_help(); return 0;
	case OPT_VERSION: printf("oshrun (torushmem) %s\n", PACKAGE_VERSION); return 0;
	default: break;
	}
	return GO_ON;
}

/* One option and, where it takes one, its value. Moves *at behind them. */
static int parse_one(struct options *options, int argc, char **argv, int *at)
{
	char *word = argv[(*at)++];
	char *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	const struct option_row *row = find_row(word, length);
	char name[32];

	if (!row && word[1] == 'n' && word[2] >= '0' && word[2] <= '9')
		return read_pes(options, "-n", word + 2);
	if (!row)
		return unknown_option(word, length);
	snprintf(name, sizeof name, "%.*s", (int)length, word);
	if (!row->value) {
		if (!equals)
			return apply_flag(options, row);
		say("%s takes no value", name);
		return MISTAKE;
	}
	if (row->id == OPT_ENV || row->id == OPT_MCA) {
		if (equals || *at + 1 >= argc) {
			say("%s needs two words (%s)", name, row->value);
			return MISTAKE;
		}
		*at += 2;
		return read_pair(options, row, argv[*at - 2], argv[*at - 1]);
	}
	if (equals)
		return apply_value(options, row, name, equals + 1);
	if (*at >= argc) {
		say("%s needs a value (%s)", name, row->value);
		return MISTAKE;
	}
	return apply_value(options, row, name, argv[(*at)++]);
}

static int check_together(const struct options *o)
{
	if (o->join_trace && o->program[0]) {
		say("--join-trace %s runs no program; leave %s out", o->join_trace, o->program[0]);
		return MISTAKE;
	}
	if (o->join_trace)
		return GO_ON;
	if (!o->program[0] || !o->program[0][0]) {
		say("no program given; usage: oshrun [options] program [arguments]");
		return MISTAKE;
	}
	if (o->output && (o->label || o->timestamp)) {
		say("--output gives each PE a file of its own; it cannot be combined with --label or --timestamp");
		return MISTAKE;
	}
	if (o->debugger && o->debug < 0) {
		say("--debugger is for the PE that --debug names");
		return MISTAKE;
	}
	if (o->hosts && o->hostfile) {
		say("--host and --hostfile both name the hosts; give one of them");
		return MISTAKE;
	}
	return GO_ON;
}

/* --- Several programs in one job, as mpirun has them: oshrun -n 1 ./a : -n 3 ./b --- */

/* Options of a later program. Those of the job stand before the first. */
static int parse_part(struct part *part, int argc, char **argv, int *at)
{
	struct options own = {0};
	int code = GO_ON;

	while (code == GO_ON && *at < argc && argv[*at][0] == '-' && argv[*at][1]) {
		const char *word = argv[*at];
		const struct option_row *row = find_row(word, strcspn(word, "="));

		if (row && row->id != OPT_PES && row->id != OPT_WDIR) {
			say("%s: behind : only -n and --wdir are possible; give it before the first program, for all", word);
			return MISTAKE;
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
			return MISTAKE;
		}
		if (part->pes == 0) {
			say("%s: of several programs each needs its number of PEs, as in -n 2 %s", part->program[0], part->program[0]);
			return MISTAKE;
		}
		sum += part->pes;
	}
	if (sum > MOST_PES) {
		say("%d PEs in all: more than oshrun can manage (%d)", sum, MOST_PES);
		return MISTAKE;
	}
	o->pes = sum;
	return GO_ON;
}

/* A colon that is the last word is an argument like any other. */
static bool is_separator(char *const *word)
{
	return !strcmp(word[0], ":") && word[1];
}

static int split_programs(struct options *o, int argc, char **argv, int at)
{
	int code = GO_ON;

	while (code == GO_ON && at < argc) {
		if (!is_separator(argv + at)) {
			at++;
			continue;
		}
		argv[at++] = NULL;
		code = parse_part(&o->parts[o->part_count++], argc, argv, &at);
	}
	return code == GO_ON && o->part_count > 1 ? check_parts(o) : code;
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
		if (code != GO_ON)
			return code;
	}
	options->program = argv + at;
	options->parts[0] = (struct part){.program = options->program, .pes = options->pes, .wdir = options->wdir};
	options->part_count = 1;
	code = check_together(options);
	return code == GO_ON && !ended ? split_programs(options, argc, argv, at) : code;
}
