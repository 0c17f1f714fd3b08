/* SPDX-License-Identifier: BSD-3-Clause */
/* The settings in force, where each value comes from, and names in the environment that nobody reads. */
#include "rte/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

extern char **environ;

static void report_setting(struct report *report, enum setting_id id)
{
	const struct setting *setting = &settings_table[id];
	char key[96], values[128];

	if (!report->parsable) {
		char label[64];

		snprintf(label, sizeof label, "%-22s", setting->name);
		report_fact(report, "", label, "%-12s %s", *setting_text(id) ? setting_text(id) : "-",
			    setting_origin(id));
		if (report->all)
			printf("      %s%s%s\n", setting->help, setting->values[0] ? "; value: " : "",
			       setting->values[0] ? setting_values(id, values, sizeof values) : "");
		return;
	}
	snprintf(key, sizeof key, "%s.value", setting->name);
	report_fact(report, key, "", "%s", setting_text(id));
	snprintf(key, sizeof key, "%s.origin", setting->name);
	report_fact(report, key, "", "%s", setting_origin(id));
	if (report->all) {
		snprintf(key, sizeof key, "%s.help", setting->name);
		report_fact(report, key, "", "%s", setting->help);
		snprintf(key, sizeof key, "%s.values", setting->name);
		report_fact(report, key, "", "%s",
			    setting->values[0] ? setting_values(id, values, sizeof values) : "any");
	}
}

static void report_unknown(const char *name, const char *nearest, void *arg)
{
	struct report *report = arg;

	if (report->parsable)
		report_fact(report, "unknown", "", "%s", name);
	else if (nearest)
		printf("  %s is set, but no setting has this name; did you mean %s?\n", name, nearest);
	else
		printf("  %s is set, but no setting has this name\n", name);
}

/* UCX and PMIx read the environment too; what is set there explains many a surprise. */
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

void report_settings(struct report *report)
{
	report_section(report, "settings", "Settings");
	for (int i = 0; i < SETTING_COUNT; i++)
		report_setting(report, (enum setting_id)i);
	settings_check_names(report_unknown, report);
	report_foreign(report);
}
