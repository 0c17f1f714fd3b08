/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "softofu/jtofu/jobs.h"

/* Places of ranks, ranks at a place, and sizes. */
static int copy_sizes(void *to, size_t offset, size_t bytes)
{
	const struct rank_map *map;
	uint32_t rank;

	if (!to)
		return JTOFU_ERR_INVALID_POINTER;
	jobs_lock();
	map = jobs_own(&rank);
	if (map)
		memcpy(to, (const char *)map + offset, bytes);
	jobs_unlock();
	return map ? JTOFU_SUCCESS : JTOFU_ERR_NOT_INITIALIZED;
}

int jtofu_query_sys_size(union jtofu_phys_coords *sys_size)
{
	return copy_sizes(sys_size, offsetof(struct rank_map, system_size), sizeof sys_size->a);
}

int jtofu_query_sys_torus(union jtofu_phys_coords *sys_torus)
{
	return copy_sizes(sys_torus, offsetof(struct rank_map, system_ring), sizeof sys_torus->a);
}

int jtofu_query_ref_coords(union jtofu_phys_coords *ref_coords)
{
	return copy_sizes(ref_coords, offsetof(struct rank_map, corner), sizeof ref_coords->a);
}

int jtofu_query_phys_size(union jtofu_phys_coords *phys_size)
{
	return copy_sizes(phys_size, offsetof(struct rank_map, size), sizeof phys_size->a);
}

int jtofu_query_log_size(union jtofu_log_coords *log_size)
{
	return copy_sizes(log_size, offsetof(struct rank_map, logical_size), sizeof log_size->a);
}

int jtofu_query_max_proc_per_node(void)
{
	const struct rank_map *map;
	uint32_t rank;
	int count;

	jobs_lock();
	map = jobs_own(&rank);
	count = map ? (int)map->per_node : JTOFU_ERR_NOT_INITIALIZED;
	jobs_unlock();
	return count;
}

static int copy_place(jtofu_job_id_t job_id, jtofu_rank_t rank, void *to, size_t offset, size_t bytes)
{
	const struct rank_map *map;
	uint32_t mine;
	int code = JTOFU_SUCCESS;

	if (!to)
		return JTOFU_ERR_INVALID_POINTER;
	jobs_lock();
	map = jobs_find(job_id);
	if (!jobs_own(&mine))
		code = JTOFU_ERR_NOT_INITIALIZED;
	else if (!map || rank >= map->ranks)
		code = JTOFU_ERR_INVALID_ARG;
	else
		memcpy(to, (const char *)&map->rank[rank] + offset, bytes);
	jobs_unlock();
	return code;
}

int jtofu_query_phys_coords(jtofu_job_id_t job_id, jtofu_rank_t rank, union jtofu_phys_coords *phys_coords)
{
	return copy_place(job_id, rank, phys_coords, offsetof(struct rank_place, physical), sizeof phys_coords->a);
}

int jtofu_query_log_coords(jtofu_job_id_t job_id, jtofu_rank_t rank, union jtofu_log_coords *log_coords)
{
	return copy_place(job_id, rank, log_coords, offsetof(struct rank_place, logical), sizeof log_coords->a);
}

/*
 * Finds the ranks with these coordinates. ranks has room for max_ranks; *num_ranks is the number
 * stored.
 */
struct coordinates {
	const void *value;
	size_t offset, bytes; /* in struct rank_place */
};

static int ranks_at(jtofu_job_id_t job_id, const struct coordinates *at, size_t max_ranks, jtofu_rank_t *ranks,
		    size_t *num_ranks)
{
	const struct rank_map *map;
	uint32_t mine;
	size_t found = 0;
	int code = JTOFU_SUCCESS;

	if (!at->value || !num_ranks || (max_ranks && !ranks))
		return JTOFU_ERR_INVALID_POINTER;
	jobs_lock();
	map = jobs_find(job_id);
	if (!jobs_own(&mine))
		code = JTOFU_ERR_NOT_INITIALIZED;
	else if (!map)
		code = JTOFU_ERR_INVALID_ARG;
	for (uint32_t rank = 0; !code && rank < map->ranks; rank++)
		if (!memcmp((const char *)&map->rank[rank] + at->offset, at->value, at->bytes)) {
			if (found < max_ranks)
				ranks[found] = rank;
			found++;
		}
	jobs_unlock();
	if (!code)
		*num_ranks = found < max_ranks ? found : max_ranks;
	return code;
}

int jtofu_query_ranks_from_phys_coords(jtofu_job_id_t job_id, union jtofu_phys_coords *phys_coords, size_t max_ranks,
				       jtofu_rank_t *ranks, size_t *num_ranks)
{
	struct coordinates at = {phys_coords, offsetof(struct rank_place, physical), sizeof phys_coords->a};

	return ranks_at(job_id, &at, max_ranks, ranks, num_ranks);
}

int jtofu_query_ranks_from_log_coords(jtofu_job_id_t job_id, union jtofu_log_coords *log_coords, size_t max_ranks,
				      jtofu_rank_t *ranks, size_t *num_ranks)
{
	struct coordinates at = {log_coords, offsetof(struct rank_place, logical), sizeof log_coords->a};

	return ranks_at(job_id, &at, max_ranks, ranks, num_ranks);
}
