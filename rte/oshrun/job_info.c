/* SPDX-License-Identifier: BSD-3-Clause */
#include "job_info.h"

#include <pmix_server.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"
#include "rte/rte.h"
#include "tofu_ranks.h"

#define JOB_KEYS 17  /* keys that describe_job always loads, besides one for each PE */
#define LONG_NAME 48 /* of a host name */

/*
 * Fills in *next and moves it on. PMIX_INFO_LOAD is a macro that may evaluate its arguments more
 * than once.
 */
static void load(pmix_info_t **next, const char *key, const void *value, pmix_data_type_t type)
{
	PMIX_INFO_LOAD(*next, key, value, type);
	++*next;
}

/*
 * The values that a PE can request about another PE. libpmix derives some of them from the maps,
 * and would ask the server for the others.
 */
static void describe_pe(struct job *job, int pe, pmix_info_t *slot)
{
	pmix_data_array_t *array;
	pmix_info_t *info;
	pmix_rank_t rank = (pmix_rank_t)pe;
	const struct part *parts = job->options->parts;
	pmix_rank_t in_part = rank;
	uint32_t zero = 0, number = 0;
	uint16_t local = (uint16_t)pe;
	hwloc_cpuset_t cpuset = job->processors.elsewhere ? NULL : bind_cpuset(&job->binding, &job->processors, pe);
	char *cpus = NULL;

	if (cpuset)
		hwloc_bitmap_list_asprintf(&cpus, cpuset);
	for (; (int)number < job->options->part_count - 1 && in_part >= (pmix_rank_t)parts[number].pes; number++)
		in_part -= (pmix_rank_t)parts[number].pes;
	PMIX_DATA_ARRAY_CREATE(array, cpus ? 9 : 8, PMIX_INFO);
	info = array->array;
	load(&info, PMIX_RANK, &rank, PMIX_PROC_RANK);
	load(&info, PMIX_GLOBAL_RANK, &rank, PMIX_PROC_RANK);
	load(&info, PMIX_APP_RANK, &in_part, PMIX_PROC_RANK);
	load(&info, PMIX_APPNUM, &number, PMIX_UINT32);
	load(&info, PMIX_LOCAL_RANK, &local, PMIX_UINT16);
	load(&info, PMIX_NODE_RANK, &local, PMIX_UINT16);
	load(&info, PMIX_NODEID, &zero, PMIX_UINT32);
	load(&info, PMIX_HOSTNAME, job->host, PMIX_STRING);
	if (cpus)
		load(&info, PMIX_CPUSET, cpus, PMIX_STRING);
	PMIX_LOAD_KEY(slot->key, PMIX_PROC_INFO_ARRAY);
	slot->value.type = PMIX_DATA_ARRAY;
	slot->value.data.darray = array;
	free(cpus);
	hwloc_bitmap_free(cpuset);
}

/* "0,1,2,3": the PEs of this host, the only one. */
static char *list_of_pes(int count)
{
	size_t size = (size_t)count * 11 + 1, used = 0;
	char *list = malloc(size);

	for (int pe = 0; list && pe < count; pe++)
		used += (size_t)snprintf(list + used, size - used, "%s%d", pe ? "," : "", pe);
	return list;
}

/*
 * PMIx_generate_regex of libpmix 4.2 has a buffer of 50 bytes for the part of a name before its
 * number, and does not check the length.
 */
static char *map_of_nodes(const char *host)
{
	char *nodes = NULL;

	if (strlen(host) < LONG_NAME)
		PMIx_generate_regex(host, &nodes);
	else if (asprintf(&nodes, "pmix[%s]", host) < 0)
		nodes = NULL;
	return nodes;
}

/*
 * "12,12,12,12": the number of PEs in each memory group. NULL: there is one group, or some PE is
 * not bound to a single group.
 */
static char *list_of_groups(const struct job *job)
{
	int groups = job->processors.groups, pe = 0;
	size_t size = (size_t)groups * 12 + 1, used = 0;
	char *list = groups > 1 ? malloc(size) : NULL;

	for (int g = 0; list && g < groups; g++) {
		int first = pe;

		while (pe < job->count && bind_group(&job->binding, &job->processors, pe) == g)
			pe++;
		used += (size_t)snprintf(list + used, size - used, "%s%d", g ? "," : "", pe - first);
	}
	if (list && pe == job->count)
		return list;
	free(list);
	return NULL;
}

static void describe_job(struct job *job, const char *groups, pmix_info_t *info)
{
	uint32_t size = (uint32_t)job->count, one = 1, parts = (uint32_t)job->options->part_count,
		 processors = (uint32_t)job->processors.total;
	uint32_t first = parts == 1 ? size : (uint32_t)job->options->parts[0].pes;
	pmix_rank_t leader = 0;
	char *pes = list_of_pes(job->count), *nodes = NULL, *places = NULL;

	nodes = map_of_nodes(job->host);
	PMIx_generate_ppn(pes, &places);
	for (int pe = 0; pe < job->count; pe++)
		describe_pe(job, pe, info++);
	load(&info, PMIX_JOBID, job->name, PMIX_STRING);
	load(&info, PMIX_UNIV_SIZE, &size, PMIX_UINT32);
	load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32);
	load(&info, PMIX_MAX_PROCS, &size, PMIX_UINT32);
	/* Of the first program if there are several. */
	load(&info, PMIX_APP_SIZE, &first, PMIX_UINT32);
	load(&info, PMIX_LOCAL_SIZE, &size, PMIX_UINT32);
	load(&info, PMIX_NODE_SIZE, &size, PMIX_UINT32);
	load(&info, PMIX_NUM_NODES, &one, PMIX_UINT32);
	load(&info, PMIX_JOB_NUM_APPS, &parts, PMIX_UINT32);
	load(&info, PMIX_LOCALLDR, &leader, PMIX_PROC_RANK);
	load(&info, PMIX_LOCAL_PEERS, pes, PMIX_STRING);
	load(&info, PMIX_NODE_LIST, job->host, PMIX_STRING);
	load(&info, PMIX_NODE_MAP, nodes, PMIX_REGEX);
	load(&info, PMIX_PROC_MAP, places, PMIX_REGEX);
	load(&info, PMIX_TMPDIR, job->reaper->folder, PMIX_STRING);
	load(&info, PMIX_NSDIR, job->reaper->folder, PMIX_STRING);
	load(&info, RTE_KEY_PROCESSORS, &processors, PMIX_UINT32);
	if (groups)
		load(&info, RTE_KEY_MEMORY_GROUPS, groups, PMIX_STRING);
	if (job->tofu_map.bytes) {
		pmix_byte_object_t map = {.bytes = job->tofu_map.bytes, .size = job->tofu_map.size};

		load(&info, TOFU_MAP_KEY, &map, PMIX_BYTE_OBJECT);
	}
	free(pes);
	free(nodes);
	free(places);
}

pmix_info_t *job_info_make(struct job *job, size_t *count)
{
	char *groups = list_of_groups(job);
	pmix_info_t *info;

	*count = (size_t)job->count + JOB_KEYS + (job->tofu_map.bytes ? 1 : 0) + (groups ? 1 : 0);
	PMIX_INFO_CREATE(info, *count);
	if (info)
		describe_job(job, groups, info);
	free(groups);
	return info;
}
