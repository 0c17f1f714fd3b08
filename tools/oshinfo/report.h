/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHINFO_REPORT_H
#define OSHINFO_REPORT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What oshinfo prints, in one of three forms: for people (a heading, then columns), or for scripts:
 * --parsable ("section.key:value", one line each; the value is all after the first colon), or
 * --json (an object of sections).
 *
 * Sections add rows, and a section is printed when the next one begins or the report ends: columns
 * are as wide as their rows.
 */
enum report_form { FOR_PEOPLE, PARSABLE, JSON };

enum row_kind {
	ROW_FACT,
	ROW_NOTE,    /* printed under the fact before it */
	ROW_SETTING, /* three columns */
	ROW_ITEM     /* an element of a list of whole lines */
};

struct report_row {
	enum row_kind kind;
	char *key, *label, *value;
	const char *origin, *help; /* of settings */
	char *values;		   /* allowed ones, as text */
};

struct report {
	enum report_form form;
	bool all;   /* the long form: with help texts, every device */
	bool debug; /* also the settings for tests and comparisons */
	bool begun; /* a section has been printed */
	const char *section, *title;
	struct report_row *rows;
	int count, room;
};

void report_section(struct report *report, const char *key, const char *title);

/* One fact. The key is for scripts, the label for people. */
void report_fact(struct report *report, const char *key, const char *label, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A line under the fact before it; for scripts, a separate fact. */
void report_note(struct report *report, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A setting; its help and allowed values appear in the long form only. */
void report_setting(struct report *report, const char *name, const char *value, const char *origin, const char *help,
		    const char *values);

/*
 * An element of a list: a line for people, key and value for scripts. The section has no other rows
 * with this key.
 */
void report_item(struct report *report, const char *key, const char *line, const char *value);

/* Prints the last section. */
void report_end(struct report *report);

/* In report_print.c: prints the rows of the current section, and the frame of the report. */
void print_section(const struct report *report);
void print_begin(const struct report *report);
void print_end(const struct report *report);

/* The sections, each in a file of its own. */
void report_build(struct report *report);
void report_machine(struct report *report);
void report_limits(struct report *report);
void report_paths(struct report *report);
void report_torus(struct report *report);
void report_gpu(struct report *report);
void report_launchers(struct report *report);
void report_settings(struct report *report);

/*
 * One for each network, also for those without which this library was configured: the section says
 * so.
 */
#define NETWORK(NAME, name) void report_##name(struct report *report);
#include "comms/networks.def"
#undef NETWORK

/* The first line of a small file without its end. Returns false if it cannot be read. */
bool read_line(const char *path, char *line, size_t size);

/* Folder of this program's own file. */
bool own_folder(char *folder, size_t size);

#endif
