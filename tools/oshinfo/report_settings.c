/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings in force, the origin of each value, and unknown names in the environment. */
#include "rte/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

extern char **environ;

static void report_unknown(const char *name, const char *nearest, void *arg)
{
	char line[256];

	snprintf(line, sizeof line, "%s is set, but no setting has this name%s%s%s", name,
		 nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
	report_item(arg, "unknown", line, name);
}

/* UCX and PMIx also read the environment, which explains many surprises. */
static void report_foreign(struct report *report)
{
	bool titled = false;

	for (char **entry = environ; entry && *entry; entry++) {
		size_t name = strcspn(*entry, "=");
		char label[64];

		if (strncmp(*entry, "UCX_", 4) && strncmp(*entry, "PMIX_MCA_", 9))
			continue;
		if (!titled)
			report_section(report, "environment", "Set for UCX and PMIx");
		titled = true;
		snprintf(label, sizeof label, "%.*s", (int)name, *entry);
		report_fact(report, label, label, "%s", *entry + name + ((*entry)[name] == '='));
	}
}

static void report_row(struct report *report, enum setting_id id)
{
	const struct setting *setting = &settings_table[id];
	char values[128];

	report_setting(report, setting->name, setting_shown(id), setting_origin(id), setting->help,
		       setting->values[0] ? setting_values(id, values, sizeof values) : "any");
}

/*
 * Those for tests and comparisons are reported where somebody has set them, and where they are
 * asked for.
 */
void report_settings(struct report *report)
{
	report_section(report, "settings", "Settings");
	for (int i = 0; i < SETTING_COUNT; i++)
		if (settings_table[i].reader != DEBUGGING || setting_given((enum setting_id)i))
			report_row(report, (enum setting_id)i);
	if (report->debug)
		report_section(report, "debugging", "Settings for tests and comparisons");
	for (int i = 0; report->debug && i < SETTING_COUNT; i++)
		if (settings_table[i].reader == DEBUGGING)
			report_row(report, (enum setting_id)i);
	settings_check_names(report_unknown, report);
	report_foreign(report);
}
