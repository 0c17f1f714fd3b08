/* SPDX-License-Identifier: BSD-3-Clause */
/* This PE's GPU and its heap there: gpu.h. */
#include "gpu_inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rte/rte.h"
#include "rte/text/text.h"

struct gpu gpu = {.lock = PTHREAD_MUTEX_INITIALIZER, .old_lock = PTHREAD_MUTEX_INITIALIZER};

#define HEAP_LEAST (2UL << 20) /* the driver puts smaller allocations together into one */
#define HEAP_UNIT (2UL << 20)
#define HEAP_DEFAULT (1UL << 30)

static bool fails(int answer, const char *doing, const char **problem)
{
	static char text[200];

	if (answer == GPU_OK)
		return false;
	snprintf(text, sizeof text, "the GPU's driver cannot %s: %s", doing, gpu_driver_error(gpu.driver, answer));
	*problem = text;
	return true;
}

void gpu_check(int answer, const char *doing)
{
	const char *problem;

	if (COMMS_UNLIKELY(fails(answer, doing, &problem)))
		rte_die(NULL, "%s", problem);
}

/*
 * The program's threads may have another context, or none. The library's own must not stay behind:
 * the program would find it as the current one.
 */
void gpu_enter(void)
{
	gpu_check(gpu.driver->context_push(gpu.context), "use its context");
}

void gpu_leave(void)
{
	void *left;

	gpu_check(gpu.driver->context_pop(&left), "leave its context");
}

/* --- Finding it --- */

/* The program has chosen by cudaSetDevice or the like; else the PEs of a node take turns. */
static bool take_context(const char **problem)
{
	int count = 1;

	if (fails(gpu.driver->context_current(&gpu.context), "tell the current context", problem))
		return false;
	if (gpu.context)
		return !fails(gpu.driver->context_device(&gpu.device), "tell the current device", problem);
	if (fails(gpu.driver->device_count(&count), "count the GPUs", problem) ||
	    fails(gpu.driver->device_get(&gpu.device, comms.node_index % count), "name a GPU", problem) ||
	    fails(gpu.driver->primary_retain(&gpu.context, gpu.device), "make a context", problem))
		return false;
	gpu.retained = true;
	return !fails(gpu.driver->context_set(gpu.context), "use its context", problem);
}

static bool make_streams(const char **problem)
{
	int integrated = 0;

	gpu.driver->device_attribute(&integrated, GPU_ATTRIBUTE_INTEGRATED, gpu.device);
	gpu.driver->device_uuid(&gpu.uuid, gpu.device);
	gpu.integrated = integrated != 0;
	return !fails(gpu.driver->stream_create(&gpu.stream, GPU_STREAM_NON_BLOCKING), "create a stream", problem) &&
	       !fails(gpu.driver->stream_create(&gpu.background, GPU_STREAM_NON_BLOCKING), "create a stream", problem);
}

bool comms_gpu_find(const char **problem)
{
	gpu.driver = gpu_driver_load(problem);
	return gpu.driver && take_context(problem) && make_streams(problem);
}

/* --- The heap --- */

/* PEs of a node may share a GPU, and the program needs memory there, too. */
static size_t default_heap(void)
{
	size_t share = 0, total;

	gpu.driver->memory_info(&share, &total);
	share /= 2 * (size_t)comms.n_node;
	return share < HEAP_DEFAULT ? share : HEAP_DEFAULT;
}

bool comms_gpu_make_heap(size_t bytes, const char **problem)
{
	size_t size = bytes ? bytes : default_heap();
	static char doing[80];
	gpu_address base = 0;
	char text[32];
	bool made;

	size = size < HEAP_LEAST ? HEAP_LEAST : (size + HEAP_UNIT - 1) / HEAP_UNIT * HEAP_UNIT;
	snprintf(doing, sizeof doing, "allocate a heap of %s (SHMEM_DEVICE_SYMMETRIC_SIZE)", text_size(size, text));
	gpu_enter();
	made = !fails(gpu.driver->allocate(&base, size), doing, problem);
	gpu_leave();
	if (!made)
		return false;
	gpu.heap = (char *)(uintptr_t)base;
	gpu.heap_size = size;
	return true;
}

void *comms_gpu_heap(size_t *bytes)
{
	*bytes = gpu.heap_size;
	return gpu.heap;
}

void comms_gpu_clear(void *block, size_t bytes)
{
	gpu_enter();
	gpu_check(gpu.driver->fill(gpu_address_of(block), 0, bytes, gpu.stream), "fill memory");
	gpu_check(gpu.driver->stream_wait(gpu.stream), "fill memory");
	gpu_leave();
}

bool comms_gpu_shares_memory(void)
{
	return gpu.integrated;
}

bool comms_gpu_pin_heap(const char **problem)
{
	char *heap = comms_heap();
	int answer;

	if (gpu.pinned)
		return true;
	gpu_enter();
	if (gpu.box_pinned) /* it is a part of the heap, and the driver pins nothing twice */
		gpu.driver->unpin(gpu.box);
	gpu.box_pinned = false;
	answer = gpu.driver->pin(heap, comms.heap_size, GPU_PIN_PORTABLE | GPU_PIN_MAPPED);
	gpu_leave();
	if (fails(answer, "pin the heap on the host", problem))
		return false;
	gpu.pinned = comms.heap_size;
	return true;
}

/* --- Copies --- */

void gpu_copy_begin(void *dest, const void *source, size_t bytes)
{
	gpu_enter();
	gpu_check(gpu.driver->copy(gpu_address_of(dest), gpu_address_of(source), bytes, gpu.stream), "copy");
	gpu_leave();
}

void gpu_copy_end(void)
{
	gpu_enter();
	gpu_check(gpu.driver->stream_wait(gpu.stream), "finish a copy");
	gpu_leave();
}

void gpu_copy(void *dest, const void *source, size_t bytes)
{
	if (bytes == 0)
		return;
	gpu_copy_begin(dest, source, bytes);
	gpu_copy_end();
}

void gpu_copy_in_background(void *dest, const void *source, size_t bytes)
{
	if (bytes == 0)
		return;
	gpu_enter();
	gpu_check(gpu.driver->copy(gpu_address_of(dest), gpu_address_of(source), bytes, gpu.background), "copy");
	gpu_leave();
	atomic_store_explicit(&gpu.in_background, true, memory_order_release);
}

void gpu_wait_background(void)
{
	if (!atomic_load_explicit(&gpu.in_background, memory_order_acquire))
		return;
	atomic_store_explicit(&gpu.in_background, false, memory_order_relaxed);
	gpu_enter();
	gpu_check(gpu.driver->stream_wait(gpu.background), "finish copies");
	gpu_leave();
}

#define PITCH_MOST 0x7fffffffUL /* of the driver */

void gpu_copy_blocks(void *dest, size_t dest_stride, const void *source, size_t source_stride, size_t block,
		     size_t count)
{
	const struct gpu_copy_2d copy = {
		.source_type = GPU_MEMORY_UNIFIED,
		.source = gpu_address_of(source),
		.source_pitch = source_stride,
		.dest_type = GPU_MEMORY_UNIFIED,
		.dest = gpu_address_of(dest),
		.dest_pitch = dest_stride,
		.width = block,
		.height = count,
	};

	if (block == 0 || count == 0)
		return;
	if (count == 1 || dest_stride < block || source_stride < block || dest_stride > PITCH_MOST ||
	    source_stride > PITCH_MOST) {
		for (size_t i = 0; i < count; i++)
			gpu_copy((char *)dest + i * dest_stride, (const char *)source + i * source_stride, block);
		return;
	}
	gpu_enter();
	gpu_check(gpu.driver->copy_2d(&copy, gpu.stream), "copy blocks");
	gpu_check(gpu.driver->stream_wait(gpu.stream), "finish a copy");
	gpu_leave();
}

/* --- Atomics --- */

uint64_t gpu_atomic(void *word, const struct comms_atomic *atomic)
{
	uint64_t old;
	bool done;

	pthread_mutex_lock(&gpu.old_lock);
	gpu_enter();
	*gpu.old = 0;
	done = gpu_kernel_atomic(&gpu.kernels, gpu.stream, gpu_address_of(word), atomic, gpu.old_there);
	if (!done)
		rte_die(NULL, "the GPU's driver cannot run the library's kernel for atomics; update the driver");
	gpu_check(gpu.driver->stream_wait(gpu.stream), "finish an atomic");
	gpu_leave();
	old = *gpu.old;
	pthread_mutex_unlock(&gpu.old_lock);
	return old;
}

/* --- Work for the GPU --- */

bool comms_gpu_combine(enum gpu_operator op, const struct gpu_numbers *numbers, void *dest, const void *low,
		       const void *high)
{
	bool done;

	gpu_enter();
	done = gpu_combine(&gpu.kernels, gpu.stream, op, numbers, gpu_address_of(dest), gpu_address_of(low),
			   gpu_address_of(high));
	gpu_leave();
	return done;
}

bool comms_gpu_can_combine(enum gpu_operator op, const struct gpu_numbers *numbers)
{
	bool can;

	gpu_enter();
	can = gpu_can_combine(&gpu.kernels, op, numbers);
	gpu_leave();
	return can;
}

void *comms_gpu_scratch(size_t bytes)
{
	if (!gpu.scratch) {
		gpu_enter();
		gpu_check(gpu.driver->allocate(&gpu.scratch, bytes), "allocate memory for results");
		gpu_leave();
	}
	return (void *)(uintptr_t)gpu.scratch;
}

void comms_gpu_copy(void *dest, const void *source, size_t bytes)
{
	if (bytes > 0)
		gpu_copy_begin(dest, source, bytes);
}

void comms_gpu_finish(void)
{
	gpu_copy_end();
}
