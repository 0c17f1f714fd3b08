/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *must_have(void *memory)
{
	if (!memory) {
		fputs("oshinfo: no memory left\n", stderr);
		exit(1);
	}
	return memory;
}

static void print_and_drop_rows(struct report *report)
{
	if (report->section && report->count) {
		print_section(report);
		report->begun = true;
	}
	for (int i = 0; i < report->count; i++) {
		free(report->rows[i].key);
		free(report->rows[i].label);
		free(report->rows[i].value);
		free(report->rows[i].values);
	}
	report->count = 0;
}

void report_section(struct report *report, const char *key, const char *title)
{
	print_and_drop_rows(report);
	report->section = key;
	report->title = title;
}

void report_end(struct report *report)
{
	print_and_drop_rows(report);
	free(report->rows);
	report->rows = NULL;
}

static struct report_row *add_row(struct report *report, enum row_kind kind, const char *key, const char *label)
{
	struct report_row *row;

	if (report->count == report->room) {
		report->room = 2 * report->room + 16;
		report->rows = must_have(realloc(report->rows, (size_t)report->room * sizeof *report->rows));
	}
	row = &report->rows[report->count++];
	*row = (struct report_row){.kind = kind,
				   .key = must_have(strdup(key)),
				   .label = must_have(strdup(label)),
				   .origin = "",
				   .help = ""};
	return row;
}

/* The value with blanks for line ends: one fact is one line, for scripts. */
static char *one_line(const char *format, va_list args)
{
	char value[8192];

	vsnprintf(value, sizeof value, format, args);
	for (char *c = value; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return must_have(strdup(value));
}

void report_fact(struct report *report, const char *key, const char *label, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_row(report, ROW_FACT, key, label)->value = one_line(format, args);
	va_end(args);
}

void report_note(struct report *report, const char *key, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_row(report, ROW_NOTE, key, "")->value = one_line(format, args);
	va_end(args);
}

void report_setting(struct report *report, const char *name, const char *value, const char *origin, const char *help,
		    const char *values)
{
	struct report_row *row = add_row(report, ROW_SETTING, name, name);

	row->value = must_have(strdup(value));
	row->origin = origin;
	row->help = help;
	row->values = must_have(strdup(values));
}

void report_item(struct report *report, const char *key, const char *line, const char *value)
{
	add_row(report, ROW_ITEM, key, line)->value = must_have(strdup(value));
}

bool read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool got = file && fgets(line, (int)size, file);

	if (file)
		fclose(file);
	if (got)
		line[strcspn(line, "\n")] = '\0';
	return got;
}

bool own_folder(char *folder, size_t size)
{
	ssize_t length = readlink("/proc/self/exe", folder, size - 1);
	char *slash;

	if (length <= 0)
		return false;
	folder[length] = '\0';
	slash = strrchr(folder, '/');
	if (slash)
		*slash = '\0';
	return slash != NULL;
}
