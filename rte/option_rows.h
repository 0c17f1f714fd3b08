/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_OPTION_ROWS_H
#define RTE_OPTION_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The command line of a tool as a table of its options. Parsing, --help and the suggestion for an
 * unknown option follow from the rows. It only prints the help; the tool prints its texts about
 * mistakes.
 */
enum { OPTION_NAMES = 6, OPTION_PROBLEM = 256 };

struct option_row {
	const char *names[OPTION_NAMES]; /* long names are also accepted with one dash */
	/* Names of its value, or of its two values; NULL: takes none. */
	const char *value;
	const char *help; /* NULL: not listed; other programs have it */
};

struct option_table {
	const struct option_row *rows; /* at most 64 */
	int count;
	unsigned long takes; /* only these rows, a bit each; 0: all */
	int width;	     /* of the names in --help */
	const char *help;    /* the command that lists them, "oshrun --help" */
};

struct option_given {
	int row;
	char name[64]; /* as the user gave it */
	char *value;   /* NULL: the option takes none */
	char *second;  /* the second value of an option with two */
};

/* The row with this name, up to a = in it; -1: none. */
int option_find(const struct option_table *table, const char *word);

/*
 * Reads the option at argv[*at] with its values and moves *at behind them. Returns false with the
 * reason in `problem`.
 */
bool option_read(const struct option_table *table, int argc, char **argv, int *at, struct option_given *given,
		 char problem[OPTION_PROBLEM]);

/* Prints a line for each option with a help text. */
void option_print_rows(const struct option_table *table);

#endif
