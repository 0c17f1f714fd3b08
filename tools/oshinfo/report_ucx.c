/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The transports and devices that UCX sees, by its public uct calls, and why a well-known one is
 * missing.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uct/api/uct.h>

#include "report.h"
#include "rte/settings.h"

#define MOST 128

struct transport {
	char name[UCT_TL_NAME_MAX];
	char device[UCT_DEVICE_NAME_MAX];
	char component[UCT_COMPONENT_NAME_MAX];
};

struct found {
	struct transport transports[MOST];
	int count;
	char components[MOST][UCT_COMPONENT_NAME_MAX];
	int component_count;
};

/* --- Quiet: UCX prints to standard output and standard error while it searches --- */

struct quiet {
	int out, err;
};

static struct quiet quiet_begin(void)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct quiet quiet = {-1, -1};

	fflush(stdout);
	if (null < 0)
		return quiet;
	quiet.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	quiet.err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	close(null);
	return quiet;
}

static void restore(int saved, int fd)
{
	if (saved < 0)
		return;
	dup2(saved, fd);
	close(saved);
}

static void quiet_end(struct quiet quiet)
{
	fflush(stdout);
	restore(quiet.out, STDOUT_FILENO);
	restore(quiet.err, STDERR_FILENO);
}

/* --- Find --- */

static void visit_transports(struct found *found, const char *component, uct_md_h md)
{
	uct_tl_resource_desc_t *list;
	unsigned count;

	if (uct_md_query_tl_resources(md, &list, &count) != UCS_OK)
		return;
	for (unsigned i = 0; i < count && found->count < MOST; i++) {
		struct transport *transport = &found->transports[found->count++];

		snprintf(transport->name, sizeof transport->name, "%s", list[i].tl_name);
		snprintf(transport->device, sizeof transport->device, "%s", list[i].dev_name);
		snprintf(transport->component, sizeof transport->component, "%s", component);
	}
	uct_release_tl_resource_list(list);
}

static void visit_domain(struct found *found, uct_component_h component, const char *name, const char *domain)
{
	uct_md_config_t *config;
	uct_md_h md;

	if (uct_md_config_read(component, NULL, NULL, &config) != UCS_OK)
		return;
	if (uct_md_open(component, domain, config, &md) == UCS_OK) {
		visit_transports(found, name, md);
		uct_md_close(md);
	}
	uct_config_release(config);
}

static void visit_component(struct found *found, uct_component_h component)
{
	uct_component_attr_t attributes = {.field_mask = UCT_COMPONENT_ATTR_FIELD_NAME |
							 UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT};

	if (uct_component_query(component, &attributes) != UCS_OK)
		return;
	if (found->component_count < MOST)
		strcpy(found->components[found->component_count++], attributes.name);
	if (!attributes.md_resource_count)
		return;
	attributes.md_resources = calloc(attributes.md_resource_count, sizeof *attributes.md_resources);
	attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
	if (attributes.md_resources && uct_component_query(component, &attributes) == UCS_OK)
		for (unsigned i = 0; i < attributes.md_resource_count; i++)
			visit_domain(found, component, attributes.name, attributes.md_resources[i].md_name);
	free(attributes.md_resources);
}

static bool find_transports(struct found *found)
{
	uct_component_h *components;
	unsigned count;

	if (uct_query_components(&components, &count) != UCS_OK)
		return false;
	for (unsigned i = 0; i < count; i++)
		visit_component(found, components[i]);
	uct_release_component_list(components);
	return true;
}

/* --- Report --- */

static bool folder_is_empty(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	bool empty = true;

	while (folder && (entry = readdir(folder)))
		empty = empty && entry->d_name[0] == '.';
	if (folder)
		closedir(folder);
	return empty;
}

static bool has_component(const struct found *found, const char *name)
{
	for (int i = 0; i < found->component_count; i++)
		if (!strcmp(found->components[i], name))
			return true;
	return false;
}

static bool has_transport_of(const struct found *found, const char *component)
{
	for (int i = 0; i < found->count; i++)
		if (!strcmp(found->transports[i].component, component))
			return true;
	return false;
}

static const char *why_missing(const struct found *found, const char *component)
{
	bool network = !strcmp(component, "ib");

	if (!has_component(found, component))
		return "no: this UCX has no such module, or it does not load";
	if (network && folder_is_empty("/sys/class/infiniband"))
		return "no: no device (/sys/class/infiniband is empty or absent)";
	if (network && access("/dev/infiniband", R_OK | X_OK))
		return "no: there is a device, but /dev/infiniband cannot be read";
	if (!strcmp(component, "xpmem") && access("/dev/xpmem", F_OK))
		return "no: no /dev/xpmem";
	if (!strcmp(component, "knem") && access("/dev/knem", F_OK))
		return "no: no /dev/knem";
	return "no: UCX finds no device for it";
}

/* One line per transport with all its devices. */
static void report_transport(struct report *report, const struct found *found, int first)
{
	const char *name = found->transports[first].name;
	char devices[1024] = "";
	size_t length = 0;

	for (int i = 0; i < first; i++)
		if (!strcmp(found->transports[i].name, name))
			return;
	for (int i = first; i < found->count && length < sizeof devices; i++)
		if (!strcmp(found->transports[i].name, name))
			length += (size_t)snprintf(devices + length, sizeof devices - length, "%s%s",
						   length ? ", " : "", found->transports[i].device);
	report_fact(report, name, name, "yes: %s", devices);
}

void report_ucx(struct report *report)
{
	/* The transports that users ask about most, always; the others only in the long form. */
	static const char *const asked[] = {"tcp", "ib", "cma", "xpmem", "knem", "rdmacm", "cuda_cpy", "rocm_cpy"};
	static struct found found;
	struct quiet quiet = quiet_begin();
	bool looked = find_transports(&found);

	quiet_end(quiet);
	report_section(report, "ucx", "UCX transports");
	if (!looked) {
		report_fact(report, "state", "state", "no: UCX cannot list its components");
		return;
	}
	for (int i = 0; i < found.count; i++)
		report_transport(report, &found, i);
	for (size_t i = 0; i < (report->all ? sizeof asked / sizeof asked[0] : 2); i++)
		if (!has_transport_of(&found, asked[i]))
			report_fact(report, asked[i], asked[i], "%s", why_missing(&found, asked[i]));
	if (!strstr(setting_text(SETTING_PATHS), "ucx"))
		report_note(report, "state", "SHMEM_PATHS=%s leaves UCX out", setting_text(SETTING_PATHS));
}
