/* SPDX-License-Identifier: BSD-3-Clause */
/* The torus of the job: its nodes, and the sources that may know their places. */
#include "job_torus.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "find_torus.h"
#include "nodes.h"
#include "comms/core/comms.h"
#include "rte/rte.h"
#include "rte/settings.h"
#include "rte/text/text.h"
#include "comms/core/network.h"
#include "comms/torus/file.h"

#define HOST_NAME 256

/* Known so far. */
struct survey {
	int nodes;
	int *node_of;  /* by PE */
	int *first_pe; /* by node */
	int *place;    /* by node, in the machine */
	struct torus_shape machine;
	struct torus_flaw *flaw; /* of the machine */
	int flaws;
	char port[TORUS_DIRECTIONS][TORUS_PORT]; /* of this PE's node */
};

static pthread_mutex_t job_torus_lock = PTHREAD_MUTEX_INITIALIZER;

static void *allocate_ints(int count)
{
	void *memory = malloc((size_t)count * sizeof(int));

	if (!memory)
		rte_die(NULL, "no memory for the torus of %d PEs", comms.n_pes);
	return memory;
}

static void find_nodes(struct survey *survey)
{
	survey->node_of = allocate_ints(comms.n_pes);
	survey->nodes = comms_nodes(survey->node_of);
	survey->first_pe = allocate_ints(survey->nodes);
	survey->place = allocate_ints(survey->nodes);
	for (int pe = comms.n_pes - 1; pe >= 0; pe--)
		survey->first_pe[survey->node_of[pe]] = pe;
}

/* --- The sources. Each returns whether it knows the places; all PEs get the same answers. --- */

static bool node_places_differ(const struct survey *survey)
{
	int *sorted = allocate_ints(survey->nodes), n = 1;

	memcpy(sorted, survey->place, (size_t)survey->nodes * sizeof *sorted);
	qsort(sorted, (size_t)survey->nodes, sizeof *sorted, comms_compare_ints);
	while (n < survey->nodes && sorted[n] != sorted[n - 1])
		n++;
	free(sorted);
	return n >= survey->nodes;
}

/*
 * Nodes made by SHMEM_NODE_PES have no place of their own, nor have PEs of a node that do not share
 * its memory.
 */
static bool vendor_knows(struct survey *survey)
{
	if (!comms.map || comms.node_size > 0 || !comms.map->machine(&survey->machine))
		return false;
	for (int n = 0; n < survey->nodes; n++)
		survey->place[n] = comms.map->place(&survey->machine, survey->first_pe[n]);
	return node_places_differ(survey);
}

/* Coordinates of other kinds of fabrics, such as groups and switches, hardly ever are. */
static bool nodes_fill_box(const struct survey *survey)
{
	struct torus_sites sites = {.nodes = 0};
	struct torus_box box;
	bool full;

	if (!torus_sites_some(&sites, &box, &survey->machine, survey->place, survey->nodes))
		rte_die(NULL, "no memory for the torus of %d PEs", comms.n_pes);
	full = sites.shape.places == survey->nodes;
	torus_sites_free(&sites);
	return full;
}

/* Used only if the nodes fill a box, each at its own place. */
static bool launcher_knows(struct survey *survey)
{
	int size[TORUS_AXES], at[TORUS_AXES];

	survey->machine.axes = comms.node_size > 0 ? 0 : rte_fabric_shape(size, TORUS_AXES);
	if (survey->machine.axes == 0)
		return false;
	for (int a = 0; a < survey->machine.axes; a++)
		survey->machine.axis[a] = (struct torus_axis){size[a], size[a] > 2};
	if (!torus_shape_complete(&survey->machine))
		return false;
	for (int n = 0; n < survey->nodes; n++) {
		if (rte_fabric_coordinates(survey->first_pe[n], at, TORUS_AXES) != survey->machine.axes)
			return false;
		for (int a = 0; a < survey->machine.axes; a++)
			if (at[a] < 0 || at[a] >= size[a])
				return false;
		survey->place[n] = torus_place_at(&survey->machine, at);
	}
	return node_places_differ(survey) && nodes_fill_box(survey);
}

static void find_hosts(struct survey *survey, const struct torus_file *file, const char *path)
{
	char name[HOST_NAME];

	for (int n = 0, h = -1; n < survey->nodes; n++) {
		if (!rte_host(survey->first_pe[n], name, sizeof name))
			rte_die_together("shmem_init",
					 "SHMEM_TORUS_FILE=%s: the launcher does not say which host PE %d is on", path,
					 survey->first_pe[n]);
		h = torus_file_host(file, name, h + 1);
		if (h >= file->hosts)
			rte_die_together("shmem_init",
					 "SHMEM_TORUS_FILE=%s: it declares host %s dead, but PE %d runs there; remove "
					 "the line, or start on other hosts",
					 path, name, survey->first_pe[n]);
		if (h < 0)
			rte_die_together("shmem_init",
					 "SHMEM_TORUS_FILE=%s: host %s, where PE %d is, is not in it; add a line: host "
					 "%s and its coordinates",
					 path, name, survey->first_pe[n], name);
		survey->place[n] = file->place[h];
	}
}

/* Takes over the flaws, and this node's ports. */
static void take_cables(struct survey *survey, struct torus_file *file)
{
	int place = survey->place[survey->node_of[comms.pe]];

	survey->flaw = file->flaw;
	survey->flaws = file->flaws;
	file->flaw = NULL;
	for (int direction = 0; comms.node_size == 0 && direction < 2 * file->shape.axes; direction++)
		snprintf(survey->port[direction], TORUS_PORT, "%s", torus_file_port(file, place, direction));
}

static bool file_knows(struct survey *survey)
{
	const char *path = setting_text(SETTING_TORUS_FILE);
	char problem[TORUS_PROBLEM], *text;
	struct torus_file file;

	if (!path[0])
		return false;
	text = text_of_file(path, problem, sizeof problem);
	if (!text || !torus_file_read(&file, text, problem))
		rte_die_together("shmem_init", "SHMEM_TORUS_FILE=%s: %s", path, problem);
	free(text);
	survey->machine = file.shape;
	if (comms.node_size > 0 && survey->nodes > file.hosts)
		rte_die_together(
			"shmem_init",
			"SHMEM_TORUS_FILE=%s: it has %d hosts, and with SHMEM_NODE_PES=%ld the job has %d nodes", path,
			file.hosts, comms.node_size, survey->nodes);
	if (comms.node_size > 0)
		memcpy(survey->place, file.place, (size_t)survey->nodes * sizeof(int));
	else
		find_hosts(survey, &file, path);
	take_cables(survey, &file);
	torus_file_free(&file);
	return true;
}

static void take_places_in_order(struct survey *survey)
{
	for (int n = 0; n < survey->nodes; n++)
		survey->place[n] = n;
}

/* No source names the ports: assumes that they are named after their directions. */
static void guess_ports(struct survey *survey)
{
	for (int direction = 0; comms.node_size == 0 && direction < 2 * survey->machine.axes; direction++)
		snprintf(survey->port[direction], TORUS_PORT, "%s", torus_direction_name(direction));
}

static bool setting_knows(struct survey *survey)
{
	const char *text = setting_text(SETTING_TORUS);
	char problem[TORUS_PROBLEM];

	if (!text[0])
		return false;
	if (!torus_shape_read(&survey->machine, text, problem))
		rte_die_together("shmem_init", "SHMEM_TORUS=%s", problem);
	if (survey->nodes > survey->machine.places)
		rte_die_together("shmem_init", "SHMEM_TORUS=%s: the shape has %d nodes, but the job has %d%s", text,
				 survey->machine.places, survey->nodes,
				 comms.node_size > 0 ? ""
						     : "; to try a torus on one machine, set SHMEM_NODE_PES as well");
	take_places_in_order(survey);
	guess_ports(survey);
	return true;
}

/* Also returns false if the job uses host names that discovery was not asked about. */
static bool find_all_hosts(struct survey *survey, const struct torus_file *file)
{
	char name[HOST_NAME];

	for (int n = 0, h = -1; n < survey->nodes; n++) {
		h = rte_host(survey->first_pe[n], name, sizeof name) ? torus_file_host(file, name, h + 1) : -1;
		if (h < 0 || h >= file->hosts)
			return false;
		survey->place[n] = file->place[h];
	}
	return true;
}

static bool line_knows(struct survey *survey, const char *line)
{
	struct torus_file file;
	bool good;

	if (!line || comms.node_size > 0 || !torus_file_read_line(&file, line))
		return false;
	good = find_all_hosts(survey, &file);
	if (good) {
		survey->machine = file.shape;
		take_cables(survey, &file);
	}
	torus_file_free(&file);
	return good;
}

static bool cables_know(struct survey *survey)
{
	return line_knows(survey, getenv(RTE_TORUS_FOUND));
}

static bool cache_knows(struct survey *survey)
{
	return line_knows(survey, comms_found_torus(TORUS_FROM_CACHE));
}

static bool slurm_knows(struct survey *survey)
{
	return line_knows(survey, comms_found_torus(TORUS_FROM_SLURM));
}

static bool blocks_know(struct survey *survey)
{
	return line_knows(survey, comms_found_torus(TORUS_FROM_BLOCKS));
}

static bool number_knows(struct survey *survey)
{
	torus_shape_guess(&survey->machine, survey->nodes, 3);
	take_places_in_order(survey);
	return true;
}

/* In this order. */
static const struct {
	enum torus_source source;
	bool (*knows)(struct survey *survey);
} sources[] = {
	{TORUS_FROM_VENDOR, vendor_knows},   {TORUS_FROM_LAUNCHER, launcher_knows}, {TORUS_FROM_FILE, file_knows},
	{TORUS_FROM_SETTING, setting_knows}, {TORUS_FROM_CABLES, cables_know},	    {TORUS_FROM_CACHE, cache_knows},
	{TORUS_FROM_SLURM, slurm_knows},     {TORUS_FROM_BLOCKS, blocks_know},	    {TORUS_LOGICAL, number_knows},
};

static struct torus_job *make_job_torus(void)
{
	struct torus_job *job = calloc(1, sizeof *job);
	struct survey survey = {0};
	struct torus_job_map map;
	int s = 0, twice;

	if (!job)
		rte_die(NULL, "no memory for the torus");
	find_nodes(&survey);
	while (!sources[s].knows(&survey))
		s++;
	map = (struct torus_job_map){sources[s].source, &survey.machine, survey.nodes,
				     comms.n_pes,	survey.place,	 survey.node_of};
	if (!torus_job_make(job, &map, &twice)) {
		if (twice < 0)
			rte_die(NULL, "no memory for the torus of %d PEs", comms.n_pes);
		rte_die_together("shmem_init",
				 "%s puts PE %d's node where another node is; each needs coordinates of its own",
				 torus_source_text(sources[s].source), survey.first_pe[twice]);
	}
	if (!torus_sites_mark(&job->sites, &job->box, &job->machine, survey.flaw, survey.flaws))
		rte_die(NULL, "no memory for the torus of %d PEs", comms.n_pes);
	memcpy(job->port, survey.port, sizeof job->port);
	free(survey.node_of);
	free(survey.first_pe);
	free(survey.place);
	free(survey.flaw);
	return job;
}

const struct torus_job *comms_ensure_torus(void)
{
	struct torus_job *job = atomic_load_explicit(&comms.torus, memory_order_acquire);

	if (job)
		return job;
	pthread_mutex_lock(&job_torus_lock);
	job = atomic_load_explicit(&comms.torus, memory_order_relaxed);
	if (!job) {
		job = make_job_torus();
		atomic_store_explicit(&comms.torus, job, memory_order_release);
	}
	pthread_mutex_unlock(&job_torus_lock);
	return job;
}

bool comms_torus_is_given(void)
{
	return setting_text(SETTING_TORUS)[0] || setting_text(SETTING_TORUS_FILE)[0] || getenv(RTE_TORUS_FOUND) ||
	       (comms.torus_found && !comms_found_torus(TORUS_FROM_BLOCKS));
}

void comms_torus_start(void)
{
	comms_read_found_torus();
	if (comms_torus_is_given())
		comms_ensure_torus();
}

void comms_torus_stop(void)
{
	struct torus_job *job = atomic_exchange_explicit(&comms.torus, NULL, memory_order_acquire);

	free(comms.torus_found);
	comms.torus_found = NULL;
	if (!job)
		return;
	torus_job_free(job);
	free(job);
}
