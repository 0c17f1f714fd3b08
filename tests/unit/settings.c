/* SPDX-License-Identifier: BSD-3-Clause */
/* rte/settings.c: values, where they come from, and names that nobody knows. */
#include "rte/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/lib/unit.h"

static void check_table(void)
{
	for (int i = 0; i < SETTING_COUNT; i++) {
		const struct setting *s = &settings_table[i];

		EXPECT(!strncmp(s->name, "SHMEM_", 6), "%s", s->name);
		EXPECT(s->fallback && s->help && s->help[0], "%s", s->name);
		for (int j = 0; j < i; j++)
			EXPECT(strcmp(s->name, settings_table[j].name) != 0, "%s is there twice", s->name);
	}
}

static void check_origin(void)
{
	unsetenv("SHMEM_SYMMETRIC_SIZE");
	unsetenv("SMA_SYMMETRIC_SIZE");
	EXPECT(!setting_given(SETTING_SYMMETRIC_SIZE), "nothing given");
	EXPECT(!strcmp(setting_origin(SETTING_SYMMETRIC_SIZE), "default"), "%s",
	       setting_origin(SETTING_SYMMETRIC_SIZE));
	EXPECT(!strcmp(setting_text(SETTING_SYMMETRIC_SIZE), settings_table[SETTING_SYMMETRIC_SIZE].fallback), "%s",
	       setting_text(SETTING_SYMMETRIC_SIZE));

	setenv("SMA_SYMMETRIC_SIZE", "7m", 1);
	EXPECT(!strcmp(setting_text(SETTING_SYMMETRIC_SIZE), "7m"), "the old spelling counts");
	EXPECT(strstr(setting_origin(SETTING_SYMMETRIC_SIZE), "SMA_SYMMETRIC_SIZE") != NULL, "%s",
	       setting_origin(SETTING_SYMMETRIC_SIZE));

	setenv("SHMEM_SYMMETRIC_SIZE", "8m", 1);
	EXPECT(!strcmp(setting_text(SETTING_SYMMETRIC_SIZE), "8m"), "the new spelling wins");
	EXPECT(!strcmp(setting_origin(SETTING_SYMMETRIC_SIZE), "environment"), "%s",
	       setting_origin(SETTING_SYMMETRIC_SIZE));

	setenv("SHMEM_SYMMETRIC_SIZE", "", 1);
	EXPECT(setting_given(SETTING_SYMMETRIC_SIZE) && !setting_text(SETTING_SYMMETRIC_SIZE)[0], "empty is given");
	unsetenv("SHMEM_SYMMETRIC_SIZE");
	unsetenv("SMA_SYMMETRIC_SIZE");
}

static void check_values(void)
{
	static const struct {
		const char *text;
		int yes; /* -1: neither yes nor no */
	} flags[] = {{"yes", 1},   {"Yes", 1}, {"ON", 1}, {"true", 1},	 {"1", 1},  {"no", 0},	 {"off", 0},
		     {"False", 0}, {"0", 0},   {"", -1},  {"maybe", -1}, {"2", -1}, {"yess", -1}};
	static const struct {
		const char *text;
		long number; /* -1: not a number */
	} numbers[] = {{"0", 0}, {"2", 2}, {"1000", 1000}, {"", -1}, {"-1", -1}, {"x", -1}, {"3x", -1}, {" 3", -1}};
	bool flag;
	long number;

	for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
		setenv("SHMEM_HUGE_PAGES", flags[i].text, 1);
		EXPECT(setting_bool(SETTING_HUGE_PAGES, &flag) ? flag == flags[i].yes : flags[i].yes == -1, "\"%s\"",
		       flags[i].text);
	}
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		setenv("SHMEM_NODE_PES", numbers[i].text, 1);
		EXPECT(setting_number(SETTING_NODE_PES, &number) ? number == numbers[i].number
								 : numbers[i].number == -1,
		       "\"%s\"", numbers[i].text);
	}
	unsetenv("SHMEM_HUGE_PAGES");
	unsetenv("SHMEM_NODE_PES");
}

static bool is_possible(const struct setting *s, const char *text)
{
	setenv(s->name, text, 1);
	return setting_is_possible((enum setting_id)(s - settings_table));
}

/* The bound of "number of polls, at least 1", and the number on its other side. */
static void check_bound(const struct setting *s, const char *before, int outwards)
{
	const char *at = strstr(s->values, before);
	char inside[32], outside[32];
	long bound = at ? atol(at + strlen(before)) : 0;

	if (!at)
		return;
	snprintf(inside, sizeof inside, "%ld", bound);
	snprintf(outside, sizeof outside, "%ld", bound + outwards);
	EXPECT(is_possible(s, inside) && !is_possible(s, outside), "%s: %s, %s", s->name, inside, outside);
}

static void check_words(const struct setting *s)
{
	char word[64];
	int place = 0;

	for (const char *at = s->values; *at; place++) {
		size_t length = strcspn(at, "|");

		snprintf(word, sizeof word, "%.*s", (int)length, at);
		at += length + (at[length] == '|');
		if (!strncmp(word, "number of ", 10))
			break;
		EXPECT(is_possible(s, word), "%s=%s", s->name, word);
		EXPECT(setting_choice((enum setting_id)(s - settings_table)) == place, "%s=%s", s->name, word);
	}
}

/* Each row that lists its values: those are possible, in their order, and others are not. */
static void check_possible_values(void)
{
	int rows = 0;

	for (const struct setting *s = settings_table; s < settings_table + SETTING_COUNT; s++) {
		if (!s->values[0])
			continue;
		rows++;
		EXPECT(!is_possible(s, "perhaps") && !is_possible(s, ""), "%s", s->name);
		if (strncmp(s->values, "size of ", 8))
			check_words(s);
		check_bound(s, ", at least ", -1);
		check_bound(s, ", at most ", 1);
		EXPECT(is_possible(s, s->fallback), "%s: its default, \"%s\"", s->name, s->fallback);
		unsetenv(s->name);
	}
	EXPECT(rows > 20, "%d rows list their values", rows);
	setenv("SHMEM_MEMORY_GROUPS", "off", 1);
	EXPECT(setting_choice(SETTING_MEMORY_GROUPS) == 2, "off is no");
	unsetenv("SHMEM_MEMORY_GROUPS");
}

struct warnings {
	int count;
	char name[64], nearest[64];
};

static void note_warning(const char *name, const char *nearest, void *argument)
{
	struct warnings *warnings = argument;

	warnings->count++;
	snprintf(warnings->name, sizeof warnings->name, "%s", name);
	snprintf(warnings->nearest, sizeof warnings->nearest, "%s", nearest ? nearest : "-");
}

static void check_names(void)
{
	struct warnings warnings = {0};

	setenv("SHMEM_CC", "oshcc", 1); /* other tools' names are no slips */
	setenv("SHMEM_DEBUG", "1", 1);
	settings_check_names(note_warning, &warnings);
	EXPECT(warnings.count == 0, "warned of %s", warnings.name);

	/* A folder is a module file's; anything else is a slip. */
	setenv("SHMEM_PATH", "/opt/shmem/bin", 1);
	settings_check_names(note_warning, &warnings);
	EXPECT(warnings.count == 0, "warned of %s", warnings.name);
	setenv("SHMEM_PATH", "ucx", 1);
	settings_check_names(note_warning, &warnings);
	EXPECT(warnings.count == 1 && !strcmp(warnings.nearest, "SHMEM_PATHS"), "%d warnings, nearest %s",
	       warnings.count, warnings.nearest);
	unsetenv("SHMEM_PATH");
	memset(&warnings, 0, sizeof warnings);

	setenv("SHMEM_SYMETRIC_SIZE", "1m", 1);
	settings_check_names(note_warning, &warnings);
	EXPECT(warnings.count == 1, "%d warnings", warnings.count);
	EXPECT(!strcmp(warnings.name, "SHMEM_SYMETRIC_SIZE"), "%s", warnings.name);
	EXPECT(!strcmp(warnings.nearest, "SHMEM_SYMMETRIC_SIZE"), "%s", warnings.nearest);
	unsetenv("SHMEM_SYMETRIC_SIZE");

	memset(&warnings, 0, sizeof warnings);
	setenv("SHMEM_QQQQQQQQQ", "1", 1);
	settings_check_names(note_warning, &warnings);
	EXPECT(warnings.count == 1 && !strcmp(warnings.nearest, "-"), "%d warnings, nearest %s", warnings.count,
	       warnings.nearest);
	unsetenv("SHMEM_QQQQQQQQQ");
	unsetenv("SHMEM_DEBUG");
	unsetenv("SHMEM_CC");
}

/* The runner's own settings must not disturb. */
static void clear_environment(void)
{
	extern char **environ;
	char name[256];

	for (char **entry = environ; *entry;) {
		size_t length = strcspn(*entry, "=");

		if (strncmp(*entry, "SHMEM_", 6) || length >= sizeof name) {
			entry++;
			continue;
		}
		memcpy(name, *entry, length);
		name[length] = '\0';
		unsetenv(name);
	}
}

int main(void)
{
	clear_environment();
	check_table();
	check_origin();
	check_values();
	check_possible_values();
	check_names();
	return unit_failures > 0;
}
