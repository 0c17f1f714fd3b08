/* SPDX-License-Identifier: BSD-3-Clause */
#include "costs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rte/rte.h"
#include "rte/settings.h"

enum { LOCAL, OTHERS = 2, PATHS = 5 };

struct path_costs {
	const char *path;
	struct torus_costs costs;
};

/* A network without a row has the costs of row OTHERS. */
static const struct path_costs usual[PATHS] = {
	/* a cache line moves to another core, and a core copies */
	[LOCAL] = {"local", {.forward = 250e-9, .handle = 100e-9, .rate = 8.2e9}},
	/* TofuD as published: latency, interval of messages, rate of a link */
	{"tofu", {.forward = 1e-6, .handle = 370e-9, .rate = 6.8e9}},
	/* the kernel's TCP over links of some 10 Gbit/s */
	[OTHERS] = {"ucx", {.forward = 20e-6, .handle = 10e-6, .rate = 1e9}},
	{"ofi", {.forward = 20e-6, .handle = 10e-6, .rate = 1e9}},
	{"cables", {.forward = 20e-6, .handle = 10e-6, .rate = 1e9}},
};

static struct {
	struct path_costs path[PATHS];
	bool given[PATHS]; /* by SHMEM_COSTS */
	int network;	   /* its position there */
	bool alone;	   /* the job has no network */
} costs;

static int find_path(const char *name)
{
	for (int i = 0; i < PATHS; i++)
		if (!strcmp(usual[i].path, name))
			return i;
	return -1;
}

static bool read_number(char **rest, double unit, double *value)
{
	char *word = strsep(rest, ":"), *end;
	long number;

	if (!word || word[0] < '0' || word[0] > '9')
		return false;
	errno = 0;
	number = strtol(word, &end, 10);
	*value = unit * (double)number;
	return *end == '\0' && errno == 0 && number > 0;
}

static bool read_path(char *text)
{
	char *name = strsep(&text, ":");
	int path = find_path(name);
	struct torus_costs *read = &costs.path[path < 0 ? LOCAL : path].costs;

	if (path < 0)
		return false;
	costs.given[path] = true;
	return read_number(&text, 1e-9, &read->forward) && read_number(&text, 1e-9, &read->handle) &&
	       read_number(&text, 1e6, &read->rate) && !text;
}

static void read_setting(void)
{
	char *copy = strdup(setting_text(SETTING_COSTS)), *rest = copy;
	bool good = copy != NULL;

	for (char *word; good && (word = strsep(&rest, ", "));)
		good = !word[0] || read_path(word);
	free(copy);
	if (!good)
		rte_die_together("shmem_init",
				 "SHMEM_COSTS=%s: give path:latency:interval:rate for one or more of local, tofu, "
				 "ucx, ofi and cables, in ns, ns and MB/s, as in ucx:20000:10000:1000",
				 setting_text(SETTING_COSTS));
}

void comms_costs_start(const char *network)
{
	int place = network ? find_path(network) : -1;

	memcpy(costs.path, usual, sizeof usual);
	memset(costs.given, 0, sizeof costs.given);
	costs.alone = network == NULL;
	costs.network = place < 0 ? OTHERS : place;
	read_setting();
}

const struct torus_costs *comms_costs_on_node(void)
{
	return &costs.path[LOCAL].costs;
}

const struct torus_costs *comms_costs_between_nodes(void)
{
	return &costs.path[costs.network].costs;
}

static int print_path(char *text, size_t room, int path)
{
	const struct torus_costs *c = &costs.path[path].costs;

	return snprintf(text, room, "%s %.0f ns and %.0f MB/s, %s", costs.path[path].path, 1e9 * c->forward,
			c->rate / 1e6, costs.given[path] ? "from SHMEM_COSTS" : "built in");
}

const char *comms_costs_in_words(char text[COMMS_COSTS_TEXT])
{
	int used = print_path(text, COMMS_COSTS_TEXT, LOCAL);

	if (!costs.alone) {
		used += snprintf(text + used, (size_t)(COMMS_COSTS_TEXT - used), "; ");
		print_path(text + used, (size_t)(COMMS_COSTS_TEXT - used), costs.network);
	}
	return text;
}
