/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_GPU_GPU_H
#define COMMS_GPU_GPU_H

#include <stdbool.h>
#include <stddef.h>

#include "kernels.h"

/*
 * Symmetric memory on GPUs: implements comms/core/device.h over CUDA's driver (driver.h).
 *
 * GPU     the one that is current in the thread that starts the library; otherwise one of the
 *         machine's, in turns of the PEs of a node
 * card    what a PE shows about its heap on the GPU: base, size, and what the driver of another
 *         process needs to map it
 * parcel  a request to a PE whose heap on the GPU this process cannot map: a put, get or atomic in
 *         a slot of that PE's host memory, which a thread of its library carries out
 *
 * All PEs do the same steps: comms_gpu_find; if that succeeds on all, comms_gpu_make_heap; if that
 * does, comms_gpu_open and a barrier. After the barrier comms.device is in use.
 */

/* Finds this PE's GPU. Returns false with a reason that names what is missing. */
bool comms_gpu_find(const char **problem);

/*
 * Allocates this PE's heap; 0 bytes: a share of the GPU's free memory. Returns false with a reason.
 */
bool comms_gpu_make_heap(size_t bytes, const char **problem);
/* This PE's heap; NULL: there is none. */
void *comms_gpu_heap(size_t *bytes);

/* Fills a part of it with zeros. */
void comms_gpu_clear(void *block, size_t bytes);
/* Does the GPU share the host's memory, as integrated ones do? */
bool comms_gpu_shares_memory(void);

/* The bytes of symmetric host memory that comms_gpu_open wants; all PEs get the same number. */
size_t comms_gpu_box_bytes(void);
void comms_gpu_open(void *box);

/* Do these two PEs, whose heaps this PE reaches, use one GPU? */
bool comms_gpu_is_shared(int pe, int other);

/*
 * dest[i] = low[i] op high[i] on the GPU, all of it memory that this PE reaches there; complete
 * when comms_gpu_finish returns. Returns false, and has done nothing, if there is no kernel for it.
 */
bool comms_gpu_combine(enum gpu_operator op, const struct gpu_numbers *numbers, void *dest, const void *low,
		       const void *high);
/* May the program use that kernel? Compiles it if this is the first call for it. */
bool comms_gpu_can_combine(enum gpu_operator op, const struct gpu_numbers *numbers);
/* Memory of the GPU for intermediate results; all calls ask for the same size. */
void *comms_gpu_scratch(size_t bytes);
/* Begins a copy that comms_gpu_finish completes. */
void comms_gpu_copy(void *dest, const void *source, size_t bytes);
void comms_gpu_finish(void);

/*
 * Makes the symmetric heap on the host accessible to the GPU's kernels. Returns false with a
 * reason. comms_gpu_stop undoes it.
 */
bool comms_gpu_pin_heap(const char **problem);

/* A line about the GPU, and how this PE reaches the GPUs of others, for SHMEM_INFO. */
const char *comms_gpu_in_words(char *text, size_t size);

/*
 * This PE uses no other's memory on a GPU from now on. Call before the last barrier, because no PE
 * may free a heap that another one maps.
 */
void comms_gpu_part(void);

/* Undoes all of it, after the last barrier. */
void comms_gpu_stop(void);

#endif
