/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What PE 0 prints at the job's start: warnings about settings that do not exist; with SHMEM_INFO,
 * one screen of what the job found and the settings it changes. The standard wants help for its own
 * settings there; oshinfo and oshmem(7) have it for all.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "api.h"
#include "comms/core/globals.h"
#include "comms/gpu/gpu.h"
#include "comms/observe/cables.h"
#include "comms/nodes/costs.h"
#include "comms/nodes/job_torus.h"
#include "comms/torus/disjoint_trees.h"
#include "rte/settings.h"
#include "rte/text/text.h"
#include "shmem/gpu/gpu.h"

enum { SCREEN_COLUMNS = 80, HELP_COLUMN = 24 };

static void warn_of_setting(const char *name, const char *nearest, void *unused)
{
	(void)unused;
	if (nearest)
		rte_report(NULL, "warning: no setting is called %s; did you mean %s? (oshinfo lists them)", name,
			   nearest);
	else
		rte_report(NULL, "warning: no setting is called %s (oshinfo lists them)", name);
}

/* A text that begins at a column of its line and continues there. */
static void print_at(int column, const char *text)
{
	for (;;) {
		size_t fit = text_fit(text, (size_t)(SCREEN_COLUMNS - column));

		printf("%.*s\n", (int)fit, text);
		text += fit;
		text += strspn(text, " ");
		if (!*text)
			return;
		printf("%*s", column, "");
	}
}

/* One fact, with continuation lines below. */
__attribute__((format(printf, 2, 3))) static void print_fact(const char *name, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	print_at(printf("%s: ", name), text);
}

/* The cables of this node whose faults would be noticed. */
static void print_watched(const struct torus_job *job)
{
	bool wanted = true, any = false;

	setting_bool(SETTING_TORUS_FAULTS, &wanted);
	for (int d = 0; wanted && d < TORUS_DIRECTIONS; d++) {
		if (!cables_watched(d))
			continue;
		printf("%s%s", any ? ", " : "  collectives check the cables, here at ports ", job->port[d]);
		any = true;
	}
	if (any)
		puts("");
}

static void print_torus(void)
{
	const struct torus_job *job = comms_ensure_torus();
	char shape[TORUS_TEXT], machine[TORUS_TEXT], text[TORUS_SPREAD_TEXT];
	struct torus_spread spread;

	print_fact("Torus", "%s, from %s%s", torus_shape_text(&job->sites.shape, shape), torus_source_text(job->source),
		   torus_job_logical(job) ? " (logical: their cabling is unknown)" : "");
	if (job->sites.nodes < job->machine.places)
		printf("  %d of the %d places of %s\n", job->sites.nodes, job->machine.places,
		       torus_shape_text(&job->machine, machine));
	print_watched(job);
	if (job->sites.share)
		printf("  with cables that are dead or slow\n");
	if (job->sites.nodes > 1 && !torus_job_logical(job))
		printf("  %d trees lead from PE 0's node to all others, no two of them over one link\n",
		       torus_trees_left(&job->sites, torus_job_place(job, 0)));
	if (job->sites.nodes > 1 && torus_spread_find(&spread, &job->sites)) {
		printf("  hops between nodes: %.2f on average; %s\n", spread.mean, torus_spread_text(&spread, text));
		torus_spread_free(&spread);
	}
}

/* Settings that differ from the default, as many per line as fit. */
static void print_changed_settings(void)
{
	int column = printf("Settings:"), changed = 0, defaults = 0;

	for (int i = 0; i < SETTING_COUNT; i++) {
		const char *name = settings_table[i].name, *value = setting_shown((enum setting_id)i);
		int width = (int)(strlen(name) + strlen(value)) + 2;

		if (!setting_given((enum setting_id)i)) {
			defaults += settings_table[i].reader != DEBUGGING;
			continue;
		}
		if (column + width > SCREEN_COLUMNS && changed)
			column = printf("\n         ") - 1;
		column += printf(" %s=%s", name, value);
		changed++;
	}
	printf("\n%d settings have their defaults; oshinfo --settings --all describes all\n", defaults);
}

static void print_help(enum setting_id id)
{
	printf("  %-*s", HELP_COLUMN - 2, settings_table[id].name);
	print_at(HELP_COLUMN, settings_table[id].help);
}

/*
 * A PE of this host that cannot map the memory of this one, as in a container of its own: one that
 * the user may have expected to reach by load and store. -1: none.
 */
static int first_apart(void)
{
	char own[256], name[256];

	if (!rte_start_source() || !rte_host(comms.pe, own, sizeof own))
		return -1;
	for (int pe = 0; pe < comms.n_pes; pe++)
		if (!rte_is_local(pe) && rte_host(pe, name, sizeof name) && !strcmp(name, own))
			return pe;
	return -1;
}

static void print_info(void)
{
	char heap[32], gpu[160], costs[COMMS_COSTS_TEXT];
	int apart = first_apart();

	printf("torushmem %s, OpenSHMEM %d.%d\n", PACKAGE_VERSION, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
	print_fact("PEs", "%d, of which %d on this node by load and store%s%s", comms.n_pes, comms.n_node,
		   comms_network_name() ? "; others by " : "", comms_network_name() ? comms_network_name() : "");
	if (apart >= 0)
		print_fact("Apart",
			   "PE %d is on this host, but not by load and store: it has another user or process table",
			   apart);
	if (rte_start_source())
		print_fact("Start", "without a launcher, by %s", rte_start_source());
	if (comms_network_routes())
		print_fact("Cables", "%s", comms_network_routes());
	if (comms_network_connections())
		print_fact("Connections", "%s", comms_network_connections());
	if (comms_network_threads())
		print_fact("Threads", "%s", comms_network_threads());
	print_fact("Symmetric heap", "%s per PE, %s", text_size(comms.heap_size, heap), comms.pages);
	print_fact("Global data", "%zu bytes, %s%s", globals.size, globals.why_private ? "private: " : "shared",
		   globals.why_private ? globals.why_private : "");
	if (api_gpu_is_there())
		print_fact("GPU", "%s", comms_gpu_in_words(gpu, sizeof gpu));
	print_fact("Costs of messages", "%s", comms_costs_in_words(costs));
	print_torus();
	print_changed_settings();
	print_help(SETTING_VERSION);
	print_help(SETTING_INFO);
	print_help(SETTING_SYMMETRIC_SIZE);
	print_help(SETTING_DEBUG);
	fflush(stdout);
}

void api_print_start(void)
{
	if (comms.pe != 0)
		return;
	settings_check_names(warn_of_setting, NULL);
	if (setting_given(SETTING_INFO)) {
		print_info();
	} else if (setting_given(SETTING_VERSION)) {
		printf("torushmem %s, OpenSHMEM %d.%d\n", PACKAGE_VERSION, SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
		fflush(stdout);
	}
}
