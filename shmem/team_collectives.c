/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives on teams: the API routines. */
#include "collectives.h"
#include "gpu/gpu.h"

void api_collectives_start(void)
{
	api_broadcasts_start();
	api_reductions_start();
	api_gathers_start();
	api_alltoalls_start();
	api_faults_start(api_plans_follow);
}

/* For calls that are observed or checked. Not inline, so that the usual path saves no registers. */
static __attribute__((noinline)) void team_barrier_observed(shmem_team_t team, bool complete, const char *routine)
{
	COMMS_CALL(routine, 0, COMMS_NOBODY);
	struct set set = set_of_team(team, routine);

	if (complete)
		comms_complete(); /* first: a member may wait for these puts before it compares */
	set_check_agreement(&set, NULL, 0, NULL, 0, NULL);
	comms_sync(set.group);
	team_watch_plans(set.team, routine);
}

API void pshmem_barrier_all(void)
{
	if (COMMS_LIKELY(comms_calls_are_quick())) {
		api_barrier_all(__func__);
		team_watch_plans(&api_world, __func__);
	} else {
		team_barrier_observed(SHMEM_TEAM_WORLD, true, __func__);
	}
}
PROFILED(shmem_barrier_all)

API void pshmem_sync_all(void)
{
	if (COMMS_LIKELY(comms_calls_are_quick())) {
		hang_note_group(__func__, &api_world.group);
		comms_sync(&api_world.group);
		team_watch_plans(&api_world, __func__);
	} else {
		team_barrier_observed(SHMEM_TEAM_WORLD, false, __func__);
	}
}
PROFILED(shmem_sync_all)

API int pshmem_team_sync(shmem_team_t team)
{
	if (COMMS_LIKELY(comms_calls_are_quick())) {
		struct set set = set_of_team(team, __func__);

		comms_sync(set.group);
		team_watch_plans(set.team, __func__);
	} else {
		team_barrier_observed(team, false, __func__);
	}
	return rte_is_broken();
}
PROFILED(shmem_team_sync)

/*
 * Defines BEFORE##broadcast##AFTER and so on, as in shmem_int_broadcast and shmem_broadcastmem: a
 * type's name goes before, mem behind.
 */
#define COLLECTIVES(BEFORE, AFTER, TYPE, SIZE)                                                                      \
	API int pshmem_##BEFORE##broadcast##AFTER(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems, \
						  int PE_root)                                                      \
	{                                                                                                           \
		COMMS_CALL_OR(1, __func__, nelems *(SIZE), COMMS_NOBODY);                                           \
		struct set set = set_of_team(team, __func__);                                                       \
		any_broadcast(&set, dest, source, nelems *(SIZE), PE_root, true);                                   \
		return rte_is_broken();                                                                             \
	}                                                                                                           \
	API int pshmem_##BEFORE##collect##AFTER(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)   \
	{                                                                                                           \
		COMMS_CALL_OR(1, __func__, nelems *(SIZE), COMMS_NOBODY);                                           \
		struct set set = set_of_team(team, __func__);                                                       \
		any_collect(&set, dest, source, nelems *(SIZE));                                                    \
		return rte_is_broken();                                                                             \
	}                                                                                                           \
	API int pshmem_##BEFORE##fcollect##AFTER(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)  \
	{                                                                                                           \
		COMMS_CALL_OR(1, __func__, nelems *(SIZE), COMMS_NOBODY);                                           \
		struct set set = set_of_team(team, __func__);                                                       \
		any_fcollect(&set, dest, source, nelems *(SIZE));                                                   \
		return rte_is_broken();                                                                             \
	}                                                                                                           \
	API int pshmem_##BEFORE##alltoall##AFTER(shmem_team_t team, TYPE *dest, const TYPE *source, size_t nelems)  \
	{                                                                                                           \
		COMMS_CALL_OR(1, __func__, nelems *(SIZE), COMMS_NOBODY);                                           \
		struct set set = set_of_team(team, __func__);                                                       \
		any_alltoall(&set, dest, source, nelems *(SIZE));                                                   \
		return rte_is_broken();                                                                             \
	}                                                                                                           \
	API int pshmem_##BEFORE##alltoalls##AFTER(shmem_team_t team, TYPE *dest, const TYPE *source, ptrdiff_t dst, \
						  ptrdiff_t sst, size_t nelems)                                     \
	{                                                                                                           \
		COMMS_CALL_OR(1, __func__, nelems *(SIZE), COMMS_NOBODY);                                           \
		struct set set = set_of_team(team, __func__);                                                       \
		any_alltoalls(&set, dest, source, (struct set_strided){dst, sst, SIZE, nelems});                    \
		return rte_is_broken();                                                                             \
	}                                                                                                           \
	PROFILED(shmem_##BEFORE##broadcast##AFTER)                                                                  \
	PROFILED(shmem_##BEFORE##collect##AFTER)                                                                    \
	PROFILED(shmem_##BEFORE##fcollect##AFTER)                                                                   \
	PROFILED(shmem_##BEFORE##alltoall##AFTER)                                                                   \
	PROFILED(shmem_##BEFORE##alltoalls##AFTER)
#define TYPED(NAME, TYPE) COLLECTIVES(NAME##_, , TYPE, sizeof(TYPE))
FOR_RMA_TYPES(TYPED)
COLLECTIVES(, mem, void, (size_t)1)
