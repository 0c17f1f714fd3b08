/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routines by the names that Cray's and Sandia's libraries give them and that programs call: each
 * is a line of what there is. Those of heaps are in heaps/sandia_heaps.c.
 */
#include "api.h"

#include <shmemx.h>
#include <time.h>

API void shmemx_putmem_signal(void *dest, const void *source, size_t nelems, uint64_t *sig_addr, uint64_t signal,
			      int pe)
{
	pshmem_putmem_signal(dest, source, nelems, sig_addr, signal, SHMEM_SIGNAL_SET, pe);
}

/* Every thread may call the library. */
API void shmemx_thread_register(void)
{
}

API void shmemx_thread_unregister(void)
{
}

/* Of the calls of all threads, which is more than was asked for. */
API void shmemx_thread_quiet(void)
{
	pshmem_quiet();
}

API void shmemx_thread_fence(void)
{
	pshmem_fence();
}

API double shmemx_wtime(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
