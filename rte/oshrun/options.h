/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHRUN_OPTIONS_H
#define OSHRUN_OPTIONS_H

#include <stdbool.h>

enum bind_to { BIND_DEFAULT, BIND_NONE, BIND_CORE, BIND_HWTHREAD, BIND_SOCKET, BIND_NUMA };

/* One of the programs of a job; most jobs have one. */
struct part {
	char **program;	  /* it and its arguments, as execvp wants them */
	int pes;	  /* required if there are several programs */
	const char *wdir; /* NULL: the current folder */
	char *path;	  /* the file to execute, once found */
};

/* The options of the command line. Strings point into argv. */
struct options {
	int pes;	/* 0: not given */
	char **program; /* the first program and its arguments, as execvp wants them */
	struct part *parts;
	int part_count;
	char **exports; /* each -x, VAR or VAR=value, in order */
	int export_count;
	const char *wdir;	/* of the first program, NULL: the current folder */
	const char *output;	/* folder for one file per PE, NULL: none */
	const char *hosts;	/* --host, NULL: none */
	const char *hostfile;	/* --hostfile, NULL: none */
	const char *launcher;	/* --launcher, NULL: none */
	const char *rankfile;	/* --rankfile, NULL: none */
	const char *join_trace; /* --join-trace, NULL: a job is to run */
	int per_node;		/* -N and similar: PEs per host, 0: not given */
	double timeout;		/* seconds, 0: no limit */
	int debug;		/* the PE to run under the debugger, -1: none */
	const char *debugger;	/* --debugger, NULL: gdb */
	enum bind_to bind;
	bool label;
	bool timestamp;
	bool report_bindings;
	bool dry_run;
	bool quiet;
	bool verbose;
};

/* The program of a PE. */
const struct part *options_part(const struct options *options, int pe);

/* "core" and so on; the word that the user gives to --bind-to. */
const char *bind_to_name(enum bind_to to);

/*
 * Fills options from the command line. Returns -1 to go on, or the exit code when there is nothing
 * to run: 0 after --help and --version, 2 after a mistake, which is reported in one line.
 */
int options_parse(struct options *options, int argc, char **argv);

#endif
