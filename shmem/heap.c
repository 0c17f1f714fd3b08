/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Symmetric memory: every PE makes the same calls, so every PE's allocator returns the same
 * offsets.
 */
#include "api.h"

#include <shmemx_binding.h>
#include <stdio.h>
#include <string.h>

#include "blocks.h"
#include "collectives.h"
#include "heap_checks.h"
#include "rte/settings.h"
#include "rte/text/text.h"

enum { MOST_REPORTED = 32 };

static struct {
	struct blocks *blocks;
	/* Sizes for which the heap has been reported as exhausted. */
	size_t reported[MOST_REPORTED];
	int reported_count;
	bool reported_now;	    /* this PE has reported the last failed allocation */
	size_t reported_alignments; /* one bit each */
} heap;

void api_heap_start(void)
{
	heap.blocks = blocks_create(comms.heap_size);
	heap.reported_count = 0;
	heap.reported_alignments = 0;
	if (!heap.blocks)
		rte_die("shmem_init", "no memory");
	heap_checks_start();
}

void api_heap_stop(void)
{
	heap_checks_stop();
	blocks_destroy(heap.blocks);
	heap.blocks = NULL;
}

/*
 * A program that searches for its largest possible size asks often; beyond this many different
 * sizes, reports tell nothing new.
 */
static bool was_reported(size_t size)
{
	for (int i = 0; i < heap.reported_count; i++)
		if (heap.reported[i] == size)
			return true;
	if (heap.reported_count == MOST_REPORTED)
		return true;
	heap.reported[heap.reported_count++] = size;
	return false;
}

static void describe_exhausted(size_t wanted, char *line, size_t length)
{
	char size[32], free[32], largest[32];

	snprintf(line, length,
		 "the symmetric heap has no room for size=%zu (%s): %s free, largest block %s, "
		 "SHMEM_SYMMETRIC_SIZE=%s; ask for less or set it higher",
		 wanted, text_size(wanted, size), text_size(blocks_free_bytes(heap.blocks), free),
		 text_size(blocks_largest(heap.blocks), largest), setting_text(SETTING_SYMMETRIC_SIZE));
}

/* All PEs fail alike: one line for the job and size. */
static void report_exhausted(size_t wanted, const char *routine)
{
	char line[320];

	heap.reported_now = comms.pe == 0 && !was_reported(wanted);
	if (!heap.reported_now)
		return;
	describe_exhausted(wanted, line, sizeof line);
	rte_report(routine, "%s", line);
}

API void shmemx_binding_no_room(size_t size)
{
	char line[320];

	if (heap.reported_now)
		rte_abort(1, RTE_SAID);
	describe_exhausted(size, line, sizeof line);
	rte_die_together("shmem_malloc", "%s", line);
}

/*
 * Heaps begin at different addresses, so a larger alignment would give different offsets on
 * different PEs. One line for the job and alignment, which is a power of two.
 */
static void report_alignment(size_t alignment, const char *routine)
{
	bool said = heap.reported_alignments & alignment;
	char most[32];

	heap.reported_alignments |= alignment;
	if (comms.pe == 0 && !said)
		rte_report(routine,
			   "alignment=%zu is more than the symmetric heap can keep on all PEs; give %s at most",
			   alignment, text_size(COMMS_HEAP_BOUNDARY, most));
}

static void *heap_take(size_t alignment, size_t size, const char *routine)
{
	size_t offset;

	if (alignment > COMMS_HEAP_BOUNDARY) {
		report_alignment(alignment, routine);
		return NULL;
	}
	offset = blocks_allocate(heap.blocks, size, alignment);
	if (offset == BLOCKS_NONE) {
		report_exhausted(size, routine);
		return NULL;
	}
	heap_checks_take(COMMS_HEAP, offset, size, routine);
	return comms_heap() + offset;
}

static void check_heap_agreement(size_t size, const char *other, long value, const void *ptr, const char *routine)
{
	struct set world = set_of_team(SHMEM_TEAM_WORLD, routine);

	set_check_agreement(&world, "size", (long)size, other, value, ptr);
}

static void heap_give_back(size_t offset, const char *routine)
{
	heap_checks_release(COMMS_HEAP, offset, routine);
	blocks_release(heap.blocks, offset);
}

static size_t offset_of(const void *ptr, const char *routine)
{
	size_t offset = (size_t)((const char *)ptr - comms_heap());

	if (offset >= comms.heap_size || blocks_size(heap.blocks, offset) == BLOCKS_NONE) {
		rte_misuse_together(routine,
				    "ptr=%p was not returned by shmem_malloc or a similar routine, or has been freed",
				    ptr);
		return BLOCKS_NONE;
	}
	return offset;
}

static void *heap_allocate(size_t alignment, size_t size, const char *other, long value, const char *routine)
{
	COMMS_CALL_OR(NULL, routine, size, COMMS_NOBODY);
	void *ptr;

	check_heap_agreement(size, other, value, NULL, routine);
	if (size == 0)
		return NULL;
	ptr = heap_take(alignment, size, routine);
	api_barrier_all(routine);
	return rte_is_broken() ? NULL : ptr; /* the heap of a broken job is of no use */
}

static void *allocate_aligned(size_t alignment, size_t size, const char *routine)
{
	COMMS_CALL_OR(NULL, routine, size, COMMS_NOBODY);

	if (alignment == 0 || (alignment & (alignment - 1))) {
		rte_misuse_together(routine, "alignment=%zu is not a power of two", alignment);
		return NULL;
	}
	if (alignment < sizeof(void *))
		alignment = sizeof(void *);
	return heap_allocate(alignment, size, "alignment", (long)alignment, routine);
}

/* Clears the memory before any PE leaves, so that it cannot erase an early put. */
static void *allocate_zeroed(size_t count, size_t size, const char *routine)
{
	COMMS_CALL_OR(NULL, routine, count * size, COMMS_NOBODY);
	size_t total;
	void *ptr;

	if (__builtin_mul_overflow(count, size, &total))
		total = SIZE_MAX;
	check_heap_agreement(total, NULL, 0, NULL, routine);
	if (total == 0)
		return NULL;
	ptr = heap_take(BLOCKS_UNIT, total, routine);
	if (ptr)
		memset(ptr, 0, total);
	api_barrier_all(routine);
	return rte_is_broken() ? NULL : ptr;
}

static void heap_release(void *ptr, const char *routine)
{
	COMMS_CALL(routine, 0, COMMS_NOBODY);
	size_t offset;

	if (!ptr)
		return;
	offset = offset_of(ptr, routine);
	if (offset == BLOCKS_NONE)
		return;
	check_heap_agreement(0, NULL, 0, ptr, routine);
	api_barrier_all(routine);
	if (rte_is_broken())
		return;
	heap_give_back(offset, routine);
}

/* Other PEs may put into the old block until they get here: hence a barrier before the move. */
static void *heap_reallocate(void *ptr, size_t size, const char *routine)
{
	COMMS_CALL_OR(NULL, routine, size, COMMS_NOBODY);
	size_t offset, old;
	void *moved;

	if (!ptr)
		return heap_allocate(BLOCKS_UNIT, size, NULL, 0, routine);
	if (size == 0) {
		heap_release(ptr, routine);
		return NULL;
	}
	offset = offset_of(ptr, routine);
	if (offset == BLOCKS_NONE)
		return NULL;
	check_heap_agreement(size, NULL, 0, ptr, routine);
	api_barrier_all(routine);
	if (rte_is_broken())
		return NULL;
	if (blocks_resize(heap.blocks, offset, size)) {
		heap_checks_resize(offset, size);
		return ptr;
	}
	old = blocks_size(heap.blocks, offset);
	moved = heap_take(BLOCKS_UNIT, size, routine);
	if (moved) {
		memcpy(moved, ptr, old < size ? old : size);
		heap_give_back(offset, routine);
	}
	api_barrier_all(routine);
	return moved;
}

void *api_allocate(size_t size, const char *routine)
{
	return heap_allocate(BLOCKS_UNIT, size, NULL, 0, routine);
}

void api_release(void *ptr, const char *routine)
{
	heap_release(ptr, routine);
}

API void *pshmem_malloc(size_t size)
{
	return heap_allocate(BLOCKS_UNIT, size, NULL, 0, __func__);
}
PROFILED(shmem_malloc)

API void *pshmem_calloc(size_t count, size_t size)
{
	return allocate_zeroed(count, size, __func__);
}
PROFILED(shmem_calloc)

API void *pshmem_align(size_t alignment, size_t size)
{
	return allocate_aligned(alignment, size, __func__);
}
PROFILED(shmem_align)

/* Hints say how memory will be used; this heap suits every use. */
API void *pshmem_malloc_with_hints(size_t size, long hints)
{
	return heap_allocate(BLOCKS_UNIT, size, "hints", hints, __func__);
}
PROFILED(shmem_malloc_with_hints)

API void *pshmem_realloc(void *ptr, size_t size)
{
	return heap_reallocate(ptr, size, __func__);
}
PROFILED(shmem_realloc)

API void pshmem_free(void *ptr)
{
	heap_release(ptr, __func__);
}
PROFILED(shmem_free)

API void *pshmalloc(size_t size)
{
	return heap_allocate(BLOCKS_UNIT, size, NULL, 0, "shmalloc");
}
PROFILED(shmalloc)

API void *pshmemalign(size_t alignment, size_t size)
{
	return allocate_aligned(alignment, size, "shmemalign");
}
PROFILED(shmemalign)

API void *pshrealloc(void *ptr, size_t size)
{
	return heap_reallocate(ptr, size, "shrealloc");
}
PROFILED(shrealloc)

API void pshfree(void *ptr)
{
	heap_release(ptr, "shfree");
}
PROFILED(shfree)
