/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_GPU_DRIVER_H
#define COMMS_GPU_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * CUDA's driver, loaded by dlopen, so that the library needs neither CUDA nor its header where it
 * is built or run. Types and constants are the driver's, under names of our own.
 */

/* Of the GPU's memory, or of this process's: one space for both. */
typedef unsigned long long gpu_address;

struct gpu_uuid {
	char bytes[16];
};

struct gpu_shared { /* what another process needs to map an allocation */
	char bytes[64];
};

enum gpu_memory_type { GPU_MEMORY_HOST = 1, GPU_MEMORY_DEVICE = 2, GPU_MEMORY_UNIFIED = 4 };

/*
 * Blocks of `width` bytes at two pitches; memory of type GPU_MEMORY_UNIFIED is found by its
 * address.
 */
struct gpu_copy_2d {
	size_t source_x, source_y;
	unsigned source_type;
	const void *source_host;
	gpu_address source;
	void *source_array;
	size_t source_pitch;
	size_t dest_x, dest_y;
	unsigned dest_type;
	void *dest_host;
	gpu_address dest;
	void *dest_array;
	size_t dest_pitch;
	size_t width, height;
};

enum gpu_constants {
	GPU_ATTRIBUTE_INTEGRATED = 18,
	GPU_ATTRIBUTE_MAJOR = 75,
	GPU_ATTRIBUTE_MINOR = 76,
	GPU_POINTER_MEMORY_TYPE = 2,
	GPU_STREAM_NON_BLOCKING = 1, /* does not wait for the program's kernels */
	GPU_MAP_LAZY_PEER_ACCESS = 1,
	GPU_PIN_PORTABLE = 1, /* in all contexts */
	GPU_PIN_MAPPED = 2,   /* kernels may access it */
	GPU_OK = 0,
	GPU_NOT_READY = 600,
	GPU_ALREADY_PINNED = 712
};

struct gpu_driver {
#define FUNCTION(field, name, arguments) int(*field) arguments;
#include "driver.def"
#undef FUNCTION
};

/*
 * The driver's functions. NULL: there is no driver or no GPU, or the library was built without
 * CUDA; problem then says what is missing.
 */
const struct gpu_driver *gpu_driver_load(const char **problem);

/* The driver's words for an error. */
const char *gpu_driver_error(const struct gpu_driver *driver, int error);

#endif
