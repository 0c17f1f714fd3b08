/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles and launches the kernels. */
#include <string.h>

#include "kernels.h"

#define THREADS 256	 /* of a block */
#define MOST_BLOCKS 2048 /* enough for the largest GPU; each thread then does several elements */

void gpu_kernels_start(struct gpu_kernels *kernels, const struct gpu_driver *driver)
{
	memset(kernels, 0, sizeof *kernels);
	kernels->driver = driver;
	pthread_mutex_init(&kernels->lock, NULL);
}

void gpu_kernels_stop(struct gpu_kernels *kernels)
{
	for (size_t i = 0; i < GPU_KERNELS; i++)
		if (kernels->kernel[i].module)
			kernels->driver->module_unload(kernels->kernel[i].module);
	pthread_mutex_destroy(&kernels->lock);
	memset(kernels, 0, sizeof *kernels);
}

/* The lock is held. */
static void *compile(struct gpu_kernels *kernels, size_t number)
{
	char name[GPU_NAME_BYTES], text[GPU_TEXT_BYTES];
	void *function = NULL;

	if (gpu_kernel_text(number, name, text) &&
	    kernels->driver->module_load(&kernels->kernel[number].module, text) == GPU_OK &&
	    kernels->driver->module_function(&function, kernels->kernel[number].module, name) != GPU_OK)
		function = NULL;
	kernels->kernel[number].is_useless = !function;
	atomic_store_explicit(&kernels->kernel[number].function, function, memory_order_release);
	return function;
}

static void *find_function(struct gpu_kernels *kernels, size_t number)
{
	void *function = atomic_load_explicit(&kernels->kernel[number].function, memory_order_acquire);

	if (function)
		return function;
	pthread_mutex_lock(&kernels->lock);
	function = atomic_load_explicit(&kernels->kernel[number].function, memory_order_relaxed);
	if (!function && !kernels->kernel[number].is_useless)
		function = compile(kernels, number);
	pthread_mutex_unlock(&kernels->lock);
	return function;
}

static bool launch(struct gpu_kernels *kernels, void *stream, size_t number, size_t elements, void **arguments)
{
	void *function = find_function(kernels, number);
	size_t blocks = (elements + THREADS - 1) / THREADS;
	unsigned threads = elements < THREADS ? (unsigned)elements : THREADS;

	if (!function)
		return false;
	if (blocks > MOST_BLOCKS)
		blocks = MOST_BLOCKS;
	return kernels->driver->launch(function, (unsigned)blocks, 1, 1, threads, 1, 1, 0, stream, arguments, NULL) ==
	       GPU_OK;
}

/* The exponent of a power of two up to `most`, or -1. */
static int exponent_of(size_t width, size_t most)
{
	return width > 0 && width <= most && !(width & (width - 1)) ? __builtin_ctzl(width) : -1;
}

static size_t number_of(enum gpu_operator op, const struct gpu_numbers *numbers, int exponent)
{
	return ((size_t)op * GPU_KINDS + (size_t)numbers->kind) * GPU_WIDTHS + (size_t)exponent;
}

bool gpu_can_combine(struct gpu_kernels *kernels, enum gpu_operator op, const struct gpu_numbers *numbers)
{
	int exponent = exponent_of(numbers->width, 8);

	return exponent >= 0 && find_function(kernels, number_of(op, numbers, exponent));
}

bool gpu_combine(struct gpu_kernels *kernels, void *stream, enum gpu_operator op, const struct gpu_numbers *numbers,
		 gpu_address dest, gpu_address low, gpu_address high)
{
	int exponent = exponent_of(numbers->width, 8);
	uint64_t count = numbers->count;
	void *arguments[] = {&dest, &low, &high, &count};

	if (exponent < 0 || ((dest | low | high) & (numbers->width - 1)))
		return false;
	if (count == 0)
		return true;
	return launch(kernels, stream, number_of(op, numbers, exponent), count, arguments);
}

bool gpu_kernel_atomic(struct gpu_kernels *kernels, void *stream, gpu_address word, const struct comms_atomic *atomic,
		       gpu_address old)
{
	uint64_t operand = atomic->operand, compare = atomic->compare;
	void *arguments[] = {&word, &operand, &compare, &old};

	return launch(kernels, stream, GPU_FIRST_ATOMIC + (size_t)atomic->op * 2 + (atomic->width == 8), 1, arguments);
}
