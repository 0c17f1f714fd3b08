/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names by which Sandia OpenSHMEM takes memory of the program: it is noted between preinit and
 * postinit, and becomes symmetric in postinit. The program divides it by itself.
 */
#include "shmem/api.h"

#include <shmemx.h>

static struct {
	struct noted {
		void *base;
		size_t bytes;
	} noted[SHMEMX_HEAPS];
	int count;
} external;

API void shmemx_heap_preinit(void)
{
	external.count = 0;
	pshmem_init();
}

API int shmemx_heap_preinit_thread(int requested, int *provided)
{
	external.count = 0;
	return pshmem_init_thread(requested, provided);
}

API void shmemx_heap_create(void *base, size_t size, int device_type, int device_index)
{
	comms_check_up(__func__);
	if (device_type != SHMEMX_EXTERNAL_HEAP_ZE && device_type != SHMEMX_EXTERNAL_HEAP_CUDA)
		rte_misuse_together(__func__,
				    "device_type=%d: give SHMEMX_EXTERNAL_HEAP_ZE or SHMEMX_EXTERNAL_HEAP_CUDA",
				    device_type);
	else if (device_index != -1)
		rte_misuse_together(
			__func__,
			"device_index=%d: this routine takes memory that the processor loads and stores; give "
			"-1, and memory of that kind",
			device_index);
	else if (external.count == SHMEMX_HEAPS)
		rte_misuse_together(__func__, "there are %d heaps, and no more can be", SHMEMX_HEAPS);
	if (rte_is_broken())
		return;
	external.noted[external.count++] = (struct noted){base, size};
}

API void shmemx_heap_postinit(void)
{
	shmemx_heap_t heap;

	comms_check_up(__func__);
	for (int i = 0; i < external.count && !rte_is_broken(); i++)
		if (shmemx_heap_create_in(external.noted[i].base, external.noted[i].bytes, &heap))
			rte_misuse_together(__func__, "the memory of call %d of shmemx_heap_create cannot be symmetric",
					    i + 1);
	external.count = 0;
	api_barrier_all(__func__);
}
