/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef COMMS_DEVICE_H
#define COMMS_DEVICE_H

#include "operations.h"

/*
 * The contract between the operations and memory that the processor can neither load nor store:
 * that of a GPU (comms/gpu/ implements it). comms.device is NULL unless the program asked for such
 * memory at the start; while it is not NULL no routine takes its quick path (comms.quick_pes is 0),
 * and operations ask `owns` about both their arguments before they touch them.
 *
 * Memory of a device is the device heap, which is symmetric, or the program's own. PE numbers are
 * those of the world. All functions may be called by any thread.
 */
struct comms_device_signal {
	uint64_t *word, value;
	enum comms_amo op;
};

/* Blocks of `block` bytes; strides are in bytes. */
struct comms_device_blocks {
	void *dest;
	size_t dest_stride;
	const void *source;
	size_t source_stride, block, count;
};

struct comms_device {
	bool (*owns)(const void *memory);
	/* Ends the job with a message unless these bytes are in the device heap. */
	void (*check)(const void *memory, size_t bytes, const char *argument, const char *routine);
	/*
	 * Copies between memory of this PE, or memory that it reaches by shmem_ptr. On return the
	 * copy is complete.
	 */
	void (*copy)(void *dest, const void *source, size_t bytes);
	/*
	 * The same for a wait that reads a word again and again: it pauses, so that the device has
	 * time for those who would change the word.
	 */
	void (*poll)(void *value, const void *word, size_t bytes);
	/* The same for `count` blocks at strides in bytes. */
	void (*copy_blocks)(void *dest, size_t dest_stride, const void *source, size_t source_stride, size_t block,
			    size_t count);
	/* Where this process reaches an address of the device heap of a PE; NULL: it does not. */
	void *(*reach)(const void *address, int pe);
	/* dest or source, or both, are memory of a device. As in comms/ops/ops.h. */
	void (*put)(struct comms_channel *channel, const struct comms_piece *piece, int pe, bool nbi,
		    const char *routine);
	void (*get)(struct comms_channel *channel, const struct comms_piece *piece, int pe, bool nbi,
		    const char *routine);
	/* The same for blocks; blocking. */
	void (*put_blocks)(struct comms_channel *channel, const struct comms_device_blocks *blocks, int pe,
			   const char *routine);
	void (*get_blocks)(struct comms_channel *channel, const struct comms_device_blocks *blocks, int pe,
			   const char *routine);
	/* dest, source or the word, or some of them, are memory of a device. */
	void (*put_signal)(struct comms_channel *channel, const struct comms_piece *piece,
			   const struct comms_device_signal *signal, int pe, const char *routine);
	/* The word is in the device heap. Returns the old value, zero-extended. */
	uint64_t (*amo)(void *word, const struct comms_atomic *atomic, int pe, const char *routine);
	/* Waits until all operations of this PE on device heaps have taken effect. */
	void (*quiet)(void);
};

static inline bool comms_is_on_device(const void *memory)
{
	return COMMS_UNLIKELY(comms.device != NULL) && comms.device->owns(memory);
}

/* Does one of the two lie in memory of a device? */
static inline bool comms_on_device(const void *one, const void *other)
{
	return COMMS_UNLIKELY(comms.device != NULL) && (comms.device->owns(one) || comms.device->owns(other));
}

#endif
