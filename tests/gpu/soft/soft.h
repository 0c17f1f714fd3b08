/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_GPU_SOFT_H
#define TESTS_GPU_SOFT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A stand-in for CUDA's driver, for tests on machines without a GPU: libcuda.so.1 in a folder of
 * its own, which LD_LIBRARY_PATH names. It is strict where the driver is:
 *
 * memory   of the "GPU" has addresses that the processor cannot touch, so that a stray load, store
 *          or memcpy crashes. Its bytes are in a file in memory, which this library maps elsewhere
 * streams  each has a thread; copies, fills and kernels of a stream run there, later, in order.
 *          Copies between two places in the GPU's memory do not wait, not even cuMemcpy
 * kernels  the library's own (comms/gpu/kernels.c), as C, by name. They reach memory of the GPU and
 *          pinned memory, nothing else
 *
 * Settings, all of the environment:
 *
 * SOFT_CUDA_DEVICES     number of GPUs (1); CUDA_VISIBLE_DEVICES chooses among them
 * SOFT_CUDA_MEMORY      bytes of each, per process (1 GiB)
 * SOFT_CUDA_INTEGRATED  1: the GPU shares the processor's memory, and has no IPC
 * SOFT_CUDA_IPC         0: there is no IPC
 * SOFT_CUDA_REGISTER    0: memory of the program cannot be pinned
 * SOFT_CUDA_PEER        0: no GPU reaches the memory of another one
 * SOFT_CUDA_DELAY       microseconds by which one work item of a stream in four is late (50)
 * SOFT_CUDA_FAIL        cuMemAlloc_v2:3=2 lets the third call and those after it return error 2
 */

#define EXPORT __attribute__((visibility("default")))

/* Errors, by the driver's numbers. */
enum soft_error {
	SOFT_OK = 0,
	SOFT_INVALID_VALUE = 1,
	SOFT_OUT_OF_MEMORY = 2,
	SOFT_NOT_INITIALIZED = 3,
	SOFT_NO_DEVICE = 100,
	SOFT_INVALID_DEVICE = 101,
	SOFT_INVALID_CONTEXT = 201,
	SOFT_MAP_FAILED = 205,
	SOFT_PEER_UNSUPPORTED = 217,
	SOFT_INVALID_PTX = 218,
	SOFT_INVALID_HANDLE = 400,
	SOFT_NOT_FOUND = 500,
	SOFT_NOT_READY = 600,
	SOFT_ILLEGAL_ADDRESS = 700,
	SOFT_CONTEXT_DESTROYED = 709,
	SOFT_ALREADY_REGISTERED = 712,
	SOFT_NOT_REGISTERED = 713,
	SOFT_MISALIGNED = 716,
	SOFT_NOT_SUPPORTED = 801,
	SOFT_UNKNOWN = 999,
};

typedef unsigned long long soft_address; /* CUdeviceptr */

/* --- devices.c --- */

struct soft_context {
	int device;
	int retained;
};

/* Every function of the driver begins with one of these. */
#define ENTER()                                    \
	do {                                       \
		int enter_ = soft_enter(__func__); \
		if (enter_)                        \
			return enter_;             \
	} while (0)
#define ENTER_CONTEXT()                                    \
	do {                                               \
		int enter_ = soft_enter_context(__func__); \
		if (enter_)                                \
			return enter_;                     \
	} while (0)
int soft_enter(const char *name);
int soft_enter_context(const char *name);

/* A kernel went wrong: all later calls return this error, as the driver's do. */
void soft_break(int error);
int soft_broken(void);

long long soft_setting(const char *name, long long otherwise);
/* Is there such a device? */
bool soft_is_device(int device);
/* The number of a device on the machine, which CUDA_VISIBLE_DEVICES does not change. */
int soft_device_number(int device);
/* The device that has the number; -1: none that is visible. */
int soft_device_of_number(int number);
/* Of the calling thread; NULL: none. */
struct soft_context *soft_context(void);

/* --- memory.c --- */

enum soft_kind { SOFT_DEVICE, SOFT_IMPORTED, SOFT_HOST, SOFT_REGISTERED };

/* Memory that the driver knows. */
struct soft_area {
	struct soft_area *next;
	enum soft_kind kind;
	int device;  /* its number on the machine */
	char *shown; /* its address for the program and for kernels */
	char *bytes; /* where this library finds what is in it */
	size_t size, reserved;
	int fd; /* -1: none */
	unsigned long long id;
	int opened;		 /* times, of an imported one */
	int owner;		 /* the process that an imported one is of */
	unsigned long long file; /* inode of the memory file */
};

/* Where this library finds [address, address + bytes); NULL: the driver would refuse it. */
enum soft_place { SOFT_PAGEABLE, SOFT_PINNED, SOFT_ON_DEVICE };
char *soft_find_bytes(soft_address address, size_t bytes, enum soft_place *place);

/* The area that holds an address, or NULL; the lock is held from soft_areas_lock on. */
void soft_areas_lock(void);
void soft_areas_unlock(void);
struct soft_area *soft_area_at(soft_address address);
struct soft_area *soft_areas_first(void);
/* Adds an area whose bytes are in the file; NULL: no room. The file is the area's from then on. */
struct soft_area *soft_area_map(enum soft_kind kind, int fd, size_t size, int device);
void soft_area_remove(struct soft_area *area);

/* --- streams.c --- */

struct soft_stream;

struct soft_copy {
	char *dest;
	size_t dest_pitch;
	const char *source;
	size_t source_pitch;
	size_t width, height;
};

struct soft_work {
	struct soft_work *next;
	enum { SOFT_COPY, SOFT_FILL, SOFT_KERNEL, SOFT_AWAIT } what;
	struct soft_copy copy; /* a fill's destination, too */
	char *bounce;	       /* a copy of the source; freed */
	unsigned char value;
	void (*kernel)(const uint64_t *arguments);
	uint64_t arguments[8];
	struct soft_stream *stream; /* what to await */
	unsigned long long until;
};

/* Appends a copy of the work; waits until it is done, if asked. stream NULL: the default stream. */
int soft_issue(struct soft_stream *stream, const struct soft_work *work, bool wait);
/* Waits for all work of all streams. */
void soft_drain(void);

#endif
