/* SPDX-License-Identifier: BSD-3-Clause */
/* The deprecated collectives on active sets: the API routines. active_sets.c has the sets. */
#include "collectives.h"
#include "gpu/gpu.h"

/* Inside a body: the set that the last parameters name, and the bytes of this PE. */
#define ACTIVE_SET(set, bytes)                                                            \
	COMMS_CALL(__func__, bytes, COMMS_NOBODY);                                        \
	struct set set = set_of_active(PE_start, logPE_stride, PE_size, pSync, __func__); \
	if (!set.group)                                                                   \
		return;                                                                   \
	struct psync_use use_ __attribute__((unused, cleanup(set_psync_leave))) = set_psync_enter(&set, false);

/* For calls that are observed or checked, as with teams. */
static __attribute__((noinline)) void active_barrier_observed(int start, int log_stride, int size, long *psync,
							      bool complete, const char *routine)
{
	COMMS_CALL(routine, 0, COMMS_NOBODY);
	struct set set = set_of_active(start, log_stride, size, psync, routine);

	if (!set.group)
		return;
	struct psync_use use __attribute__((unused, cleanup(set_psync_leave))) = set_psync_enter(&set, true);
	if (complete)
		comms_complete();
	set_check_agreement(&set, NULL, 0, NULL, 0, NULL);
	set_sync(&set);
}

API void pshmem_barrier(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
	if (COMMS_LIKELY(comms_calls_are_quick())) {
		struct set set = set_of_active(PE_start, logPE_stride, PE_size, pSync, __func__);

		if (set.group)
			set_finish(&set);
	} else {
		active_barrier_observed(PE_start, logPE_stride, PE_size, pSync, true, __func__);
	}
}
PROFILED(shmem_barrier)

#undef shmem_sync
API void pshmem_sync(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
	if (COMMS_LIKELY(comms_calls_are_quick())) {
		struct set set = set_of_active(PE_start, logPE_stride, PE_size, pSync, __func__);

		if (set.group)
			set_sync(&set);
	} else {
		active_barrier_observed(PE_start, logPE_stride, PE_size, pSync, false, __func__);
	}
}
PROFILED(shmem_sync)

#define OLD_COLLECTIVES(BITS, BYTES)                                                                                  \
	API void pshmem_broadcast##BITS(void *dest, const void *source, size_t nelems, int PE_root, int PE_start,     \
					int logPE_stride, int PE_size, long *pSync)                                   \
	{                                                                                                             \
		ACTIVE_SET(set, nelems *(BYTES))                                                                      \
		any_broadcast(&set, dest, source, nelems *(BYTES), PE_root, false);                                   \
	}                                                                                                             \
	API void pshmem_collect##BITS(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride,  \
				      int PE_size, long *pSync)                                                       \
	{                                                                                                             \
		ACTIVE_SET(set, nelems *(BYTES))                                                                      \
		any_collect(&set, dest, source, nelems *(BYTES));                                                     \
	}                                                                                                             \
	API void pshmem_fcollect##BITS(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, \
				       int PE_size, long *pSync)                                                      \
	{                                                                                                             \
		ACTIVE_SET(set, nelems *(BYTES))                                                                      \
		any_fcollect(&set, dest, source, nelems *(BYTES));                                                    \
	}                                                                                                             \
	API void pshmem_alltoall##BITS(void *dest, const void *source, size_t nelems, int PE_start, int logPE_stride, \
				       int PE_size, long *pSync)                                                      \
	{                                                                                                             \
		ACTIVE_SET(set, nelems *(BYTES))                                                                      \
		any_alltoall(&set, dest, source, nelems *(BYTES));                                                    \
	}                                                                                                             \
	API void pshmem_alltoalls##BITS(void *dest, const void *source, ptrdiff_t dst, ptrdiff_t sst, size_t nelems,  \
					int PE_start, int logPE_stride, int PE_size, long *pSync)                     \
	{                                                                                                             \
		ACTIVE_SET(set, nelems *(BYTES))                                                                      \
		any_alltoalls(&set, dest, source, (struct set_strided){dst, sst, BYTES, nelems});                     \
	}                                                                                                             \
	PROFILED(shmem_broadcast##BITS)                                                                               \
	PROFILED(shmem_collect##BITS)                                                                                 \
	PROFILED(shmem_fcollect##BITS)                                                                                \
	PROFILED(shmem_alltoall##BITS)                                                                                \
	PROFILED(shmem_alltoalls##BITS)
OLD_COLLECTIVES(32, (size_t)4)
OLD_COLLECTIVES(64, (size_t)8)
