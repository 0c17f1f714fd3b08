/* SPDX-License-Identifier: BSD-3-Clause */
#include "job_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS 4000000L /* sampled for the distribution of distances */
#define RANGES 12      /* of hops in a text */

const char *torus_source_text(enum torus_source source)
{
	static const char *const texts[TORUS_SOURCES] = {"the vendor's library",
							 "the launcher",
							 "SHMEM_TORUS_FILE",
							 "SHMEM_TORUS",
							 "the cables, as oshrun found them",
							 "the cables, as torusplan discover last found them",
							 "the names of the nodes, as Slurm reads them",
							 "the blocks of Slurm",
							 "the number of nodes"};

	return texts[source];
}

/* All nodes at the same place, or no two at one place. */
static bool job_places_differ(const struct torus_job_map *map, int *twice)
{
	bool *taken = calloc((size_t)map->machine->places, sizeof *taken);
	const int *place = map->place;

	*twice = -1;
	if (!taken)
		return false;
	for (int n = 0; n < map->nodes && *twice < 0; n++) {
		if (taken[place[n]])
			*twice = n;
		taken[place[n]] = true;
	}
	free(taken);
	return *twice < 0;
}

/* Launchers fill nodes one after another, or deal PEs out cyclically; neither needs a table. */
static int find_run(const int *node_of, int nodes, int pes)
{
	int run = 1;

	while (run < pes && node_of[run] == node_of[0])
		run++;
	for (int pe = 0; pe < pes; pe++)
		if (node_of[pe] != pe / run % nodes)
			return 0;
	return run;
}

static bool store_table(struct torus_job *job, const int *node_of)
{
	job->node_of = malloc((size_t)job->pes * sizeof *job->node_of);
	job->first = malloc((size_t)job->sites.nodes * sizeof *job->first);
	if (!job->node_of || !job->first)
		return false;
	for (int pe = job->pes - 1; pe >= 0; pe--) {
		job->node_of[pe] = node_of[pe];
		job->first[node_of[pe]] = pe;
	}
	return true;
}

bool torus_job_make(struct torus_job *job, const struct torus_job_map *map, int *twice)
{
	memset(job, 0, sizeof *job);
	if (!job_places_differ(map, twice))
		return false;
	job->source = map->source;
	job->machine = *map->machine;
	job->pes = map->pes;
	job->run = find_run(map->node_of, map->nodes, map->pes);
	if (torus_sites_some(&job->sites, &job->box, map->machine, map->place, map->nodes) &&
	    (job->run || store_table(job, map->node_of)))
		return true;
	torus_job_free(job);
	return false;
}

void torus_job_free(struct torus_job *job)
{
	torus_sites_free(&job->sites);
	free(job->node_of);
	free(job->first);
	memset(job, 0, sizeof *job);
}

int torus_job_pe(const struct torus_job *job, int node, int i)
{
	int pe;

	if (job->run) {
		long at = ((long)(i / job->run) * job->sites.nodes + node) * job->run + i % job->run;

		return at < job->pes ? (int)at : -1;
	}
	for (pe = job->first[node]; pe < job->pes; pe++)
		if (job->node_of[pe] == node && i-- == 0)
			return pe;
	return -1;
}

bool torus_spread_find(struct torus_spread *spread, const struct torus_sites *sites)
{
	long starts = PAIRS / sites->nodes + 1, pairs = 0, hops = 0, *count;
	int most = torus_diameter(&sites->shape), step;

	memset(spread, 0, sizeof *spread);
	starts = starts < sites->nodes ? starts : sites->nodes;
	step = sites->nodes / (int)starts;
	count = calloc((size_t)most + 1, sizeof *count);
	spread->share = calloc((size_t)most + 1, sizeof *spread->share);
	if (!count || !spread->share) {
		free(count);
		torus_spread_free(spread);
		return false;
	}
	for (int from = 0; from < sites->nodes; from += step)
		for (int to = 0; to < sites->nodes; to++)
			count[torus_hops(&sites->shape, sites->place[from], sites->place[to])] += to != from;
	for (int h = 1; h <= most; h++) {
		pairs += count[h];
		hops += h * count[h];
		spread->longest = count[h] ? h : spread->longest;
	}
	for (int h = 1; h <= spread->longest; h++)
		spread->share[h] = (double)count[h] / (double)pairs;
	spread->mean = pairs ? (double)hops / (double)pairs : 0;
	free(count);
	return true;
}

void torus_spread_free(struct torus_spread *spread)
{
	free(spread->share);
	spread->share = NULL;
}

const char *torus_spread_text(const struct torus_spread *spread, char buffer[TORUS_SPREAD_TEXT])
{
	int width = (spread->longest + RANGES - 1) / RANGES, length = 0;

	buffer[0] = '\0';
	for (int h = 1; h <= spread->longest; h += width) {
		int last = h + width - 1 < spread->longest ? h + width - 1 : spread->longest;
		double share = 0;

		for (int i = h; i <= last; i++)
			share += spread->share[i];
		length += snprintf(buffer + length, TORUS_SPREAD_TEXT - (size_t)length, "%s%d", h > 1 ? ", " : "", h);
		if (last > h)
			length += snprintf(buffer + length, TORUS_SPREAD_TEXT - (size_t)length, "-%d", last);
		length += snprintf(buffer + length, TORUS_SPREAD_TEXT - (size_t)length, ": %.0f %%", 100 * share);
	}
	return buffer;
}
