/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_GPU_KERNELS_H
#define COMMS_GPU_KERNELS_H

#include <pthread.h>

#include "comms/core/operations.h"
#include "driver.h"

/*
 * What the library lets the GPU compute: kernels as PTX text (kernels_text.c), which the driver
 * compiles for its GPU when one is first used. Every kernel is a module of its own, so that a
 * program waits for those only that it uses.
 *
 * Addresses are of memory that the GPU reaches: its own, that of another process's GPU that is
 * mapped here, or pinned host memory. The context that uses the kernels is current. Launches return
 * at once; the stream says when they are done.
 */

enum gpu_operator { GPU_SUM, GPU_PROD, GPU_MIN, GPU_MAX, GPU_AND, GPU_OR, GPU_XOR, GPU_OPERATORS };

/* Integers of 1, 2, 4 and 8 bytes, float and double. */
enum gpu_kind { GPU_UNSIGNED, GPU_SIGNED, GPU_FLOAT, GPU_KINDS };
struct gpu_numbers {
	enum gpu_kind kind;
	size_t width; /* bytes */
	size_t count;
};

/* The numbers of kernels: combine, then atomic. */
#define GPU_ATOMICS (COMMS_CSWAP + 1)
#define GPU_WIDTHS 4
#define GPU_FIRST_ATOMIC (GPU_OPERATORS * GPU_KINDS * GPU_WIDTHS)
#define GPU_KERNELS (GPU_FIRST_ATOMIC + GPU_ATOMICS * 2)

struct gpu_kernels {
	const struct gpu_driver *driver;
	pthread_mutex_t lock;
	struct {
		void *module;
		_Atomic(void *) function;
		bool is_useless; /* the driver could not make it */
	} kernel[GPU_KERNELS];
};

void gpu_kernels_start(struct gpu_kernels *kernels, const struct gpu_driver *driver);
void gpu_kernels_stop(struct gpu_kernels *kernels);

/*
 * Each returns false if the GPU cannot do it, and then has done nothing: there is no such kernel,
 * or the driver fails to compile or to launch it.
 */

/*
 * dest[i] = low[i] op high[i]. dest may be low or high. The results are the processor's, bit for
 * bit, but for the bits of sums and products that are no numbers.
 */
bool gpu_combine(struct gpu_kernels *kernels, void *stream, enum gpu_operator op, const struct gpu_numbers *numbers,
		 gpu_address dest, gpu_address low, gpu_address high);

/* Is there a kernel for it? */
bool gpu_can_combine(struct gpu_kernels *kernels, enum gpu_operator op, const struct gpu_numbers *numbers);

/*
 * One atomic on a word, as all processors and GPUs see it. The word at old, 8 bytes of pinned
 * memory, gets the old value.
 */
bool gpu_kernel_atomic(struct gpu_kernels *kernels, void *stream, gpu_address word, const struct comms_atomic *atomic,
		       gpu_address old);

/* --- kernels_text.c --- */

#define GPU_NAME_BYTES 24
#define GPU_TEXT_BYTES 2048

/* The name and the PTX text of a kernel. Returns false if there is none of this number. */
bool gpu_kernel_text(size_t number, char name[GPU_NAME_BYTES], char text[GPU_TEXT_BYTES]);

#endif
