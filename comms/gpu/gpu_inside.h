/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_GPU_INSIDE_H
#define COMMS_GPU_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "comms/core/comms.h"
#include "comms/core/device.h"
#include "driver.h"
#include "gpu.h"

/* Shared by the files of comms/gpu/. */

/* In symmetric host memory, so that other PEs get it. */
struct gpu_card {
	uint64_t base, size;
	struct gpu_uuid gpu;
	struct gpu_shared shared;
	bool is_shared; /* the driver can show it to other processes */
};

/* By PE. state changes once, with the lock held, after here is set. */
struct gpu_peer {
	char *here; /* its heap in this process's addresses; NULL: parcels */
	struct gpu_uuid gpu;
	atomic_int state;
};
enum { GPU_UNKNOWN, GPU_MAPPED, GPU_BY_PARCELS };

struct gpu {
	const struct gpu_driver *driver;
	int device;
	struct gpu_uuid uuid;
	bool retained; /* the context is the library's reference to the device's primary one */
	bool integrated;
	void *context;
	void *stream;	  /* of operations that wait for their copies */
	void *background; /* of nonblocking ones */
	atomic_bool in_background;
	pthread_mutex_t lock;
	char *heap;
	size_t heap_size;
	struct gpu_kernels kernels;
	gpu_address scratch; /* 0: none yet */
	/* For atomics: where the GPU stores the old value. */
	pthread_mutex_t old_lock;
	uint64_t *old;
	gpu_address old_there;	 /* the GPU's address of it */
	const char *break_begin; /* of the memory that sbrk ends; NULL: unknown */
	struct gpu_peer *peers;
	struct gpu_card *card; /* this PE's, at the same place on all PEs */
	char *bounce;	       /* host memory through which this PE's puts and gets pass */
	size_t pinned;	       /* bytes of the host heap that the GPU may access */
	void *box;
	bool bounce_pinned, box_pinned;
};
extern struct gpu gpu;
extern const struct comms_device gpu_device;

#define GPU_CARD_BYTES 4096
#define GPU_BOUNCE (1UL << 20) /* bytes of each of the two halves */

/* The offset of an address in the heap on the GPU; at least heap_size: it is not in it. */
static inline size_t gpu_offset(const void *address)
{
	return (size_t)((const char *)address - gpu.heap);
}

static inline bool gpu_in_heap(const void *address)
{
	return gpu_offset(address) < gpu.heap_size;
}

static inline gpu_address gpu_address_of(const void *memory)
{
	return (gpu_address)(uintptr_t)memory;
}

/* Ends the job unless the driver's answer is good. `doing` completes "cannot ...". */
void gpu_check(int answer, const char *doing);

/* A call of the driver needs the context; pairs nest. */
void gpu_enter(void);
void gpu_leave(void);

/*
 * Either address may be the host's. gpu_copy is complete on return; gpu_copy_end completes all that
 * gpu_copy_begin has begun.
 */
void gpu_copy(void *dest, const void *source, size_t bytes);
void gpu_copy_begin(void *dest, const void *source, size_t bytes);
void gpu_copy_end(void);
void gpu_copy_blocks(void *dest, size_t dest_stride, const void *source, size_t source_stride, size_t block,
		     size_t count);
/* Begins a copy that gpu_wait_background completes. */
void gpu_copy_in_background(void *dest, const void *source, size_t bytes);
void gpu_wait_background(void);

/* An atomic on a word of a GPU that this process reaches. */
uint64_t gpu_atomic(void *word, const struct comms_atomic *atomic);

/* Where this process reaches the heap of a PE on its GPU; NULL: only by parcels. */
char *gpu_reach(int pe);
void gpu_unmap_peers(void);

/* --- Parcels --- */

size_t parcels_box_bytes(void);
void parcels_start(void *box);
void parcels_stop(void);
void parcels_put(size_t offset, const void *source, size_t bytes, const struct comms_device_signal *signal, int pe);
void parcels_get(void *dest, size_t offset, size_t bytes, int pe);
/* The same for blocks at a stride in the heap there, and at another one here. */
void parcels_put_blocks(size_t offset, const struct comms_device_blocks *blocks, int pe);
void parcels_get_blocks(size_t offset, const struct comms_device_blocks *blocks, int pe);
uint64_t parcels_amo(size_t offset, const struct comms_atomic *atomic, int pe);
void parcels_quiet(void);

#endif
