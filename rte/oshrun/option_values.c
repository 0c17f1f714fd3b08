/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of options: checks each and stores it in struct options. */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "option_table.h"
#include "rte/text/text.h"
#include "say.h"

static const char *const bind_names[] = {"default", "none", "core", "hwthread", "socket", "numa"};
#define BINDS (sizeof bind_names / sizeof bind_names[0])

const char *bind_to_name(enum bind_to to)
{
	return bind_names[to];
}

int option_read_pes(struct options *options, const char *name, const char *text)
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
	return options->pes ? OPTION_GO_ON : OPTION_MISTAKE;
}

static int read_timeout(struct options *options, const char *text)
{
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !isfinite(seconds) || seconds <= 0) {
		say("--timeout %s: not a number of seconds above 0", text);
		return OPTION_MISTAKE;
	}
	options->timeout = seconds;
	return OPTION_GO_ON;
}

static int read_debug(struct options *options, const char *text)
{
	char *end;
	long pe = strtol(text, &end, 10);

	if (text[0] < '0' || text[0] > '9' || *end || pe >= MOST_PES) {
		say("--debug %s: give the number of a PE", text);
		return OPTION_MISTAKE;
	}
	options->debug = (int)pe;
	return OPTION_GO_ON;
}

static int read_bind(struct options *options, const char *text)
{
	const char *nearest;

	for (size_t i = 1; i < BINDS; i++)
		if (!strcmp(text, bind_names[i])) {
			options->bind = (enum bind_to)i;
			return OPTION_GO_ON;
		}
	nearest = text_nearest(text, bind_names + 1, BINDS - 1);
	if (nearest)
		say("--bind-to %s: no such place; did you mean %s?", text, nearest);
	else
		say("--bind-to %s: no such place; give none, core, hwthread, socket or numa", text);
	return OPTION_MISTAKE;
}

static int read_export(struct options *options, char *text)
{
	if (!text[0] || text[0] == '=') {
		say("-x %s: no variable name; give VAR or VAR=value", text);
		return OPTION_MISTAKE;
	}
	options->exports[options->export_count++] = text;
	return OPTION_GO_ON;
}

/* An empty value is a mistake, such as an unset variable in a script. */
static int read_text(const char **field, const char *name, const char *text)
{
	if (!text[0]) {
		say("%s: its value is empty", name);
		return OPTION_MISTAKE;
	}
	*field = text;
	return OPTION_GO_ON;
}

static int read_per_node(struct options *options, const char *name, const char *text)
{
	struct options number = {0};
	int code = option_read_pes(&number, name, text);

	options->per_node = number.pes;
	return code;
}

/* ppr:N:node is another way to say how many PEs a host gets. */
static bool read_pes_of_node(struct options *options, const char *name, const char *text, int *code)
{
	char number[16];
	int end = 0;

	if (sscanf(text, "ppr:%15[0-9]:node%n", number, &end) != 1 || end == 0 || text[end])
		return false;
	*code = read_per_node(options, name, number);
	return true;
}

/*
 * oshrun places PEs in order, on the cores of one host and then host by host; options that ask for
 * this order are accepted.
 */
static int read_order(struct options *options, const char *name, const char *text)
{
	int code;

	if (strstr(name, "map-by") && read_pes_of_node(options, name, text, &code))
		return code;
	static const char *const usual[] = {"slot", "core", "node", "hwthread", "fill"};
	size_t length = strcspn(text, ":");

	for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
		if (strlen(usual[i]) == length && !strncasecmp(text, usual[i], length))
			return OPTION_GO_ON;
	if (strstr(name, "map-by") && (!strcmp(text, "socket") || !strcmp(text, "package") || !strcmp(text, "numa")))
		say("%s %s: oshrun spreads PEs in order; to bind them so, use --bind-to %s", name, text,
		    text[0] == 'n' ? text : "socket");
	else
		say("%s %s: oshrun puts PEs in order; for another one use --rankfile, or mpirun itself", name, text);
	return OPTION_MISTAKE;
}

static int read_stdin(const char *text)
{
	if (!strcmp(text, "0"))
		return OPTION_GO_ON;
	say("--stdin %s: PE 0 gets the standard input, the others get none; let PE 0 broadcast what it reads", text);
	return OPTION_MISTAKE;
}

/* Options of other launchers with two arguments become one assignment. */
int option_apply_pair(struct options *options, const struct option_given *given)
{
	char *assignment;

	if (!given->value[0] || strchr(given->value, '=')) {
		say("%s %s: give a name and, behind it, a value", given->name, given->value);
		return OPTION_MISTAKE;
	}
	if (asprintf(&assignment, "%s%s=%s", given->row == OPT_MCA ? "OMPI_MCA_" : "", given->value, given->second) <
	    0) {
		say("out of memory");
		return 1;
	}
	return read_export(options, assignment);
}

int option_apply_value(struct options *o, enum option_id id, const char *name, char *value)
{
	switch (id) {
	case OPT_PES: o->pes = 0; return option_read_pes(o, name, value);
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
	case OPT_ORDER: return read_order(o, name, value);
	case OPT_STDIN: return read_stdin(value);
	default: return OPTION_GO_ON;
	}
}

int option_apply_flag(struct options *o, enum option_id id)
{
	switch (id) {
	case OPT_LABEL: o->label = true; break;
	case OPT_TIMESTAMP: o->timestamp = true; break;
	case OPT_REPORT: o->report_bindings = true; break;
	case OPT_DRY_RUN: o->dry_run = true; break;
	case OPT_QUIET: o->quiet = true; break;
	case OPT_VERBOSE: o->verbose = true; break;
	case OPT_HELP: option_print_help(); return 0;
	case OPT_VERSION: printf("oshrun (torushmem) %s\n", PACKAGE_VERSION); return 0;
	default: break;
	}
	return OPTION_GO_ON;
}
