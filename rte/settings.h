/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_SETTINGS_H
#define RTE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The settings of settings.def, read from the environment: a name, a value, the origin of the
 * value.
 */

enum setting_reader { LIBRARY, OSHRUN, DEBUGGING };

enum setting_id {
#define SETTING(id, name, old_name, fallback, reader, values, help) SETTING_##id,
#include "settings.def"
#undef SETTING
	SETTING_COUNT
};

struct setting {
	const char *name;
	/* Deprecated spelling, NULL if there is none; if both are set, the new one counts. */
	const char *old_name;
	const char *fallback;
	const char *values; /* possible ones, see settings.def */
	const char *help;
	enum setting_reader reader;
};

extern const struct setting settings_table[SETTING_COUNT];

/* The value in force: from the environment, otherwise the default. Never NULL. */
const char *setting_text(enum setting_id id);

/* The same for what people read: it hides a secret. */
const char *setting_shown(enum setting_id id);

/* Was it given in the environment (by either spelling)? An empty value counts as given. */
bool setting_given(enum setting_id id);

/* "environment" (with the spelling if it is the old one) or "default". */
const char *setting_origin(enum setting_id id);

/* Reads yes/no, on/off, true/false, 1/0 in any case. Returns false for any other text. */
bool setting_bool(enum setting_id id, bool *value);

/* The index of the value among the words of its row (any case); -1: none of them. */
int setting_choice(enum setting_id id);

/* Reads a non-negative whole number. Returns false for any other text, or if it is too large. */
bool setting_number(enum setting_id id, long *value);

/* Reads a number of bytes as text_parse_size does: "512m". Returns false for any other text. */
bool setting_size(enum setting_id id, size_t *bytes);

/* Is the value allowed by the row's list? A row without a list allows any. */
bool setting_is_possible(enum setting_id id);

/* Writes the allowed values, "auto, yes or no", into a buffer, which it returns. */
const char *setting_values(enum setting_id id, char *text, size_t size);

/*
 * Calls warn(name, nearest, arg) for each SHMEM_* name in the environment that is no row (nearest
 * is NULL if no row is similar). Ignores names that other tools use (SHMEM_CC, SHMEM_HOME, ...).
 */
void settings_check_names(void (*warn)(const char *name, const char *nearest, void *arg), void *arg);

#endif
