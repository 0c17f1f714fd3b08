/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heaps in memory that the program brings: each is a region (comms/core/regions.h) with an
 * allocator of its own. All PEs make the same calls, so they get the same offsets.
 */
#include "shmem/api.h"

#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

#include "comms/core/brought.h"
#include "comms/core/regions.h"
#include "rte/text/text.h"
#include "shmem/blocks.h"
#include "shmem/collectives.h"
#include "shmem/heap_checks.h"

_Static_assert(SHMEMX_HEAPS == COMMS_REGIONS, "as the man page says");

struct shmemx_heap {
	enum comms_segment_id segment;
	struct comms_segment memory;
	struct blocks *blocks; /* NULL: there is no such heap */
	size_t alignment;      /* of base on all PEs, a power of two */
	bool reported;	       /* PE 0 has said that it is full */
};

static struct shmemx_heap heaps[SHMEMX_HEAPS];

/* NULL: misuse of a job whose errors return. */
static struct shmemx_heap *heap_of(shmemx_heap_t heap, const char *routine)
{
	uintptr_t offset = (uintptr_t)heap - (uintptr_t)heaps;

	comms_check_up(routine);
	if (offset < sizeof heaps && offset % sizeof *heaps == 0 && heap->blocks)
		return heap;
	rte_misuse_together(routine, "heap=%p is no heap, or was destroyed; give a handle of shmemx_heap_create_in",
			    (void *)heap);
	return NULL;
}

/* --- Creation --- */

static bool overlaps(const char *base, size_t bytes, const struct comms_segment *segment)
{
	return base < segment->base + segment->size && segment->base < base + bytes;
}

static bool check_memory(const char *base, size_t bytes, const char *routine)
{
	static const char *const names[] = {"symmetric heap", "program's global data"};

	if (!base || bytes == 0)
		rte_misuse_together(routine, "base=%p, bytes=%zu: give memory that this process has mapped",
				    (const void *)base, bytes);
	else if ((uintptr_t)base + bytes < (uintptr_t)base)
		rte_misuse(routine, "bytes=%zu is more than there is behind base=%p", bytes, (const void *)base);
	for (int i = 0; i < COMMS_MOST_SEGMENTS; i++)
		if (comms_segment_is_in_use((enum comms_segment_id)i) && overlaps(base, bytes, &comms.segments[i]))
			rte_misuse(routine, "base=%p, bytes=%zu: this overlaps the %s; give memory of its own",
				   (const void *)base, bytes,
				   i < COMMS_FIXED_SEGMENTS ? names[i] : "memory of another heap");
	return !rte_is_broken();
}

static size_t alignment_of(const char *base)
{
	uintptr_t address = (uintptr_t)base;

	return address & -address;
}

/*
 * Has sharing succeeded on all PEs, which must give the same number of bytes? The smallest
 * alignment goes into the heap.
 */
static bool all_can_share(struct shmemx_heap *heap, bool shared, const char *routine)
{
	struct set world = set_of_team(SHMEM_TEAM_WORLD, routine);
	uint64_t words[] = {heap->memory.size, ~(uint64_t)heap->memory.size, !shared,
			    ~(uint64_t)alignment_of(heap->memory.base)};

	set_reduce_words(&world, words, sizeof words / sizeof *words, SET_MOST);
	if (rte_is_broken())
		return false;
	if (words[0] != ~words[1])
		rte_misuse_together(routine, "bytes is %zu on one PE and %zu on another; give the same on all PEs",
				    (size_t)~words[1], (size_t)words[0]);
	heap->alignment = (size_t)~words[3];
	return words[2] == 0 && !rte_is_broken();
}

static struct shmemx_heap *free_heap(void)
{
	for (int i = 0; i < SHMEMX_HEAPS; i++)
		if (!heaps[i].blocks)
			return &heaps[i];
	return NULL;
}

static bool share_memory(struct shmemx_heap *heap, uint64_t *offset, const char *routine)
{
	char problem[BROUGHT_PROBLEM] = "";
	bool shared = comms_brought_share(&heap->memory, offset, problem);

	if (!shared)
		rte_report(routine, "base=%p, bytes=%zu: %s", (void *)heap->memory.base, heap->memory.size, problem);
	if (all_can_share(heap, shared, routine))
		return true;
	if (shared)
		comms_brought_end(&heap->memory);
	return false;
}

static int create_heap(void *base, size_t bytes, shmemx_heap_t *made, const char *routine)
{
	COMMS_CALL_OR(1, routine, bytes, COMMS_NOBODY);
	struct shmemx_heap *heap = free_heap();
	uint64_t offset;

	*made = SHMEMX_HEAP_INVALID;
	if (!check_memory(base, bytes, routine))
		return 1;
	if (!heap && comms.pe == 0)
		rte_report(routine, "there are %d heaps, and no more can be; destroy one first", SHMEMX_HEAPS);
	if (!heap)
		return 1;
	heap->memory = (struct comms_segment){.base = base, .size = bytes};
	heap->reported = false;
	if (!share_memory(heap, &offset, routine))
		return 1;
	heap->blocks = blocks_create(bytes);
	if (!heap->blocks) {
		rte_break(RTE_ERROR_OTHER, rte.pe, routine, "no memory");
		comms_brought_end(&heap->memory);
		return 1;
	}
	heap->segment = comms_region_add(&heap->memory, offset, routine);
	if (heap->segment == COMMS_NO_SEGMENT) {
		rte_misuse_together(routine, "no more symmetric memory can be added; destroy a heap first");
		comms_brought_end(&heap->memory);
		blocks_destroy(heap->blocks);
		heap->blocks = NULL;
		return 1;
	}
	api_barrier_all(routine);
	*made = heap;
	return rte_is_broken();
}

API int shmemx_heap_create_in(void *base, size_t bytes, shmemx_heap_t *heap)
{
	comms_check_up(__func__);
	return create_heap(base, bytes, heap, __func__);
}

static void end_heap(struct shmemx_heap *heap)
{
	heap_checks_remove(heap->segment);
	comms_region_remove(heap->segment);
	comms_brought_end(&heap->memory);
	blocks_destroy(heap->blocks);
	heap->blocks = NULL;
}

API void shmemx_heap_destroy(shmemx_heap_t heap)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	struct shmemx_heap *of = heap_of(heap, __func__);

	if (!of)
		return;
	api_barrier_all(__func__);
	if (rte_is_broken()) /* api_heaps_stop ends it: others may still use it */
		return;
	end_heap(of);
	/* The program may unmap the memory now, which no PE has mapped any more. */
	api_barrier_all(__func__);
}

void api_heaps_stop(void)
{
	for (int i = 0; i < SHMEMX_HEAPS; i++)
		if (heaps[i].blocks)
			end_heap(&heaps[i]);
}

/* --- Allocation --- */

static void must_agree(size_t bytes, const char *other, long value, const void *ptr, const char *routine)
{
	struct set world = set_of_team(SHMEM_TEAM_WORLD, routine);

	set_check_agreement(&world, "bytes", (long)bytes, other, value, ptr);
}

static void report_full(struct shmemx_heap *heap, size_t bytes, const char *routine)
{
	char size[32], left[32], largest[32];

	if (comms.pe == 0 && !heap->reported)
		rte_report(routine,
			   "the heap at %p has no room for bytes=%zu (%s): %s free, largest block %s; ask for "
			   "less, or bring more memory",
			   (void *)heap->memory.base, bytes, text_size(bytes, size),
			   text_size(blocks_free_bytes(heap->blocks), left),
			   text_size(blocks_largest(heap->blocks), largest));
	heap->reported = true;
}

/* Clears the memory, if at all, before any PE leaves, so that it cannot erase an early put. */
static void *allocate(struct shmemx_heap *heap, size_t alignment, size_t bytes, bool clear, const char *routine)
{
	char *ptr = NULL;
	size_t offset;

	if (heap)
		must_agree(bytes, "alignment", (long)alignment, NULL, routine);
	if (bytes == 0 || rte_is_broken())
		return NULL;
	offset = blocks_allocate(heap->blocks, bytes, alignment);
	if (offset == BLOCKS_NONE) {
		report_full(heap, bytes, routine);
	} else {
		heap_checks_take(heap->segment, offset, bytes, routine);
		ptr = heap->memory.base + offset;
	}
	if (ptr && clear)
		memset(ptr, 0, bytes);
	api_barrier_all(routine);
	return rte_is_broken() ? NULL : ptr;
}

API void *shmemx_heap_malloc(shmemx_heap_t heap, size_t bytes)
{
	COMMS_CALL_OR(NULL, __func__, bytes, COMMS_NOBODY);

	return allocate(heap_of(heap, __func__), BLOCKS_UNIT, bytes, false, __func__);
}

API void *shmemx_heap_calloc(shmemx_heap_t heap, size_t count, size_t bytes)
{
	COMMS_CALL_OR(NULL, __func__, count * bytes, COMMS_NOBODY);
	size_t total;

	if (__builtin_mul_overflow(count, bytes, &total))
		total = SIZE_MAX;
	return allocate(heap_of(heap, __func__), BLOCKS_UNIT, total, true, __func__);
}

API void *shmemx_heap_align(shmemx_heap_t heap, size_t alignment, size_t bytes)
{
	COMMS_CALL_OR(NULL, __func__, bytes, COMMS_NOBODY);
	struct shmemx_heap *of = heap_of(heap, __func__);

	if (!of)
		return NULL;
	if (alignment == 0 || (alignment & (alignment - 1)))
		rte_misuse_together(__func__, "alignment=%zu is not a power of two", alignment);
	else if (alignment > of->alignment)
		rte_misuse_together(
			__func__,
			"alignment=%zu: the memory of this heap begins at a multiple of %zu on all PEs, so give "
			"that at most",
			alignment, of->alignment);
	if (rte_is_broken())
		return NULL;
	return allocate(of, alignment, bytes, false, __func__);
}

API void shmemx_heap_free(shmemx_heap_t heap, void *ptr)
{
	COMMS_CALL(__func__, 0, COMMS_NOBODY);
	struct shmemx_heap *of = heap_of(heap, __func__);
	size_t offset;

	if (!ptr || !of)
		return;
	offset = (size_t)((char *)ptr - of->memory.base);
	if (offset >= of->memory.size || blocks_size(of->blocks, offset) == BLOCKS_NONE)
		rte_misuse_together(
			__func__,
			"ptr=%p was not returned by shmemx_heap_malloc or a similar routine for this heap, or "
			"has been freed",
			ptr);
	if (rte_is_broken())
		return;
	must_agree(0, NULL, 0, ptr, __func__);
	api_barrier_all(__func__);
	if (rte_is_broken())
		return;
	heap_checks_release(of->segment, offset, __func__);
	blocks_release(of->blocks, offset);
}
