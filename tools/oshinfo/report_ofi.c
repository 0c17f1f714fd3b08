/* SPDX-License-Identifier: BSD-3-Clause */
/* Networks through libfabric: whether support is built in, and this machine's providers. */
#include "report.h"

#if HAVE_OFI

#include <stdio.h>
#include <string.h>

#include <rdma/fi_domain.h>

#include "comms/net/ofi/ofi_library.h"
#include "rte/settings.h"

static bool is_of(const struct fi_info *info, const char *provider, const char *device)
{
	return !strcmp(info->fabric_attr->prov_name, provider) && (!device || !strcmp(info->domain_attr->name, device));
}

/* Does the list already contain this provider and device? */
static bool is_reported(const struct fi_info *first, const struct fi_info *info, bool device)
{
	for (; first != info; first = first->next)
		if (is_of(first, info->fabric_attr->prov_name, device ? info->domain_attr->name : NULL))
			return true;
	return false;
}

static void report_provider(struct report *report, const struct fi_info *first, const char *provider, int number)
{
	char devices[256] = "", key[32];
	size_t used = 0;

	for (const struct fi_info *info = first; info && used < sizeof devices; info = info->next)
		if (is_of(info, provider, NULL) && !is_reported(first, info, true))
			used += (size_t)snprintf(devices + used, sizeof devices - used, "%s%s", used ? ", " : "",
						 info->domain_attr->name);
	snprintf(key, sizeof key, "provider.%d", number);
	report_fact(report, key, "provider", "%s (%s)", provider, devices);
}

void report_ofi(struct report *report)
{
	char problem[OFI_PROBLEM];
	struct fi_info *providers = ofi_providers(problem);
	uint32_t version;
	int number = 0;

	report_section(report, "ofi", "libfabric");
	if (!providers) {
		report_fact(report, "path", "path", "no: %s", problem);
		return;
	}
	version = ofi_library.version();
	report_fact(report, "library", "library", "libfabric %u.%u", FI_MAJOR(version), FI_MINOR(version));
	if (strstr(setting_text(SETTING_PATHS), "ofi"))
		report_fact(report, "path", "path", "yes, by %s", providers->fabric_attr->prov_name);
	else
		report_fact(report, "path", "path", "could be used, by %s; name it: SHMEM_PATHS=local,ofi",
			    providers->fabric_attr->prov_name);
	for (const struct fi_info *info = providers; info; info = info->next)
		if (!is_reported(providers, info, false))
			report_provider(report, providers, info->fabric_attr->prov_name, number++);
	ofi_library.freeinfo(providers);
}

#else

void report_ofi(struct report *report)
{
	report_section(report, "ofi", "libfabric");
	report_fact(report, "path", "path",
		    "no: this library was configured --without-ofi, or without libfabric's headers");
}

#endif
