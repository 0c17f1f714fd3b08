/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What SHMEM_CHECK finds in heaps: an address in no block, or data in more than one.
 *
 * The blocks of this PE stand for those of all. Every PE has allocated a block before shmem_malloc
 * returns on any, and no PE frees one before all have called shmem_free. So any block that a
 * correct program uses on another PE also exists here.
 */
#include "heap_checks.h"

#include <pthread.h>
#include <stdio.h>

#include "api.h"
#include "block_table.h"
#include "caller.h"
#include "comms/core/regions.h"

static struct {
	pthread_mutex_t lock; /* other threads may put during an allocation */
	/* NULL: nothing to check there. */
	struct block_table *table[COMMS_MOST_SEGMENTS];
} heap_checks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static char *base_of(enum comms_segment_id segment)
{
	return segment == COMMS_HEAP ? comms_heap() : comms.segments[segment].base;
}

static struct block_finding find_block(enum comms_segment_id segment, size_t offset, size_t bytes)
{
	struct block_finding found = {.place = BLOCK_INSIDE};

	pthread_mutex_lock(&heap_checks.lock);
	if (heap_checks.table[segment])
		found = block_table_find(heap_checks.table[segment], offset, bytes);
	pthread_mutex_unlock(&heap_checks.lock);
	return found;
}

/* All PEs often make this mistake together. */
static void complain_of_place(const struct block_finding *found, const char *address, size_t offset, size_t bytes,
			      const char *text, const char *routine)
{
	const struct block_record *block = &found->block;
	size_t at = offset - block->offset;
	const void *begin = address - at;

	switch (found->place) {
	case BLOCK_FREED:
		rte_misuse_together(
			routine,
			"%s: this memory was freed: it is byte %zu of a block of %zu bytes that %s gave back; free a "
			"block after its last use",
			text, at, block->bytes, found->freed_by);
		break;
	case BLOCK_RUNS_OUT:
		rte_misuse_together(
			routine,
			"%s: %zu bytes from there run past the end of the block of %zu bytes at %p, in which "
			"it is byte %zu; check the count",
			text, bytes, block->bytes, begin, at);
		break;
	case BLOCK_BEHIND:
		rte_misuse_together(
			routine,
			"%s: this memory is not allocated; it lies %zu bytes behind the end of the block of %zu bytes "
			"at %p; check the index",
			text, at - block->bytes, block->bytes, begin);
		break;
	default:
		rte_misuse_together(
			routine,
			"%s: this memory is not allocated, and no block lies before it; use an address inside of a "
			"block that was allocated there",
			text);
	}
}

static void check_block(const void *address, size_t bytes, const char *argument, const char *routine)
{
	enum comms_segment_id segment = comms_find_segment(address);
	size_t offset = (size_t)((const char *)address - base_of(segment));
	struct block_finding found = find_block(segment, offset, bytes);
	char text[96];

	if (COMMS_LIKELY(found.place == BLOCK_INSIDE))
		return;
	snprintf(text, sizeof text, "%s=%p (offset %zu of the %s)", argument, address, offset,
		 comms_segment_name(segment));
	complain_of_place(&found, address, offset, bytes, text, routine);
}

void heap_checks_start(void)
{
	if (!comms.checks)
		return;
	heap_checks.table[COMMS_HEAP] = block_table_create();
	if (!heap_checks.table[COMMS_HEAP])
		rte_die("shmem_init", "SHMEM_CHECK: no memory");
	comms.check_block = check_block;
}

void heap_checks_stop(void)
{
	comms.check_block = NULL;
	heap_checks_remove(COMMS_HEAP);
}

void heap_checks_remove(enum comms_segment_id segment)
{
	pthread_mutex_lock(&heap_checks.lock);
	block_table_destroy(heap_checks.table[segment]);
	heap_checks.table[segment] = NULL;
	pthread_mutex_unlock(&heap_checks.lock);
}

void heap_checks_take(enum comms_segment_id segment, size_t offset, size_t bytes, const char *routine)
{
	struct block_table **table = &heap_checks.table[segment];
	bool added;

	if (!comms.checks)
		return;
	pthread_mutex_lock(&heap_checks.lock);
	if (!*table)
		*table = block_table_create();
	added = *table && block_table_add(*table, offset, bytes);
	pthread_mutex_unlock(&heap_checks.lock);
	if (!added)
		rte_break(RTE_ERROR_OTHER, rte.pe, routine, "SHMEM_CHECK: no memory to note a block");
}

/* The name in the program's language, which only the stack of this call shows. */
void heap_checks_release(enum comms_segment_id segment, size_t offset, const char *routine)
{
	char name[128];

	if (!comms.checks)
		return;
	routine = caller_name(routine, name, sizeof name);
	pthread_mutex_lock(&heap_checks.lock);
	block_table_remove(heap_checks.table[segment], offset, routine);
	pthread_mutex_unlock(&heap_checks.lock);
}

void heap_checks_resize(size_t offset, size_t bytes)
{
	if (!comms.checks)
		return;
	pthread_mutex_lock(&heap_checks.lock);
	block_table_resize(heap_checks.table[COMMS_HEAP], offset, bytes);
	pthread_mutex_unlock(&heap_checks.lock);
}
