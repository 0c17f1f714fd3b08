/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The three forms of a section. For people, the first column is as wide as the widest label, and
 * long texts wrap within their own column.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report.h"
#include "rte/text/text.h"
#include "shmem.h"

enum {
	WIDEST_VALUE = 20, /* of a setting: a longer one has its origin on a separate line */
	NARROWEST = 20	   /* narrower columns are not wrapped */
};

/* --- For people --- */

/* The columns of the terminal; 0 is no limit. */
static int columns_of_terminal(void)
{
	const char *given = getenv("COLUMNS");
	struct winsize size;

	if (given && atoi(given) > 0)
		return atoi(given);
	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* A text that begins at a column and continues there in further lines. */
static void print_at(const char *text, int at, int columns)
{
	size_t room = columns - at < NARROWEST ? strlen(text) : (size_t)(columns - at);
	size_t fit = text_fit(text, room);

	printf("%.*s\n", (int)fit, text);
	for (text += fit; *text; text += fit) {
		text += strspn(text, " ");
		fit = text_fit(text, room);
		printf("%*s%.*s\n", at, "", (int)fit, text);
	}
}

static int widest(const struct report *report, int (*width)(const struct report_row *))
{
	int most = 0;

	for (int i = 0; i < report->count; i++)
		if (width(&report->rows[i]) > most)
			most = width(&report->rows[i]);
	return most;
}

static int label_width(const struct report_row *row)
{
	return row->kind == ROW_ITEM ? 0 : (int)strlen(row->label);
}

static const char *shown_value(const struct report_row *row)
{
	return *row->value ? row->value : "-";
}

static int value_width(const struct report_row *row)
{
	int width = row->kind == ROW_SETTING ? (int)strlen(shown_value(row)) : 0;

	return width > WIDEST_VALUE ? 0 : width;
}

static void print_setting(const struct report *report, const struct report_row *row, int value_at, int columns)
{
	int width = widest(report, value_width), origin_at = value_at + width + 2;
	const char *value = shown_value(row);

	if ((int)strlen(value) <= width)
		printf("%-*s", width + 2, value);
	else {
		print_at(value, value_at, columns);
		printf("%*s", origin_at, "");
	}
	print_at(row->origin, origin_at, columns);
	if (report->all) {
		char help[1024];

		snprintf(help, sizeof help, strcmp(row->values, "any") ? "%s; value: %s" : "%s", row->help,
			 row->values);
		printf("      ");
		print_at(help, 6, columns);
	}
}

static void print_columns(const struct report *report)
{
	int width = widest(report, label_width), value_at = width + 4, columns = columns_of_terminal();

	printf("\n%s\n", report->title);
	for (int i = 0; i < report->count; i++) {
		const struct report_row *row = &report->rows[i];

		if (row->kind == ROW_ITEM) {
			printf("  ");
			print_at(row->label, 2, columns);
			continue;
		}
		printf("  %-*s  ", width, row->label);
		if (row->kind == ROW_SETTING)
			print_setting(report, row, value_at, columns);
		else
			print_at(row->value, value_at, columns);
	}
}

/* --- For scripts --- */

static void print_lines(const struct report *report)
{
	for (int i = 0; i < report->count; i++) {
		const struct report_row *row = &report->rows[i];

		if (row->kind != ROW_SETTING) {
			printf("%s.%s:%s\n", report->section, row->key, row->value);
			continue;
		}
		printf("%s.%s.value:%s\n%s.%s.origin:%s\n", report->section, row->key, row->value, report->section,
		       row->key, row->origin);
		if (report->all)
			printf("%s.%s.help:%s\n%s.%s.values:%s\n", report->section, row->key, row->help,
			       report->section, row->key, row->values);
	}
}

/* Bytes of the UTF-8 character that begins here, 0 for none. */
static int utf8_length(const unsigned char *c)
{
	int length = c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;

	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) || (c[0] == 0xf0 && c[1] < 0x90) ||
	    (c[0] == 0xf4 && c[1] > 0x8f))
		return 0;
	for (int i = 1; i < length; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* A JSON string; a byte that is not UTF-8 becomes the replacement character. */
static void print_string(const char *text)
{
	putchar('"');
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		int length = utf8_length(c);

		if (length) {
			printf("%.*s", length, (const char *)c);
			c += length - 1;
		} else if (*c == '"' || *c == '\\')
			printf("\\%c", *c);
		else if (*c < 0x20 || *c >= 0x7f)
			printf(*c < 0x80 ? "\\u%04x" : "\\ufffd", *c);
		else
			putchar(*c);
	}
	putchar('"');
}

/* Whole numbers are JSON numbers; ids and versions with other characters are not. */
static bool is_number(const char *value)
{
	size_t digits = strspn(value, "0123456789");

	return digits && digits < 16 && !value[digits] && (digits == 1 || *value != '0');
}

static void print_member(const struct report *report, const struct report_row *row)
{
	print_string(row->key);
	printf(": ");
	if (row->kind == ROW_SETTING) {
		printf("{\"value\": ");
		print_string(row->value);
		printf(", \"origin\": ");
		print_string(row->origin);
		if (report->all) {
			printf(", \"help\": ");
			print_string(row->help);
			printf(", \"values\": ");
			print_string(row->values);
		}
		putchar('}');
	} else if (is_number(row->value) && strcmp(report->section, "environment"))
		printf("%s", row->value);
	else
		print_string(row->value);
}

/* Items of one key are consecutive and form an array. */
static void print_object(const struct report *report)
{
	printf(",\n  ");
	print_string(report->section);
	printf(": {");
	for (int i = 0; i < report->count; i++) {
		const struct report_row *row = &report->rows[i];

		printf("%s\n    ", i ? "," : "");
		if (row->kind != ROW_ITEM) {
			print_member(report, row);
			continue;
		}
		print_string(row->key);
		printf(": [");
		print_string(row->value);
		for (; i + 1 < report->count && !strcmp(report->rows[i + 1].key, row->key); i++) {
			printf(", ");
			print_string(report->rows[i + 1].value);
		}
		putchar(']');
	}
	printf("\n  }");
}

void print_section(const struct report *report)
{
	if (report->form == FOR_PEOPLE)
		print_columns(report);
	else if (report->form == PARSABLE)
		print_lines(report);
	else
		print_object(report);
}

void print_begin(const struct report *report)
{
	static const char *const begin[] = {
		[FOR_PEOPLE] = "torushmem %s, OpenSHMEM %d.%d\n",
		[PARSABLE] = "version:%s\nspecification:%d.%d\n",
		[JSON] = "{\n  \"version\": \"%s\",\n  \"specification\": \"%d.%d\"",
	};

	printf(begin[report->form], PACKAGE_VERSION, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
}

void print_end(const struct report *report)
{
	if (report->form == JSON)
		puts("\n}");
}
