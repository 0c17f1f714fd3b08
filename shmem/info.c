/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries: PE numbers, accessibility, version. */
#include "api.h"
#include "comms/core/device.h"

#include <string.h>

#include "comms/core/regions.h"

API int pshmem_my_pe(void)
{
	comms_check_up(__func__);
	return comms.pe;
}
PROFILED(shmem_my_pe)

API int pshmem_n_pes(void)
{
	comms_check_up(__func__);
	return comms.n_pes;
}
PROFILED(shmem_n_pes)

API int p_my_pe(void)
{
	comms_check_up("_my_pe");
	return comms.pe;
}
PROFILED(_my_pe)

API int p_num_pes(void)
{
	comms_check_up("_num_pes");
	return comms.n_pes;
}
PROFILED(_num_pes)

API int pshmem_pe_accessible(int pe)
{
	comms_check_up(__func__);
	return pe >= 0 && pe < comms.n_pes;
}
PROFILED(shmem_pe_accessible)

static bool is_symmetric(const void *address)
{
	if (comms_is_on_device(address))
		return comms.device->reach(address, comms.pe);
	return comms_find_segment(address) != COMMS_NO_SEGMENT &&
	       (size_t)((const char *)address - (const char *)comms.system) >= COMMS_SYSTEM_BYTES;
}

API int pshmem_addr_accessible(const void *addr, int pe)
{
	comms_check_up(__func__);
	return pe >= 0 && pe < comms.n_pes && is_symmetric(addr);
}
PROFILED(shmem_addr_accessible)

static void *pointer_to(const void *dest, int pe)
{
	struct comms_peer *peer;

	if (pe < 0 || pe >= comms.n_pes || !is_symmetric(dest))
		return NULL;
	if (comms_is_on_device(dest)) {
		comms_connect(pe);
		return comms.device->reach(dest, pe);
	}
	return comms_reach_any(dest, 0, pe, &peer);
}

API void *pshmem_ptr(const void *dest, int pe)
{
	comms_check_up(__func__);
	return pointer_to(dest, pe);
}
PROFILED(shmem_ptr)

API void *pshmem_team_ptr(shmem_team_t team, const void *dest, int pe)
{
	const struct shmemx_team *of;

	comms_check_up(__func__);
	of = api_team(team, __func__);
	return of && pe >= 0 && pe < of->group.size ? pointer_to(dest, comms_group_pe(&of->group, pe)) : NULL;
}
PROFILED(shmem_team_ptr)

API void pshmem_info_get_version(int *major, int *minor)
{
	*major = SHMEM_MAJOR_VERSION;
	*minor = SHMEM_MINOR_VERSION;
}
PROFILED(shmem_info_get_version)

API void pshmem_info_get_name(char *name)
{
	_Static_assert(sizeof SHMEM_VENDOR_STRING <= SHMEM_MAX_NAME_LEN, "the name fits the user's buffer");
	memcpy(name, SHMEM_VENDOR_STRING, sizeof SHMEM_VENDOR_STRING);
}
PROFILED(shmem_info_get_name)

/* For tools that replace this routine; the library does nothing. */
API void pshmem_pcontrol(int level, ...)
{
	(void)level;
}
PROFILED(shmem_pcontrol)

int api_thread_level;

bool api_threads_at_once(void)
{
	return api_thread_level == SHMEM_THREAD_MULTIPLE;
}

API void pshmem_query_thread(int *provided)
{
	comms_check_up(__func__);
	*provided = api_thread_level;
}
PROFILED(shmem_query_thread)
