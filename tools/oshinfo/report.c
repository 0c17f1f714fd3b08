/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LABEL_WIDTH 18

void report_section(struct report *report, const char *key, const char *title)
{
	report->section = key;
	if (!report->parsable)
		printf("\n%s\n", title);
}

/* Prints the value with blanks for line ends: one fact is one line, for scripts. */
static void print_value(const char *format, va_list args)
{
	char value[8192];

	vsnprintf(value, sizeof value, format, args);
	for (char *c = value; *c; c++)
		if (*c == '\n')
			*c = ' ';
	puts(value);
}

void report_fact(struct report *report, const char *key, const char *label, const char *format, ...)
{
	va_list args;

	if (report->parsable)
		printf("%s.%s:", report->section, key);
	else
		printf("  %-*s ", LABEL_WIDTH, label);
	va_start(args, format);
	print_value(format, args);
	va_end(args);
}

void report_note(struct report *report, const char *key, const char *format, ...)
{
	va_list args;

	if (report->parsable)
		printf("%s.%s:", report->section, key);
	else
		printf("  %-*s ", LABEL_WIDTH, "");
	va_start(args, format);
	print_value(format, args);
	va_end(args);
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
