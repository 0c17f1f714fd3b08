/* SPDX-License-Identifier: BSD-3-Clause */
/* A program's queries about its torus. */
#include <shmemx.h>

#include "shmem/api.h"
#include "comms/nodes/job_torus.h"

_Static_assert(SHMEMX_AXES == TORUS_AXES, "users have room for all axes");

API int shmemx_torus_shape(int *sizes, int *rings)
{
	const struct torus_shape *shape;

	comms_check_up(__func__);
	shape = &comms_ensure_torus()->sites.shape;
	for (int a = 0; a < shape->axes; a++) {
		if (sizes)
			sizes[a] = shape->axis[a].size;
		if (rings)
			rings[a] = shape->axis[a].ring;
	}
	return shape->axes;
}

API int shmemx_torus_coordinates(int pe, int *coordinates)
{
	const struct torus_job *job;

	if (!comms_check_pe(pe, __func__))
		return 0;
	job = comms_ensure_torus();
	torus_coordinates(&job->sites.shape, torus_job_place(job, pe), coordinates);
	return job->sites.shape.axes;
}

API int shmemx_torus_hops(int pe, int other)
{
	if (!comms_check_pe(pe, __func__) || !comms_check_pe(other, __func__))
		return 0;
	return torus_job_hops(comms_ensure_torus(), pe, other);
}

API const char *shmemx_torus_source(void)
{
	comms_check_up(__func__);
	return torus_source_text(comms_ensure_torus()->source);
}
