/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "rte/text/text.h"

extern char **environ;

const struct setting settings_table[SETTING_COUNT] = {
#define SETTING(id, name, old_name, fallback, reader, values, help) {name, old_name, fallback, values, help, reader},
#include "settings.def"
#undef SETTING
};

/*
 * SHMEM_ names that build systems, test suites and module files set; neither settings nor typing
 * errors.
 */
static const char *const foreign_names[] = {
	"SHMEM_CC",   "SHMEM_CXX", "SHMEM_FC",	   "SHMEM_CFLAGS",	"SHMEM_CXXFLAGS", "SHMEM_LDFLAGS", "SHMEM_LIBS",
	"SHMEM_HOME", "SHMEM_DIR", "SHMEM_PREFIX", "SHMEM_INSTALL_DIR", "SHMEM_INC",	  "SHMEM_LIB",
};

/* Module files set this to a folder. Any other value is a misspelt SHMEM_PATHS. */
static const char foreign_folder[] = "SHMEM_PATH";

static const char *environment_value(const struct setting *s, bool *old)
{
	const char *value = getenv(s->name);

	*old = false;
	if (!value && s->old_name) {
		value = getenv(s->old_name);
		*old = value != NULL;
	}
	return value;
}

const char *setting_text(enum setting_id id)
{
	bool old;
	const char *value = environment_value(&settings_table[id], &old);

	return value ? value : settings_table[id].fallback;
}

const char *setting_shown(enum setting_id id)
{
	const char *value = setting_text(id);

	return id == SETTING_SECRET && value[0] ? "(hidden)" : value;
}

bool setting_given(enum setting_id id)
{
	bool old;

	return environment_value(&settings_table[id], &old) != NULL;
}

const char *setting_origin(enum setting_id id)
{
	bool old;

	if (!environment_value(&settings_table[id], &old))
		return "default";
	return old ? settings_table[id].old_name : "environment";
}

bool setting_bool(enum setting_id id, bool *value)
{
	static const char *const yes[] = {"yes", "on", "true", "1", "y"};
	static const char *const no[] = {"no", "off", "false", "0", "n"};
	const char *text = setting_text(id);

	for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
		if (!strcasecmp(text, yes[i])) {
			*value = true;
			return true;
		}
		if (!strcasecmp(text, no[i])) {
			*value = false;
			return true;
		}
	}
	return false;
}

bool setting_number(enum setting_id id, long *value)
{
	const char *text = setting_text(id);
	char *end;

	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	*value = strtol(text, &end, 10);
	return *end == '\0' && errno == 0;
}

bool setting_size(enum setting_id id, size_t *bytes)
{
	return text_parse_size(setting_text(id), bytes);
}

static int place_of_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	for (int place = 0; *list; place++) {
		size_t next = strcspn(list, "|");

		if (next == length && !strncasecmp(list, word, length))
			return place;
		list += next + (list[next] == '|');
	}
	return -1;
}

int setting_choice(enum setting_id id)
{
	const char *values = settings_table[id].values;
	int place = place_of_word(values, setting_text(id));
	bool yes;

	if (place < 0 && setting_bool(id, &yes))
		place = place_of_word(values, yes ? "yes" : "no");
	return place;
}

/* The alternative that is a number, which comes last; NULL: none. */
static const char *number_in(const char *values)
{
	return strstr(values, "number of ");
}

static bool is_size(const char *values)
{
	return !strncmp(values, "size of", 7);
}

/* The limit in "number of events, at least 1" or "number of seconds, at most 3". */
static bool is_in_range(const char *values, long number)
{
	const char *least = strstr(values, ", at least "), *most = strstr(values, ", at most ");

	return (!least || number >= atol(least + strlen(", at least "))) &&
	       (!most || number <= atol(most + strlen(", at most ")));
}

bool setting_is_possible(enum setting_id id)
{
	const char *values = settings_table[id].values;
	size_t bytes;
	long number;

	if (!values[0])
		return true;
	if (is_size(values))
		return setting_size(id, &bytes);
	if (number_in(values) && setting_number(id, &number))
		return is_in_range(values, number);
	return setting_choice(id) >= 0;
}

const char *setting_values(enum setting_id id, char *text, size_t size)
{
	const char *values = settings_table[id].values;
	size_t used = 0;

	if (is_size(values)) {
		snprintf(text, size, "a number with an optional k, m, g or t, as in 512m");
		return text;
	}
	while (*values && used < size) {
		size_t length = strcspn(values, "|");
		const char *next = values + length + (values[length] == '|');

		used += (size_t)snprintf(text + used, size - used, "%s%.*s%s", values == number_in(values) ? "a " : "",
					 (int)length, values,
					 !*next		     ? ""
					 : strchr(next, '|') ? ", "
							     : " or ");
		values = next;
	}
	return text;
}

static bool is_known(const char *name, const char *value)
{
	for (int i = 0; i < SETTING_COUNT; i++)
		if (!strcmp(name, settings_table[i].name) ||
		    (settings_table[i].old_name && !strcmp(name, settings_table[i].old_name)))
			return true;
	for (size_t i = 0; i < sizeof foreign_names / sizeof foreign_names[0]; i++)
		if (!strcmp(name, foreign_names[i]))
			return true;
	return !strcmp(name, foreign_folder) && value[0] == '/';
}

void settings_check_names(void (*warn)(const char *name, const char *nearest, void *arg), void *arg)
{
	const char *names[SETTING_COUNT];

	for (int i = 0; i < SETTING_COUNT; i++)
		names[i] = settings_table[i].name;
	for (char **entry = environ; entry && *entry; entry++) {
		const char *equals = strchr(*entry, '=');
		char name[64];
		size_t length = equals ? (size_t)(equals - *entry) : 0;

		if (strncmp(*entry, "SHMEM_", 6) || length == 0 || length >= sizeof name)
			continue;
		memcpy(name, *entry, length);
		name[length] = '\0';
		if (!is_known(name, equals + 1))
			warn(name, text_nearest(name, names, SETTING_COUNT), arg);
	}
}
