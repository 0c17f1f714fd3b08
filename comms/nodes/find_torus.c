/* SPDX-License-Identifier: BSD-3-Clause */
#include "find_torus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nodes.h"
#include "comms/core/comms.h"
#include "comms/core/peers.h"
#include "comms/torus/slurm/slurm.h"
#include "rte/text/arguments.h"
#include "rte/host/ports.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "rte/host/slurm_queries.h"
#include "rte/host/torus_cache.h"

#define HOST_NAME 256

enum { DISCOVER_AUTO, DISCOVER_YES, DISCOVER_NO }; /* in the order of the setting's words */

/* Should PE 0 search? No if a setting or the launcher gives a shape. The same on all PEs. */
static bool torus_is_sought(void)
{
	return rte.several_hosts && comms.node_size == 0 && !comms.map &&
	       setting_choice(SETTING_TORUS_DISCOVER) != DISCOVER_NO && !setting_text(SETTING_TORUS)[0] &&
	       !setting_text(SETTING_TORUS_FILE)[0] && !getenv(RTE_TORUS_FOUND);
}

/* --- Hosts --- */

/* The hosts of the job, in the order of its nodes. One or two hosts need no torus. */
static bool list_hosts(struct arguments *hosts)
{
	int *node_of = malloc((size_t)comms.n_pes * sizeof *node_of);
	int nodes = node_of ? comms_nodes(node_of) : 0;
	char name[HOST_NAME];
	bool known = nodes > 2;

	for (int pe = 0; known && pe < comms.n_pes; pe++) {
		if (node_of[pe] < (int)hosts->count)
			continue;
		known = rte_host(pe, name, sizeof name);
		if (known)
			arguments_add(hosts, "%s", name);
	}
	free(node_of);
	return known;
}

/*
 * --- The sources. Each returns a shape file in one line, which the caller frees; NULL: it has none
 * for these hosts. ---
 */

static bool line_has_all(const char *line, const void *argument)
{
	const struct arguments *hosts = argument;
	struct torus_file file;
	bool all;

	if (!torus_file_read_line(&file, line))
		return false;
	all = true;
	for (size_t i = 0, h = 0; all && i < hosts->count; i++) {
		int number = torus_file_host(&file, hosts->list[i], (int)h);

		all = number >= 0 && number < file.hosts;
		h = (size_t)number + 1;
	}
	torus_file_free(&file);
	return all;
}

static char *find_in_cache(const struct arguments *hosts)
{
	if (setting_choice(SETTING_TORUS_DISCOVER) == DISCOVER_AUTO && !ports_cabled())
		return NULL;
	return torus_cache_search(line_has_all, hosts);
}

static char *find_in_slurm(const struct arguments *hosts)
{
	char *conf = slurm_file("slurm.conf"), *line = NULL;
	char *nodes = conf && slurm_plugin(conf) == SLURM_3D_TORUS ? slurm_nodes() : NULL;

	if (nodes)
		line = slurm_torus(nodes, hosts->list, hosts->count);
	free(nodes);
	free(conf);
	return line;
}

static char *find_in_slurm_blocks(const struct arguments *hosts)
{
	char *conf = slurm_file("slurm.conf"), *line = NULL;
	char *topology = conf && slurm_plugin(conf) == SLURM_BLOCK ? slurm_file("topology.conf") : NULL;

	if (topology)
		line = slurm_blocks(topology, hosts->list, hosts->count);
	free(topology);
	free(conf);
	return line;
}

/* In this order. */
static const struct {
	enum torus_source source;
	char *(*find)(const struct arguments *hosts);
} finders[] = {
	{TORUS_FROM_CACHE, find_in_cache},
	{TORUS_FROM_SLURM, find_in_slurm},
	{TORUS_FROM_BLOCKS, find_in_slurm_blocks},
};

char *comms_find_torus(void)
{
	struct arguments hosts = {0};
	char *line = NULL, *text = NULL;
	size_t i = 0, size;

	if (torus_is_sought() && list_hosts(&hosts))
		while (i < sizeof finders / sizeof finders[0] && !(line = finders[i].find(&hosts)))
			i++;
	size = line ? strlen(line) + 16 : 0;
	text = line ? malloc(size) : NULL;
	if (text)
		snprintf(text, size, "%d %s", (int)finders[i].source, line);
	free(line);
	arguments_free(&hosts);
	return text;
}

/* Disabled by default in large jobs, in which each PE would ask PE 0's host for it. */
void comms_read_found_torus(void)
{
	if (torus_is_sought() && (rte.has_all_infos || setting_choice(SETTING_TORUS_DISCOVER) == DISCOVER_YES))
		comms.torus_found = peers_torus();
}

const char *comms_found_torus(enum torus_source source)
{
	const char *text = comms.torus_found;

	return text && atoi(text) == (int)source ? strchr(text, ' ') + 1 : NULL;
}
