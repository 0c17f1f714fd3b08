/* SPDX-License-Identifier: BSD-3-Clause */
#include "fjmpi_topology.h"

#include <jtofu.h>
#include <stdlib.h>

#define TOPOLOGY_API __attribute__((visibility("default")))

/*
 * jTofu is opened for each question, under a separate number: the program may use it itself before,
 * after, or never.
 */
enum { FJMPI_JOB = 0x664a4d70 };

static int open_jtofu(int me)
{
	void *map = NULL;
	size_t bytes;
	unsigned int ranks;
	int code;

	if (jtofu_create_mapinfo_by_envvars(&map, &bytes, &ranks) != JTOFU_SUCCESS)
		return -1;
	code = jtofu_initialize(FJMPI_JOB, (jtofu_rank_t)me, map);
	/*
	 * It is the first job of a program that does not use jTofu, and one more of a program that
	 * does.
	 */
	if (code == JTOFU_SUCCESS)
		jtofu_add_job(FJMPI_JOB, map);
	free(map);
	return code == JTOFU_SUCCESS ? 0 : -1;
}

static int close_jtofu(int code)
{
	jtofu_delete_job(FJMPI_JOB);
	jtofu_finalize();
	return code == JTOFU_SUCCESS ? 0 : -1;
}

/* The logical axes of the job, up to the last that has more than one node. */
static int count_axes(union jtofu_log_coords *size)
{
	int axes = 3;

	if (jtofu_query_log_size(size) != JTOFU_SUCCESS)
		return 0;
	while (axes > 1 && size->a[axes - 1] == 1)
		axes--;
	return axes;
}

TOPOLOGY_API int fjmpi_topology_shape(int me, int size[3])
{
	union jtofu_log_coords all;
	int axes;

	if (open_jtofu(me))
		return -1;
	axes = count_axes(&all);
	for (int axis = 0; axis < 3 && axes > 0; axis++)
		size[axis] = axis < axes ? (int)all.a[axis] : 0;
	return close_jtofu(axes > 0 ? JTOFU_SUCCESS : JTOFU_ERR_INTERNAL) ? -1 : axes;
}

static int logical_place(int rank, int most, int *coords)
{
	union jtofu_log_coords at;
	int code = jtofu_query_log_coords(FJMPI_JOB, (jtofu_rank_t)rank, &at);

	for (int axis = 0; axis < most && axis < 3 && code == JTOFU_SUCCESS; axis++)
		coords[axis] = (int)at.a[axis];
	return code;
}

static int physical_place(int rank, int relative, int most, int *coords)
{
	union jtofu_phys_coords at, corner, size;
	int code = jtofu_query_phys_coords(FJMPI_JOB, (jtofu_rank_t)rank, &at);

	jtofu_query_ref_coords(&corner);
	jtofu_query_sys_size(&size);
	for (int axis = 0; axis < most && axis < FJMPI_AXES && code == JTOFU_SUCCESS; axis++)
		coords[axis] = relative ? (at.a[axis] + size.a[axis] - corner.a[axis]) % size.a[axis] : at.a[axis];
	return code;
}

TOPOLOGY_API int fjmpi_topology_place(int me, int rank, int view, int most, int *coords)
{
	if (open_jtofu(me))
		return -1;
	return close_jtofu(view == FJMPI_VIEW_LOGICAL ? logical_place(rank, most, coords)
						      : physical_place(rank, view == FJMPI_VIEW_REL, most, coords));
}

static int ranks_at(int view, const int *coords, jtofu_rank_t *ranks, size_t *count)
{
	union jtofu_log_coords logical = {{0, 0, 0}}, all;
	union jtofu_phys_coords physical, corner, size;

	if (view == FJMPI_VIEW_LOGICAL) {
		for (int axis = 0, axes = count_axes(&all); axis < axes; axis++)
			logical.a[axis] = (uint32_t)coords[axis];
		return jtofu_query_ranks_from_log_coords(FJMPI_JOB, &logical, FJMPI_RANKS_PER_NODE, ranks, count);
	}
	jtofu_query_ref_coords(&corner);
	jtofu_query_sys_size(&size);
	for (int axis = 0; axis < FJMPI_AXES; axis++)
		physical.a[axis] = (uint8_t)(view == FJMPI_VIEW_REL ? (coords[axis] + corner.a[axis]) % size.a[axis]
								    : coords[axis]);
	return jtofu_query_ranks_from_phys_coords(FJMPI_JOB, &physical, FJMPI_RANKS_PER_NODE, ranks, count);
}

TOPOLOGY_API int fjmpi_topology_ranks(int me, int view, const int *coords, int ranks[FJMPI_RANKS_PER_NODE])
{
	jtofu_rank_t there[FJMPI_RANKS_PER_NODE];
	size_t count = 0;

	if (open_jtofu(me) || close_jtofu(ranks_at(view, coords, there, &count)))
		return -1;
	for (size_t i = 0; i < count; i++)
		ranks[i] = (int)there[i];
	return (int)count;
}

int fjmpi_topology_system(int me, int size[FJMPI_AXES], int ring[FJMPI_AXES])
{
	union jtofu_phys_coords sizes, rings;
	int code;

	if (open_jtofu(me))
		return -1;
	code = jtofu_query_sys_size(&sizes);
	if (code == JTOFU_SUCCESS)
		code = jtofu_query_sys_torus(&rings);
	for (int axis = 0; axis < FJMPI_AXES && code == JTOFU_SUCCESS; axis++) {
		size[axis] = sizes.a[axis];
		ring[axis] = rings.a[axis];
	}
	return close_jtofu(code);
}
