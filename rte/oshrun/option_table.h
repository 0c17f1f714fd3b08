/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_OPTION_TABLE_H
#define OSHRUN_OPTION_TABLE_H

#include "options.h"
#include "rte/option_rows.h"

/* Results of the functions below, besides exit codes. */
enum { OPTION_GO_ON = -1, OPTION_MISTAKE = 2 };

enum { MOST_PES = 1000000 };

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
	OPT_ACCEPTED,
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

extern const struct option_table option_table;

void option_print_help(void);

/*
 * option_values.c: checks a value or a flag and stores it in the options. All return OPTION_GO_ON,
 * or the exit code after one line: 0 after --help and --version.
 */
int option_read_pes(struct options *options, const char *name, const char *text);
int option_apply_value(struct options *options, enum option_id id, const char *name, char *value);
int option_apply_flag(struct options *options, enum option_id id);
/* Options of two arguments, a name and its value. */
int option_apply_pair(struct options *options, const struct option_given *given);

#endif
