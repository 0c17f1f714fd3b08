/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RTE_SETTINGS_H
#define RTE_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

/* The settings of settings.def: a name, a value, where the value came from. Read from the environment. */

enum setting_reader { LIBRARY, OSHRUN };

enum setting_id {
#define SETTING(id, name, old_name, fallback, reader, values, help) SETTING_##id,
#include "settings.def"
#undef SETTING
	SETTING_COUNT
};

struct setting {
	const char *name;
	const char *old_name; /* deprecated spelling, NULL if there is none; the new one wins */
	const char *fallback;
	const char *values; /* that are possible, see settings.def */
	const char *help;
	enum setting_reader reader;
};

extern const struct setting settings_table[SETTING_COUNT];

/* The value in force: from the environment, else the default. Never NULL. */
const char *setting_text(enum setting_id id);

/* Was it given in the environment (by either spelling)? An empty value counts as given. */
bool setting_given(enum setting_id id);

/* "environment" (with the spelling used when it is the old one) or "default". */
const char *setting_origin(enum setting_id id);

/* yes/no, on/off, true/false, 1/0 in any case. False return: the text is none of these. */
bool setting_bool(enum setting_id id, bool *value);

/* The place of the value among the words of its row (any case); -1 if it is none of them. */
int setting_choice(enum setting_id id);

/* A non-negative whole number. False return: the text is not one, or is too large. */
bool setting_number(enum setting_id id, long *value);

/* A number of bytes, as text_parse_size reads it: "512m". False return: the text is not one. */
bool setting_size(enum setting_id id, size_t *bytes);

/* Can the row's list of values hold it? Of a row without a list anything is possible. */
bool setting_is_possible(enum setting_id id);

/* What is possible in words, "auto, yes or no", into a buffer that is returned. */
const char *setting_values(enum setting_id id, char *text, size_t size);

/*
 * Calls warn(name, nearest, arg) for each SHMEM_* name in the environment that no row above knows
 * (nearest is NULL if nothing is close). Names that other tools use (SHMEM_CC, SHMEM_HOME, ...) are passed over.
 */
void settings_check_names(void (*warn)(const char *name, const char *nearest, void *arg), void *arg);

#endif
