/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric memory on GPUs: the host's half of the draft "OpenSHMEM Auxiliary Specification for GPU
 * Support", version 0.1. Names may change with the draft. See shmemg(3).
 */
#ifndef TORUSHMEM_SHMEMG_H
#define TORUSHMEM_SHMEMG_H

#include <shmem.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHMEMG_MAJOR_VERSION 0
#define SHMEMG_MINOR_VERSION 1

/*
 * Or'ed to the thread level that shmem_init_thread requests: memory of the GPU may be an argument
 * of the standard's routines; kernels may call routines (never provided by this library).
 */
#define SHMEM_DEVICE_HOST_INIT (1 << 8)
#define SHMEM_DEVICE_KERNEL_INIT (1 << 9)
/* Of shmem_ctx_create: for kernels; creating such a context fails. */
#define SHMEM_DEVICE_CTX (1L << 10)
/* Hints of shmem_malloc_with_hints. */
#define SHMEM_DEVICE_MALLOC_HOST_INIT (1L << 8)
#define SHMEM_DEVICE_MALLOC_KERNEL_INIT (1L << 9)

/* All PEs; and those whose heaps on the GPU this PE reaches by shmem_ptr, and they this PE's. */
#define SHMEM_DEVICE_TEAM_WORLD ((shmem_team_t)3)
#define SHMEM_DEVICE_TEAM_SHARED ((shmem_team_t)4)
#define SHMEM_DEVICE_CTX_DEFAULT ((shmem_ctx_t)2)

void *shmemg_malloc(size_t size);
void *shmemg_calloc(size_t count, size_t size);
void *shmemg_align(size_t alignment, size_t size);
void shmemg_free(void *ptr);

/*
 * Makes the symmetric heap on the host, all of it, accessible to kernels of this PE's GPU, so that
 * they load, store and poll it at the host's addresses. Done by itself on GPUs that share the
 * host's memory. Returns 0, or nonzero with a line that says why not.
 */
int shmemx_gpu_pin_heap(void);

#ifdef __cplusplus
}
#endif

#endif
