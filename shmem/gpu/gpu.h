/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_GPU_H
#define SHMEM_GPU_H

#include "comms/core/device.h"
#include "shmem/reduce.h"

/*
 * Memory of GPUs in routines of the standard: include/shmemg.h. Collectives pass through the host:
 * each team has a stage, symmetric host memory by its slot, into which members copy their sources
 * and out of which they copy the results.
 */

/* With device_wanted: all PEs get a GPU and a heap there, or none does, and one line says why. */
void api_gpu_start(const char *routine);
/* Before the last barrier, and after it. */
void api_gpu_part(void);
void api_gpu_stop(void);
/* Was SHMEM_DEVICE_HOST_INIT provided? */
bool api_gpu_is_there(void);

/* The memory of a set's stage, and its size. */
char *gpu_stage(const struct set *set, size_t *bytes);

/*
 * The collectives of collectives.h for memory of GPUs. These call the host's, which know nothing of
 * GPUs; routines of the program call those below.
 */
void gpu_broadcast(const struct set *set, char *dest, const char *source, size_t bytes, int root, bool root_too);
void gpu_collect(const struct set *set, char *dest, const char *source, size_t bytes);
void gpu_fcollect(const struct set *set, char *dest, const char *source, size_t bytes);
void gpu_alltoall(const struct set *set, char *dest, const char *source, size_t bytes);
void gpu_alltoalls(const struct set *set, char *dest, const char *source, struct set_strided elements);
void gpu_reduce(const struct set *set, char *dest, const char *source, size_t count, size_t size, combine_t *combine);
void gpu_reduce_narrow(const struct set *set, char *dest, const char *source, size_t count,
		       const struct reduce_narrow *narrow);
void gpu_scan(const struct scan *scan);

/*
 * The same between PEs that reach each other's heaps, gpu_is_direct, without the host. A reduction
 * returns false, on all members, if the GPU cannot do it.
 */
bool gpu_is_direct(const struct set *set, const void *dest);
void gpu_direct_broadcast(const struct set *set, char *dest, const char *source, size_t bytes, int root, bool root_too);
void gpu_direct_fcollect(const struct set *set, char *dest, const char *source, size_t bytes);
/* bytes: of each member's block */
void gpu_direct_collect(const struct set *set, char *dest, const char *source, const uint64_t *bytes);
void gpu_direct_alltoall(const struct set *set, char *dest, const char *source, size_t bytes);
bool gpu_direct_reduce(const struct set *set, char *dest, const char *source, size_t count, combine_t *combine);

/*
 * For memory of either kind: if dest or source is memory of a GPU, which all members decide alike,
 * because both are symmetric, through the stage.
 */
#define GPU_OR_HOST(NAME, DECLARED, ARGUMENTS)      \
	static inline void any_##NAME DECLARED      \
	{                                           \
		if (!comms_on_device(dest, source)) \
			set_##NAME ARGUMENTS;       \
		else if (!rte_is_broken())          \
			gpu_##NAME ARGUMENTS;       \
	}
GPU_OR_HOST(broadcast, (const struct set *set, void *dest, const void *source, size_t bytes, int root, bool root_too),
	    (set, dest, source, bytes, root, root_too))
GPU_OR_HOST(collect, (const struct set *set, void *dest, const void *source, size_t bytes), (set, dest, source, bytes))
GPU_OR_HOST(fcollect, (const struct set *set, void *dest, const void *source, size_t bytes), (set, dest, source, bytes))
GPU_OR_HOST(alltoall, (const struct set *set, void *dest, const void *source, size_t bytes), (set, dest, source, bytes))
GPU_OR_HOST(alltoalls, (const struct set *set, void *dest, const void *source, struct set_strided elements),
	    (set, dest, source, elements))
GPU_OR_HOST(reduce,
	    (const struct set *set, void *dest, const void *source, size_t count, size_t size, combine_t *combine),
	    (set, dest, source, count, size, combine))
GPU_OR_HOST(reduce_narrow,
	    (const struct set *set, void *dest, const void *source, size_t count, const struct reduce_narrow *narrow),
	    (set, dest, source, count, narrow))

static inline void any_scan(struct scan *scan)
{
	if (!comms_on_device(scan->dest, scan->source))
		set_scan(scan);
	else if (!rte_is_broken())
		gpu_scan(scan);
}

#endif
