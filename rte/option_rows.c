/* SPDX-License-Identifier: BSD-3-Clause */
#include "option_rows.h"

#include <stdio.h>
#include <string.h>

#include "rte/text/text.h"

static bool takes(const struct option_table *table, int row)
{
	return table->takes == 0 || table->takes >> row & 1;
}

/* Is the word of this length this name? Long names may have one dash instead of two. */
static bool name_is(const char *name, const char *word, size_t length)
{
	if (strlen(name) == length && !memcmp(name, word, length))
		return true;
	name++;
	return name[0] == '-' && strlen(name) == length && !memcmp(name, word, length);
}

int option_find(const struct option_table *table, const char *word)
{
	size_t length = strcspn(word, "=");

	for (int i = 0; i < table->count; i++)
		for (int k = 0; takes(table, i) && k < OPTION_NAMES && table->rows[i].names[k]; k++)
			if (name_is(table->rows[i].names[k], word, length))
				return i;
	return -1;
}

/* Long names come first, because the first of two equally near names wins. */
static void describe_unknown(const struct option_table *table, const char *name, char problem[OPTION_PROBLEM])
{
	const char *names[64 * OPTION_NAMES], *nearest;
	size_t count = 0;

	for (int k = OPTION_NAMES - 1; k >= 0; k--)
		for (int i = 0; i < table->count; i++)
			if (takes(table, i) && table->rows[i].names[k] && table->rows[i].names[k][1] == '-')
				names[count++] = table->rows[i].names[k];
	/* every short name is near some other one */
	nearest = strlen(name) > 4 ? text_nearest(name, names, count) : NULL;
	if (name[0] != '-')
		snprintf(problem, OPTION_PROBLEM, "unexpected argument '%s'; only options are possible, see %s", name,
			 table->help);
	else if (nearest)
		snprintf(problem, OPTION_PROBLEM, "unknown option %s; did you mean %s?", name, nearest);
	else
		snprintf(problem, OPTION_PROBLEM, "unknown option %s; %s lists them", name, table->help);
}

bool option_read(const struct option_table *table, int argc, char **argv, int *at, struct option_given *given,
		 char problem[OPTION_PROBLEM])
{
	char *word = argv[(*at)++], *equals = strchr(word, '=');
	const char *value;
	int values;

	*given = (struct option_given){.row = option_find(table, word)};
	snprintf(given->name, sizeof given->name, "%.*s", (int)strcspn(word, "="), word);
	if (given->row < 0) {
		describe_unknown(table, given->name, problem);
		return false;
	}
	value = table->rows[given->row].value;
	values = !value ? 0 : strchr(value, ' ') ? 2 : 1;
	if (values == 0 && equals)
		snprintf(problem, OPTION_PROBLEM, "%s takes no value", given->name);
	else if (values == 1 && !equals && *at >= argc)
		snprintf(problem, OPTION_PROBLEM, "%s needs a value (%s)", given->name, value);
	else if (values == 2 && (equals || *at + 1 >= argc))
		snprintf(problem, OPTION_PROBLEM, "%s needs two words (%s)", given->name, value);
	else {
		if (values > 0)
			given->value = equals ? equals + 1 : argv[(*at)++];
		if (values > 1)
			given->second = argv[(*at)++];
		return true;
	}
	return false;
}

void option_print_rows(const struct option_table *table)
{
	for (int i = 0; i < table->count; i++) {
		const struct option_row *row = &table->rows[i];
		char left[96] = "";

		if (!row->help || !takes(table, i))
			continue;
		for (int k = 0; k < OPTION_NAMES && row->names[k]; k++)
			snprintf(left + strlen(left), sizeof left - strlen(left), "%s%s", k ? ", " : "", row->names[k]);
		if (row->value)
			snprintf(left + strlen(left), sizeof left - strlen(left), " %s", row->value);
		if ((int)strlen(left) > table->width)
			printf("  %s\n  %-*s %s\n", left, table->width, "", row->help);
		else
			printf("  %-*s %s\n", table->width, left, row->help);
	}
}
