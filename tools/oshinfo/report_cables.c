/* SPDX-License-Identifier: BSD-3-Clause */
/* The path over cables: when jobs take it. */
#include "report.h"

#include <string.h>

#include "rte/settings.h"

void report_cables(struct report *report)
{
	report_section(report, "cables", "Cables without forwarding");
	if (!strstr(setting_text(SETTING_PATHS), "cables"))
		report_fact(report, "path", "path", "could be used, but SHMEM_PATHS=%s leaves it out",
			    setting_text(SETTING_PATHS));
	else
		report_fact(report, "path", "path",
			    "yes, if the shape file has cable statements (torusplan discover writes them)");
}
