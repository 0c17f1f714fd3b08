/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routines that the standard has removed and programs still call. Caches are coherent, so they do
 * nothing.
 */
#include "api.h"

API void pshmem_clear_cache_inv(void)
{
}
PROFILED(shmem_clear_cache_inv)

API void pshmem_set_cache_inv(void)
{
}
PROFILED(shmem_set_cache_inv)

API void pshmem_clear_cache_line_inv(void *dest)
{
	(void)dest;
}
PROFILED(shmem_clear_cache_line_inv)

API void pshmem_set_cache_line_inv(void *dest)
{
	(void)dest;
}
PROFILED(shmem_set_cache_line_inv)

API void pshmem_udcflush(void)
{
}
PROFILED(shmem_udcflush)

API void pshmem_udcflush_line(void *dest)
{
	(void)dest;
}
PROFILED(shmem_udcflush_line)
