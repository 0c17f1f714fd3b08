/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the launcher knows of this job's nodes: their names, their PEs, their places in the fabric.
 */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmix_client.h"
#include "rte/rte.h"
#include "rte/text/text.h"

void rte_count_hosts(void)
{
	pmix_value_t *value = rte_job_value(PMIX_NUM_NODES);

	rte.several_hosts = value && value->type == PMIX_UINT32 ? value->data.uint32 > 1 : rte.n_local < rte.n_pes;
	if (value)
		PMIX_VALUE_RELEASE(value);
}

/* PMIx lists the PEs of this node, as in "0,1,5-7". Without the list, each PE is its own node. */
bool rte_read_local_pes(void)
{
	pmix_value_t *value = rte_job_value(PMIX_LOCAL_PEERS);
	bool *local = calloc((size_t)rte.n_pes, sizeof *local);

	if (!local)
		return false;
	if (!value || value->type != PMIX_STRING || !text_parse_list(value->data.string, local, (size_t)rte.n_pes))
		memset(local, 0, (size_t)rte.n_pes * sizeof *local);
	local[rte.pe] = true;
	rte.n_local = 0;
	for (int pe = 0; pe < rte.n_pes; pe++)
		rte.n_local += local[pe];
	rte.local_pes = malloc((size_t)rte.n_local * sizeof *rte.local_pes);
	for (int pe = 0, n = 0; rte.local_pes && pe < rte.n_pes; pe++)
		if (local[pe])
			rte.local_pes[n++] = pe;
	if (value)
		PMIX_VALUE_RELEASE(value);
	free(local);
	return rte.local_pes != NULL;
}

/*
 * Slurm's name for a host may differ from the host's own. PMIx 5 has the host's own name for this
 * host, and Slurm's for all others.
 */
static const char *slurm_name(int pe)
{
	return rte_by_slurm() && rte_is_local(pe) ? getenv("SLURMD_NODENAME") : NULL;
}

bool rte_pmix_host(int pe, char *name, size_t size)
{
	pmix_value_t *value = NULL;
	const char *by_slurm;
	pmix_proc_t peer;
	bool known;

	by_slurm = slurm_name(pe);
	if (by_slurm)
		return (size_t)snprintf(name, size, "%s", by_slurm) < size;
	PMIX_LOAD_PROCID(&peer, rte_client.self.nspace, (pmix_rank_t)pe);
	if (PMIx_Get(&peer, PMIX_HOSTNAME, NULL, 0, &value) != PMIX_SUCCESS || !value)
		return false;
	known = value->type == PMIX_STRING && (size_t)snprintf(name, size, "%s", value->data.string) < size;
	PMIX_VALUE_RELEASE(value);
	return known;
}

/*
 * A value about the fabric at a host, or about the whole fabric if host is NULL. It only uses what
 * the server has sent at the start: few servers know such values, and asking for each may take
 * long.
 */
static pmix_value_t *fabric_value(const char *key, const char *host)
{
	pmix_value_t *value = NULL;
	pmix_status_t status;
	pmix_info_t about[3];
	pmix_proc_t job;
	bool yes = true;

	if (!rte_client.connected)
		return NULL;
	PMIX_LOAD_PROCID(&job, rte_client.self.nspace, PMIX_RANK_WILDCARD);
	PMIX_INFO_LOAD(&about[0], PMIX_OPTIONAL, &yes, PMIX_BOOL);
	PMIX_INFO_LOAD(&about[1], PMIX_NODE_INFO, &yes, PMIX_BOOL);
	PMIX_INFO_LOAD(&about[2], PMIX_HOSTNAME, host ? host : "", PMIX_STRING);
	status = PMIx_Get(&job, key, about, host ? 3 : 1, &value);
	PMIX_INFO_DESTRUCT(&about[2]);
	return status == PMIX_SUCCESS ? value : NULL;
}

static int copy_numbers(const uint32_t *from, size_t count, int *to, int most)
{
	if (!from || count > (size_t)most)
		return 0;
	for (size_t i = 0; i < count; i++)
		to[i] = (int)from[i];
	return (int)count;
}

void *rte_vendor_map(bool ask, size_t *size)
{
	static const char key[] = "fjpmix.rankmap";
	pmix_value_t *value = NULL;
	void *map = NULL;

	if (rte_client.connected)
		value = ask ? rte_job_value(key) : fabric_value(key, NULL);
	if (value && value->type == PMIX_BYTE_OBJECT && value->data.bo.size > 0) {
		map = malloc(value->data.bo.size);
		*size = value->data.bo.size;
	}
	if (map)
		memcpy(map, value->data.bo.bytes, *size);
	if (value)
		PMIX_VALUE_RELEASE(value);
	return map;
}

/* "10x12x2" */
static int read_shape_text(const char *text, int *size, int most)
{
	int axes = 0;
	char *end;

	for (;; text = end + 1) {
		long number = strtol(text, &end, 10);

		if (end == text || number < 1 || number > INT_MAX || axes == most)
			return 0;
		size[axes++] = (int)number;
		if (*end != 'x')
			return *end ? 0 : axes;
	}
}

/*
 * The value is an array of numbers, or a text, if there is one fabric. With several fabrics the
 * function returns 0.
 */
int rte_fabric_shape(int *size, int most)
{
	static const char *const keys[] = {PMIX_FABRIC_SHAPE, PMIX_FABRIC_SHAPE_STRING};
	int axes = 0;

	for (size_t k = 0; axes == 0 && k < sizeof keys / sizeof keys[0]; k++) {
		pmix_value_t *value = fabric_value(keys[k], NULL);
		const pmix_data_array_t *array = value && value->type == PMIX_DATA_ARRAY ? value->data.darray : NULL;

		if (array && array->type == PMIX_UINT32)
			axes = copy_numbers(array->array, array->size, size, most);
		else if (value && value->type == PMIX_STRING && value->data.string)
			axes = read_shape_text(value->data.string, size, most);
		if (value)
			PMIX_VALUE_RELEASE(value);
	}
	return axes;
}

/*
 * Takes the coordinates of the first device of the host that has some, in the numbering of the
 * fabric.
 */
int rte_fabric_coordinates(int pe, int *at, int most)
{
	const pmix_data_array_t *devices;
	pmix_value_t *value;
	char host[256];
	int axes = 0;

	if (!rte_client.connected || !rte_pmix_host(pe, host, sizeof host))
		return 0;
	value = fabric_value(PMIX_FABRIC_COORDINATES, host);
	devices = value && value->type == PMIX_DATA_ARRAY ? value->data.darray : NULL;
	for (size_t d = 0; devices && devices->type == PMIX_GEOMETRY && d < devices->size && axes == 0; d++) {
		const pmix_geometry_t *device = (const pmix_geometry_t *)devices->array + d;

		for (size_t c = 0; c < device->ncoords && axes == 0; c++)
			if (device->coordinates[c].view != PMIX_COORD_PHYSICAL_VIEW)
				axes = copy_numbers(device->coordinates[c].coord, device->coordinates[c].dims, at,
						    most);
	}
	if (value)
		PMIX_VALUE_RELEASE(value);
	return axes;
}

/*
 * A process with fewer processors than there are PEs is bound to them, or all PEs share them.
 * oshrun publishes which. Under other launchers, a process counts as bound if it has fewer
 * processors than the machine or the container.
 */
int rte_node_processors(void)
{
	int mine = rte_processors(), all = mine;
	pmix_value_t *value;

	if (mine >= rte.n_local || !rte.connected)
		return mine;
	value = rte_client.connected ? rte_job_value(RTE_KEY_PROCESSORS) : NULL;
	if (!value)
		return rte_container_processors();
	if (value->type == PMIX_UINT32)
		all = (int)value->data.uint32;
	PMIX_VALUE_RELEASE(value);
	return all;
}

/*
 * oshrun publishes the number of PEs in each group, because it may bind PEs as on another machine;
 * otherwise the PE's own processors decide.
 */
int rte_memory_group(int *groups)
{
	pmix_value_t *value = rte_client.connected ? fabric_value(RTE_KEY_MEMORY_GROUPS, NULL) : NULL;
	const char *sizes = value && value->type == PMIX_STRING ? value->data.string : NULL;
	int group = -1, before = 0;

	*groups = 0;
	if (!sizes)
		group = rte_memory_group_by_affinity(groups);
	for (const char *at = sizes; at; at = strchr(at, ','), at += at != NULL) {
		before += atoi(at);
		if (group < 0 && rte.pe < before)
			group = *groups;
		++*groups;
	}
	if (value)
		PMIX_VALUE_RELEASE(value);
	return group;
}
