/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_GPU_DEVICE_H
#define TESTS_GPU_DEVICE_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Fills and reads memory of a GPU by CUDA's driver, independently of the library that is tested. No
 * header of CUDA is needed. Calls that fail end the process.
 */

typedef unsigned long long device_address;

#define DEVICE_FUNCTIONS(X)                                                                        \
	X(cuInit, (unsigned flags))                                                                \
	X(cuDeviceGet, (int *device, int ordinal))                                                 \
	X(cuDeviceGetCount, (int *count))                                                          \
	X(cuDeviceGetName, (char *name, int length, int device))                                   \
	X(cuDriverGetVersion, (int *version))                                                      \
	X(cuDeviceGetAttribute, (int *value, int attribute, int device))                           \
	X(cuDevicePrimaryCtxRetain, (void **context, int device))                                  \
	X(cuCtxSetCurrent, (void *context))                                                        \
	X(cuCtxSynchronize, (void))                                                                \
	X(cuMemAlloc_v2, (device_address * address, size_t bytes))                                 \
	X(cuMemFree_v2, (device_address address))                                                  \
	X(cuMemHostAlloc, (void **address, size_t bytes, unsigned flags))                          \
	X(cuMemFreeHost, (void *address))                                                          \
	X(cuMemcpy, (device_address dest, device_address source, size_t bytes))                    \
	X(cuMemcpyAsync, (device_address dest, device_address source, size_t bytes, void *stream)) \
	X(cuMemsetD8_v2, (device_address dest, unsigned char value, size_t bytes))                 \
	X(cuStreamCreate, (void **stream, unsigned flags))                                         \
	X(cuStreamSynchronize, (void *stream))                                                     \
	X(cuPointerGetAttribute, (void *value, int attribute, device_address address))             \
	X(cuGetErrorString, (int error, const char **text))

#define DEVICE_FIELD(NAME, ARGUMENTS) int(*NAME) ARGUMENTS;
__attribute__((unused)) static struct {
	void *library;
	int device;
	void *context;
	DEVICE_FUNCTIONS(DEVICE_FIELD)
} device;

__attribute__((unused, noreturn)) static void device_fail(const char *call, int error)
{
	const char *text = NULL;

	if (device.cuGetErrorString)
		device.cuGetErrorString(error, &text);
	fprintf(stderr, "%s: error %d, %s\n", call, error, text ? text : "which the driver does not know");
	exit(1);
}

#define DEVICE(CALL)                                       \
	do {                                               \
		int device_error_ = device.CALL;           \
		if (device_error_)                         \
			device_fail(#CALL, device_error_); \
	} while (0)

__attribute__((unused)) static void *device_symbol(const char *name)
{
	void *symbol = dlsym(device.library, name);

	if (!symbol)
		device_fail(name, -1);
	return symbol;
}

/* Of several GPUs the PEs take turns. */
static inline int device_choose(void)
{
	const char *rank = getenv("PMIX_RANK");
	int count = 1;

	DEVICE(cuDeviceGetCount(&count));
	return rank ? atoi(rank) % count : 0;
}

/* Makes the GPU current in this thread; before shmem_init_thread, as the specification wants. */
__attribute__((unused)) static void device_start(void)
{
	device.library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!device.library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(77);
	}
#define DEVICE_FIND(NAME, ARGUMENTS)                               \
	{                                                          \
		void *symbol = device_symbol(#NAME);               \
		memcpy(&device.NAME, &symbol, sizeof device.NAME); \
	}
	DEVICE_FUNCTIONS(DEVICE_FIND)
	DEVICE(cuInit(0));
	DEVICE(cuDeviceGet(&device.device, device_choose()));
	DEVICE(cuDevicePrimaryCtxRetain(&device.context, device.device));
	DEVICE(cuCtxSetCurrent(device.context));
}

static inline device_address device_of(const void *memory)
{
	return (device_address)(uintptr_t)memory;
}

__attribute__((unused)) static void *device_alloc(size_t bytes)
{
	device_address address;

	DEVICE(cuMemAlloc_v2(&address, bytes));
	return (void *)(uintptr_t)address;
}

__attribute__((unused)) static void device_free(void *memory)
{
	DEVICE(cuMemFree_v2(device_of(memory)));
}

/* Either may be memory of the host. The copy is complete on return. */
__attribute__((unused)) static void device_copy(void *dest, const void *source, size_t bytes)
{
	DEVICE(cuMemcpy(device_of(dest), device_of(source), bytes));
	DEVICE(cuCtxSynchronize());
}

__attribute__((unused)) static void device_fill(void *dest, int byte, size_t bytes)
{
	DEVICE(cuMemsetD8_v2(device_of(dest), (unsigned char)byte, bytes));
	DEVICE(cuCtxSynchronize());
}

/* Is it memory of a GPU? */
__attribute__((unused)) static int device_owns(const void *memory)
{
	unsigned type = 0;

	return device.cuPointerGetAttribute(&type, 2, device_of(memory)) == 0 && type == 2;
}

#endif
