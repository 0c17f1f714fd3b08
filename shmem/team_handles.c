/* SPDX-License-Identifier: BSD-3-Clause */
/* Teams by their handles, the two predefined teams, and destroyed handles. */
#include <shmemg.h>
#include <stdlib.h>

#include "api.h"

struct shmemx_team api_world, api_shared;
struct shmemx_team *api_device_world, *api_device_shared;

/* Only a destroyed team has no members: see pshmem_team_destroy. */
struct shmemx_team *api_team(shmem_team_t handle, const char *routine)
{
	if (comms.n_pes == 0 || handle == SHMEM_TEAM_INVALID)
		return NULL;
	if (COMMS_LIKELY(handle == SHMEM_TEAM_WORLD))
		return &api_world;
	if (handle == SHMEM_TEAM_SHARED)
		return &api_shared;
	if (handle == SHMEM_DEVICE_TEAM_WORLD)
		return api_device_world;
	if (handle == SHMEM_DEVICE_TEAM_SHARED)
		return api_device_shared;
	if (COMMS_LIKELY(handle->group.size > 0))
		return handle;
	rte_misuse_together(routine,
			    "team=%p: this team was destroyed; use it before shmem_team_destroy, or make another",
			    (void *)handle);
	return NULL;
}

/* A team of this PE alone, in which nothing waits. */
static struct shmemx_team *nobodys_team(void)
{
	static struct shmemx_team team;

	team.group = (struct comms_group){.size = 1,
					  .start = comms.pe,
					  .stride = 1,
					  .slot = COMMS_FINAL_SLOT,
					  .on_node = true,
					  .prepared = true};
	return &team;
}

struct shmemx_team *api_team_or_die(shmem_team_t handle, const char *routine)
{
	struct shmemx_team *team;

	comms_check_up(routine);
	team = api_team(handle, routine);
	if (COMMS_LIKELY(team != NULL))
		return team;
	rte_misuse(routine, "team is SHMEM_TEAM_INVALID: this PE is not a member of the team, or its "
			    "creation failed; call this routine on members only");
	return nobodys_team();
}

void api_keep_destroyed(struct destroyed_handles *handles, void *handle)
{
	void **place = &handles->kept[handles->next++ % DESTROYED_KEPT];

	free(*place);
	*place = handle;
}
