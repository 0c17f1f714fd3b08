/* SPDX-License-Identifier: BSD-3-Clause */
/* How this torushmem was built, and the libraries used then and now. */
#include <hwloc.h>
#include <pmix.h>
#include <pmix_version.h>
#include <stdio.h>
#include <string.h>
#include <ucp/api/ucp.h>
#include <ucp/api/ucp_version.h>

#include "report.h"

static void report_place(struct report *report)
{
	char folder[4096];

	report_fact(report, "prefix", "prefix", "%s", BUILD_PREFIX);
	report_fact(report, "libdir", "libraries", "%s", BUILD_LIBDIR);
	if (own_folder(folder, sizeof folder) && strcmp(folder, BUILD_BINDIR))
		report_fact(report, "running_from", "running from", "%s", folder);
}

/*
 * PMIx answers with a sentence: "OpenPMIx 4.2.2rc2, repo rev: ...(PMIx Standard: ...)". Its version
 * is its second word.
 */
static void pmix_version(char *version, size_t size)
{
	const char *text = PMIx_Get_version();
	const char *digits = text + strcspn(text, "0123456789");

	snprintf(version, size, "%.*s", (int)strcspn(digits, ", ("), digits);
}

static void report_ucx_threads(struct report *report)
{
	ucp_lib_attr_t attributes = {.field_mask = UCP_LIB_ATTR_FIELD_MAX_THREAD_LEVEL};

	if (ucp_lib_query(&attributes) != UCS_OK)
		return;
	report_fact(report, "ucx_threads", "UCX threads", "%s",
		    attributes.max_thread_level == UCS_THREAD_MODE_MULTI
			    ? "yes"
			    : "no: it was built without --enable-mt, so only one thread at a time can call it");
}

static void report_libraries(struct report *report)
{
	char version[64];
	unsigned hwloc = hwloc_get_api_version();

	report_fact(report, "ucx", "UCX", "built with %d.%d, running %s", UCP_API_MAJOR, UCP_API_MINOR,
		    ucp_get_version_string());
	report_ucx_threads(report);
	pmix_version(version, sizeof version);
	report_fact(report, "pmix", "PMIx", "built with %ld.%ld.%ld, running %s", PMIX_VERSION_MAJOR,
		    PMIX_VERSION_MINOR, PMIX_VERSION_RELEASE, version);
	report_fact(report, "hwloc", "hwloc", "built with %d.%d.%d, running %u.%u.%u", HWLOC_API_VERSION >> 16,
		    HWLOC_API_VERSION >> 8 & 0xff, HWLOC_API_VERSION & 0xff, hwloc >> 16, hwloc >> 8 & 0xff,
		    hwloc & 0xff);
}

void report_build(struct report *report)
{
	report_section(report, "build", "Build");
	report_fact(report, "configure", "configured as", "configure%s", CONFIGURE_ARGS);
	report_fact(report, "compiler", "compiler", "%s, version %s", CONFIGURE_CC, __VERSION__);
	report_place(report);
	report_libraries(report);
}
