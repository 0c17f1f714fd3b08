/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef OSHINFO_REPORT_H
#define OSHINFO_REPORT_H

#include <stdbool.h>
#include <stddef.h>

/*
 * What oshinfo prints, in one of two forms: for people (a heading, then "label   value" lines) or
 * for scripts (--parsable: "section.key:value", one line each; the value is all after the first colon).
 */
struct report {
	bool parsable;
	bool all; /* the long form: with help texts, every device */
	const char *section;
};

void report_section(struct report *report, const char *key, const char *title);

/* One fact. The key is for scripts, the label for people. */
void report_fact(struct report *report, const char *key, const char *label, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* A line under the fact before it; the same as a fact of its own for scripts. */
void report_note(struct report *report, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The sections, each in a file of its own. */
void report_build(struct report *report);
void report_machine(struct report *report);
void report_limits(struct report *report);
void report_paths(struct report *report);
void report_torus(struct report *report);
void report_launchers(struct report *report);
void report_settings(struct report *report);

/* One for each network, also for those that this library was configured without: the section says so. */
#define NETWORK(NAME, name) void report_##name(struct report *report);
#include "comms/networks.def"
#undef NETWORK

/* The first line of a small file without its end; false if it cannot be read. */
bool read_line(const char *path, char *line, size_t size);

/* Folder of this program's own file. */
bool own_folder(char *folder, size_t size);

#endif
