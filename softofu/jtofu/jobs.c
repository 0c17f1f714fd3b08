/* SPDX-License-Identifier: BSD-3-Clause */
#include "softofu/jtofu/jobs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "softofu/settings.h"

struct known {
	struct known *next;
	jtofu_job_id_t id;
	struct map *map;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known *first, *own;
static jtofu_rank_t own_rank;
static int initialised;

void jobs_lock(void)
{
	pthread_mutex_lock(&lock);
}

void jobs_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

const struct map *jobs_own(uint32_t *rank)
{
	if (!own)
		return NULL;
	*rank = own_rank;
	return own->map;
}

static struct known **find(jtofu_job_id_t id)
{
	struct known **known = &first;

	while (*known && (*known)->id != id)
		known = &(*known)->next;
	return known;
}

const struct map *jobs_find(jtofu_job_id_t job_id)
{
	struct known *known = *find(job_id);

	return known ? known->map : NULL;
}

static int add(jtofu_job_id_t id, const void *mapinfo)
{
	struct map header;
	struct known *known;

	if (!mapinfo)
		return JTOFU_ERR_INVALID_POINTER;
	/* It comes from a message and need not lie as a structure must. */
	memcpy(&header, mapinfo, sizeof header);
	if (memcmp(header.magic, MAP_MAGIC, sizeof header.magic) != 0 || *find(id))
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
	known->next = first;
	first = known;
	return JTOFU_SUCCESS;
}

static void drop(struct known **known)
{
	struct known *gone = *known;

	*known = gone->next;
	free(gone->map);
	free(gone);
}

int jtofu_initialize(jtofu_job_id_t job_id, jtofu_rank_t rank, const void *mapinfo)
{
	int code = JTOFU_SUCCESS;

	jobs_lock();
	if (!initialised) {
		code = add(job_id, mapinfo);
		if (!code && rank >= first->map->ranks) {
			drop(&first);
			code = JTOFU_ERR_INVALID_ARG;
		}
	}
	if (!code && !initialised++) {
		own = first;
		own_rank = rank;
	}
	jobs_unlock();
	return code;
}

int jtofu_finalize(void)
{
	int code = JTOFU_SUCCESS;

	jobs_lock();
	if (!initialised)
		code = JTOFU_ERR_EXCESS_FINALIZE;
	else if (!--initialised) {
		while (first)
			drop(&first);
		own = NULL;
	}
	jobs_unlock();
	return code;
}

int jtofu_add_job(jtofu_job_id_t job_id, const void *mapinfo)
{
	int code;

	jobs_lock();
	code = initialised ? add(job_id, mapinfo) : JTOFU_ERR_NOT_INITIALIZED;
	jobs_unlock();
	return code;
}

int jtofu_delete_job(jtofu_job_id_t job_id)
{
	int code = JTOFU_SUCCESS;
	struct known **known;

	jobs_lock();
	known = find(job_id);
	if (!initialised)
		code = JTOFU_ERR_NOT_INITIALIZED;
	else if (!*known || *known == own)
		code = JTOFU_ERR_INVALID_ARG;
	else
		drop(known);
	jobs_unlock();
	return code;
}

int jtofu_create_mapinfo_by_envvars(void **mapinfo, size_t *mapinfo_size, unsigned int *num_proc)
{
	struct settings settings;
	struct map *map;

	if (!mapinfo || !mapinfo_size || !num_proc)
		return JTOFU_ERR_INVALID_POINTER;
	settings_read(&settings);
	/* Where nobody says how many there are, the box is taken to be full. */
	if (!settings.ranks)
		settings.ranks = box_room(&settings.box);
	map = map_make(&settings.box, (uint32_t)settings.ranks);
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
