/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Operations with memory of a GPU on one side or on both. A PE whose heap on the GPU this process
 * maps is reached by copies of the driver, another one by parcels. Host memory of a PE that only a
 * network reaches is reached through a bounce buffer here.
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "comms/ops/ops.h"
#include "comms/ops/target.h"
#include "comms/wait/wait.h"
#include "gpu_inside.h"
#include "rte/rte.h"

#define POLL_PAUSE 30000 /* ns */
/* --- What memory is it? --- */

/* The stack of this thread. */
static struct comms_reach find_stack(void)
{
	pthread_attr_t attributes;
	size_t size = 0;
	void *base = NULL;

	if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
		pthread_attr_getstack(&attributes, &base, &size);
		pthread_attr_destroy(&attributes);
	}
	return (struct comms_reach){base, size};
}

/*
 * The driver takes 3 us to say that it knows nothing of an address. A thread's stack, and what lies
 * below the program's break, are the host's for ever, and most small arguments lie there.
 */
static bool is_plainly_host(const void *memory)
{
	static _Thread_local struct comms_reach stack;

	if (!stack.base)
		stack = find_stack();
	if ((size_t)((const char *)memory - stack.base) < stack.size)
		return true;
	return gpu.break_begin && (const char *)memory >= gpu.break_begin && (const char *)memory < (char *)sbrk(0);
}

static bool owns(const void *memory)
{
	unsigned type = GPU_MEMORY_HOST;

	if (gpu_in_heap(memory))
		return true;
	if (comms_find_segment(memory) != COMMS_NO_SEGMENT || is_plainly_host(memory))
		return false;
	return gpu.driver->pointer_attribute(&type, GPU_POINTER_MEMORY_TYPE, gpu_address_of(memory)) == GPU_OK &&
	       type == GPU_MEMORY_DEVICE;
}

static void check(const void *memory, size_t bytes, const char *argument, const char *routine)
{
	if (!gpu_in_heap(memory))
		rte_die(routine, "%s=%p is memory of the GPU, but not symmetric; allocate it by shmemg_malloc",
			argument, memory);
	if (bytes > gpu.heap_size - gpu_offset(memory))
		rte_die(routine,
			"%s=%p: %zu bytes from there run past the end of the heap on the GPU at %p; check the count",
			argument, memory, bytes, (void *)(gpu.heap + gpu.heap_size));
}

/* --- The bounce buffer --- */

/* A thread that finds it taken gets memory that is not pinned, so that none waits for another. */
static pthread_mutex_t bounce_lock = PTHREAD_MUTEX_INITIALIZER;

static char *take_bounce(const char *routine)
{
	char *other;

	if (pthread_mutex_trylock(&bounce_lock) == 0)
		return gpu.bounce;
	other = malloc(2 * GPU_BOUNCE);
	if (!other)
		rte_die(routine, "no memory for a buffer of %lu bytes", 2 * GPU_BOUNCE);
	return other;
}

static void give_bounce(char *bounce)
{
	if (bounce == gpu.bounce)
		pthread_mutex_unlock(&bounce_lock);
	else
		free(bounce);
}

static size_t piece_at(size_t at, size_t bytes)
{
	return bytes - at < GPU_BOUNCE ? bytes - at : GPU_BOUNCE;
}

/* While the network takes one half, the GPU fills the other. */
static void put_through_bounce(struct comms_channel *channel, char *dest, const char *source, size_t bytes, int pe,
			       const char *routine)
{
	char *bounce = take_bounce(routine), *half = bounce;

	gpu_copy_begin(half, source, piece_at(0, bytes));
	for (size_t at = 0; at < bytes; at += GPU_BOUNCE) {
		char *other = half == bounce ? bounce + GPU_BOUNCE : bounce;

		gpu_copy_end();
		if (at + GPU_BOUNCE < bytes)
			gpu_copy_begin(other, source + at + GPU_BOUNCE, piece_at(at + GPU_BOUNCE, bytes));
		comms_channel_put(channel, dest + at, half, piece_at(at, bytes), pe, routine);
		half = other;
	}
	give_bounce(bounce);
}

static void get_through_bounce(struct comms_channel *channel, char *dest, const char *source, size_t bytes, int pe,
			       const char *routine)
{
	char *bounce = take_bounce(routine), *half = bounce;

	for (size_t at = 0; at < bytes; at += GPU_BOUNCE) {
		comms_channel_get(channel, half, source + at, piece_at(at, bytes), pe, routine);
		gpu_copy_end();
		gpu_copy_begin(dest + at, half, piece_at(at, bytes));
		half = half == bounce ? bounce + GPU_BOUNCE : bounce;
	}
	gpu_copy_end();
	give_bounce(bounce);
}

/* --- Operations --- */

static int64_t now_in_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

/*
 * Processes take turns on a GPU, and a turn costs some 100 us. Waits that did nothing but read made
 * a put with signal take 200 us, between two PEs on one GPU.
 */
static void poll(void *value, const void *word, size_t bytes)
{
	static _Thread_local int64_t last;

	while (now_in_ns() - last < POLL_PAUSE)
		comms_spin();
	gpu_copy(value, word, bytes);
	last = now_in_ns();
}

static void *reach(const void *address, int pe)
{
	char *there = gpu_in_heap(address) ? gpu_reach(pe) : NULL;

	return there ? there + gpu_offset(address) : NULL;
}

/* The PE may sleep in a wait for a word that lies there. */
static void wake(int pe)
{
	const struct comms_peer *peer = comms_connect(pe);

	if (peer->wakeup)
		comms_wake(peer);
}

static void put_to_host(struct comms_channel *channel, const struct comms_piece *piece, int pe, const char *routine)
{
	struct target t = target_check(piece->dest, piece->bytes, "dest", pe, routine);

	if (!t.here) {
		put_through_bounce(channel, piece->dest, piece->source, piece->bytes, pe, routine);
		return;
	}
	gpu_copy(t.here, piece->source, piece->bytes);
	comms_wake_at(t.place.peer, piece->dest, piece->bytes);
}

static void put(struct comms_channel *channel, const struct comms_piece *piece, int pe, bool nbi, const char *routine)
{
	char *here;

	comms_check_pe(pe, routine);
	if (!owns(piece->dest)) {
		put_to_host(channel, piece, pe, routine);
		return;
	}
	check(piece->dest, piece->bytes, "dest", routine);
	here = reach(piece->dest, pe);
	if (!here) {
		parcels_put(gpu_offset(piece->dest), piece->source, piece->bytes, NULL, pe);
	} else if (nbi) {
		gpu_copy_in_background(here, piece->source, piece->bytes);
	} else {
		gpu_copy(here, piece->source, piece->bytes);
		wake(pe);
	}
}

static void get_from_host(struct comms_channel *channel, const struct comms_piece *piece, int pe, const char *routine)
{
	struct target t = target_check(piece->source, piece->bytes, "source", pe, routine);

	if (t.here)
		gpu_copy(piece->dest, t.here, piece->bytes);
	else
		get_through_bounce(channel, piece->dest, piece->source, piece->bytes, pe, routine);
}

static void get(struct comms_channel *channel, const struct comms_piece *piece, int pe, bool nbi, const char *routine)
{
	char *here;

	comms_check_pe(pe, routine);
	if (!owns(piece->source)) {
		get_from_host(channel, piece, pe, routine);
		return;
	}
	check(piece->source, piece->bytes, "source", routine);
	here = reach(piece->source, pe);
	if (!here)
		parcels_get(piece->dest, gpu_offset(piece->source), piece->bytes, pe);
	else if (nbi)
		gpu_copy_in_background(piece->dest, here, piece->bytes);
	else
		gpu_copy(piece->dest, here, piece->bytes);
}

/* --- Blocks --- */

static size_t span_of(const struct comms_device_blocks *b, size_t stride)
{
	return (b->count - 1) * stride + b->block;
}

static char *packed_memory(const struct comms_device_blocks *b, const char *routine)
{
	char *packed = malloc(b->block * b->count);

	if (!packed)
		rte_die(routine, "no memory for a buffer of %zu bytes", b->block * b->count);
	return packed;
}

static void put_blocks_to_host(struct comms_channel *channel, const struct comms_device_blocks *b, int pe,
			       const char *routine)
{
	size_t span = span_of(b, b->dest_stride);
	struct target t = target_check(b->dest, span, "dest", pe, routine);
	char *packed;

	if (t.here) {
		gpu_copy_blocks(t.here, b->dest_stride, b->source, b->source_stride, b->block, b->count);
		comms_wake_at(t.place.peer, b->dest, span);
		return;
	}
	packed = packed_memory(b, routine);
	gpu_copy_blocks(packed, b->block, b->source, b->source_stride, b->block, b->count);
	for (size_t i = 0; i < b->count; i++)
		comms_channel_put(channel, (char *)b->dest + i * b->dest_stride, packed + i * b->block, b->block, pe,
				  routine);
	free(packed);
}

static void put_blocks(struct comms_channel *channel, const struct comms_device_blocks *b, int pe, const char *routine)
{
	char *here;

	comms_check_pe(pe, routine);
	if (!owns(b->dest)) {
		put_blocks_to_host(channel, b, pe, routine);
		return;
	}
	check(b->dest, span_of(b, b->dest_stride), "dest", routine);
	here = reach(b->dest, pe);
	if (here) {
		gpu_copy_blocks(here, b->dest_stride, b->source, b->source_stride, b->block, b->count);
		wake(pe);
	} else {
		parcels_put_blocks(gpu_offset(b->dest), b, pe);
	}
}

static void get_blocks_from_host(struct comms_channel *channel, const struct comms_device_blocks *b, int pe,
				 const char *routine)
{
	struct target t = target_check(b->source, span_of(b, b->source_stride), "source", pe, routine);
	char *packed;

	if (t.here) {
		gpu_copy_blocks(b->dest, b->dest_stride, t.here, b->source_stride, b->block, b->count);
		return;
	}
	packed = packed_memory(b, routine);
	for (size_t i = 0; i < b->count; i++)
		comms_channel_get_nbi(channel, packed + i * b->block, (const char *)b->source + i * b->source_stride,
				      b->block, pe, routine);
	comms_channel_quiet_pes(channel, &pe, 1);
	gpu_copy_blocks(b->dest, b->dest_stride, packed, b->block, b->block, b->count);
	free(packed);
}

static void get_blocks(struct comms_channel *channel, const struct comms_device_blocks *b, int pe, const char *routine)
{
	char *here;

	comms_check_pe(pe, routine);
	if (!owns(b->source)) {
		get_blocks_from_host(channel, b, pe, routine);
		return;
	}
	check(b->source, span_of(b, b->source_stride), "source", routine);
	here = reach(b->source, pe);
	if (here)
		gpu_copy_blocks(b->dest, b->dest_stride, here, b->source_stride, b->block, b->count);
	else
		parcels_get_blocks(gpu_offset(b->source), b, pe);
}

/* --- Words --- */

static uint64_t amo(void *word, const struct comms_atomic *atomic, int pe, const char *routine)
{
	uint64_t old;
	char *here;

	comms_check_pe(pe, routine);
	check(word, atomic->width, "dest", routine);
	if ((uintptr_t)word % atomic->width)
		rte_die(routine, "dest=%p is not aligned to %zu bytes, as atomics need", word, atomic->width);
	here = reach(word, pe);
	if (!here)
		return parcels_amo(gpu_offset(word), atomic, pe);
	old = gpu_atomic(here, atomic);
	wake(pe);
	return old;
}

static void quiet(void)
{
	gpu_wait_background();
	parcels_quiet();
}

/*
 * A parcel changes the signal after its data; otherwise the data is complete before the signal
 * begins.
 */
static void put_signal(struct comms_channel *channel, const struct comms_piece *piece,
		       const struct comms_device_signal *signal, int pe, const char *routine)
{
	const struct comms_atomic atomic = {signal->op, sizeof *signal->word, signal->value, 0};

	comms_check_pe(pe, routine);
	if (piece->bytes && owns(piece->dest) && !gpu_reach(pe)) {
		check(piece->dest, piece->bytes, "dest", routine);
		parcels_put(gpu_offset(piece->dest), piece->source, piece->bytes, signal, pe);
		return;
	}
	if (piece->bytes && comms_on_device(piece->dest, piece->source))
		put(channel, piece, pe, false, routine);
	else if (piece->bytes)
		comms_channel_put(channel, piece->dest, piece->source, piece->bytes, pe, routine);
	if (gpu_in_heap(signal->word)) {
		comms_channel_quiet_pes(channel, &pe, 1);
		amo(signal->word, &atomic, pe, routine);
		return;
	}
	comms_channel_fence(channel);
	comms_channel_amo(channel, signal->word, &atomic, pe, routine);
}

const struct comms_device gpu_device = {
	.owns = owns,
	.check = check,
	.copy = gpu_copy,
	.poll = poll,
	.copy_blocks = gpu_copy_blocks,
	.reach = reach,
	.put = put,
	.get = get,
	.put_blocks = put_blocks,
	.get_blocks = get_blocks,
	.put_signal = put_signal,
	.amo = amo,
	.quiet = quiet,
};
