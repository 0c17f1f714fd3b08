/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/jtofu/jobs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "softofu/softofu_settings.h"

struct known {
	struct known *next;
	jtofu_job_id_t id;
	struct rank_map *map;
};

static struct {
	pthread_mutex_t lock;
	struct known *first, *own; /* all jobs, newest first; the job of this process */
	jtofu_rank_t own_rank;
	int initialised; /* calls of jtofu_initialize that jtofu_finalize has not matched */
	bool asked;	 /* jtofu_initialize was called: it alone decides from then on */
	bool implied;	 /* the job is the launcher's, without a call */
} jtofu = {.lock = PTHREAD_MUTEX_INITIALIZER};

void jobs_lock(void)
{
	pthread_mutex_lock(&jtofu.lock);
}

void jobs_unlock(void)
{
	pthread_mutex_unlock(&jtofu.lock);
}

static struct known **find_job(jtofu_job_id_t id)
{
	struct known **known = &jtofu.first;

	while (*known && (*known)->id != id)
		known = &(*known)->next;
	return known;
}

static int add_job(jtofu_job_id_t id, const void *mapinfo)
{
	struct rank_map header;
	struct known *known;

	if (!mapinfo)
		return JTOFU_ERR_INVALID_POINTER;
	/* It comes from a message and need not be aligned. */
	memcpy(&header, mapinfo, sizeof header);
	if (memcmp(header.magic, RANK_MAP_MAGIC, sizeof header.magic) != 0 || *find_job(id))
		return JTOFU_ERR_INVALID_ARG;
	known = malloc(sizeof *known);
	if (known)
		known->map = malloc(header.bytes);
	if (!known || !known->map) {
		free(known);
		return JTOFU_ERR_OUT_OF_MEMORY;
	}
	memcpy(known->map, mapinfo, header.bytes);
	known->id = id;
	known->next = jtofu.first;
	jtofu.first = known;
	return JTOFU_SUCCESS;
}

static void drop_job(struct known **known)
{
	struct known *gone = *known;

	*known = gone->next;
	free(gone->map);
	free(gone);
}

/* Whether a launcher or the user has described a job. */
static bool is_launched(const struct settings *settings)
{
	return settings->ranks > 1 || settings->job[0] || settings->run;
}

/*
 * On the machine MPI_Init initialises jTofu, so programs of MPI do not. Here the MPI is another
 * one: the first query takes the launcher's job, unless the program ever initialises jTofu itself.
 * The machine's MPI names the job by a number that clients compute from PMIx's namespace, each in
 * its way. So the job has every id: there is no other one.
 */
static void take_launched_job(void)
{
	struct rank_map *map;
	struct settings settings;

	if (jtofu.asked || jtofu.implied)
		return;
	settings_read(&settings);
	if (!is_launched(&settings))
		return;
	map = rank_map_make(&settings.grid,
			    (uint32_t)(settings.ranks ? settings.ranks : node_grid_capacity(&settings.grid)));
	if (map && add_job(0, map) == JTOFU_SUCCESS) {
		jtofu.own = jtofu.first;
		jtofu.own_rank = (jtofu_rank_t)settings.rank;
		jtofu.implied = true;
	}
	free(map);
}

static void drop_implied_job(void)
{
	if (!jtofu.implied)
		return;
	drop_job(find_job(0));
	jtofu.implied = false;
	jtofu.own = NULL;
}

const struct rank_map *jobs_own(uint32_t *rank)
{
	take_launched_job();
	if (!jtofu.own)
		return NULL;
	*rank = jtofu.own_rank;
	return jtofu.own->map;
}

const struct rank_map *jobs_find(jtofu_job_id_t job_id)
{
	struct known *known;

	take_launched_job();
	known = jtofu.implied ? jtofu.own : *find_job(job_id);
	return known ? known->map : NULL;
}

int jtofu_initialize(jtofu_job_id_t job_id, jtofu_rank_t rank, const void *mapinfo)
{
	int code = JTOFU_SUCCESS;

	jobs_lock();
	jtofu.asked = true;
	drop_implied_job();
	if (!jtofu.initialised) {
		code = add_job(job_id, mapinfo);
		if (!code && rank >= jtofu.first->map->ranks) {
			drop_job(&jtofu.first);
			code = JTOFU_ERR_INVALID_ARG;
		}
	}
	if (!code && !jtofu.initialised++) {
		jtofu.own = jtofu.first;
		jtofu.own_rank = rank;
	}
	jobs_unlock();
	return code;
}

int jtofu_finalize(void)
{
	int code = JTOFU_SUCCESS;

	jobs_lock();
	if (!jtofu.initialised)
		code = JTOFU_ERR_EXCESS_FINALIZE;
	else if (!--jtofu.initialised) {
		while (jtofu.first)
			drop_job(&jtofu.first);
		jtofu.own = NULL;
	}
	jobs_unlock();
	return code;
}

int jtofu_add_job(jtofu_job_id_t job_id, const void *mapinfo)
{
	int code;

	jobs_lock();
	code = jtofu.initialised ? add_job(job_id, mapinfo) : JTOFU_ERR_NOT_INITIALIZED;
	jobs_unlock();
	return code;
}

int jtofu_delete_job(jtofu_job_id_t job_id)
{
	int code = JTOFU_SUCCESS;
	struct known **known;

	jobs_lock();
	known = find_job(job_id);
	if (!jtofu.initialised)
		code = JTOFU_ERR_NOT_INITIALIZED;
	else if (!*known || *known == jtofu.own)
		code = JTOFU_ERR_INVALID_ARG;
	else
		drop_job(known);
	jobs_unlock();
	return code;
}

int jtofu_create_mapinfo_by_envvars(void **mapinfo, size_t *mapinfo_size, unsigned int *num_proc)
{
	struct settings settings;
	struct rank_map *map;

	if (!mapinfo || !mapinfo_size || !num_proc)
		return JTOFU_ERR_INVALID_POINTER;
	settings_read(&settings);
	/* Without a number of ranks, the grid is full. */
	if (!settings.ranks)
		settings.ranks = node_grid_capacity(&settings.grid);
	map = rank_map_make(&settings.grid, (uint32_t)settings.ranks);
	if (!map)
		return JTOFU_ERR_OUT_OF_MEMORY;
	*mapinfo = map;
	*mapinfo_size = map->bytes;
	*num_proc = map->ranks;
	return JTOFU_SUCCESS;
}

void jtofu_query_jtofu_version(int *major_ver, int *minor_ver)
{
	if (major_ver)
		*major_ver = JTOFU_VERSION_MAJOR;
	if (minor_ver)
		*minor_ver = JTOFU_VERSION_MINOR;
}
