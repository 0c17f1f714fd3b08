/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams by their handles, and the two that every PE has. */
#include "api.h"

struct shmemx_team api_world, api_shared;

struct shmemx_team *api_team(shmem_team_t handle)
{
	if (comms.n_pes == 0 || handle == SHMEM_TEAM_INVALID)
		return NULL;
	if (COMMS_LIKELY(handle == SHMEM_TEAM_WORLD))
		return &api_world;
	return handle == SHMEM_TEAM_SHARED ? &api_shared : handle;
}

struct shmemx_team *api_team_or_die(shmem_team_t handle, const char *routine)
{
	struct shmemx_team *team;

	comms_check_up(routine);
	team = api_team(handle);
	if (!team)
		rte_die(routine,
			"team is SHMEM_TEAM_INVALID; this PE is not a member of the team, or its creation failed");
	return team;
}
