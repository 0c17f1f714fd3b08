/* SPDX-License-Identifier: BSD-3-Clause */
/* The Tofu path: whether support is built in, and the libraries that it would load. */
#include "report.h"

#if HAVE_TOFU

#include <string.h>

#include "comms/net/tofu/tofu_library.h"
#include "rte/settings.h"

void report_tofu(struct report *report)
{
	char problem[TOFU_PROBLEM];
	int major = 0, minor = 0;

	report_section(report, "tofu", "Tofu");
	if (!tofu_library_load(problem)) {
		report_fact(report, "path", "path", "no: %s", problem);
		return;
	}
	utofu.query_utofu_version(&major, &minor);
	report_fact(report, "library", "library", "uTofu %d.%d, %s", major, minor, tofu_library_file());
	if (!strstr(setting_text(SETTING_PATHS), "tofu"))
		report_fact(report, "path", "path", "could be used, but SHMEM_PATHS=%s leaves it out",
			    setting_text(SETTING_PATHS));
	else
		report_fact(report, "path", "path",
			    "yes, if the launcher publishes the PEs' places in the network (fjpmix.rankmap; "
			    "oshrun: SOFTOFU_SHAPE)");
}

#else

void report_tofu(struct report *report)
{
	report_section(report, "tofu", "Tofu");
	report_fact(report, "path", "path", "no: this library was configured --without-tofu");
}

#endif
