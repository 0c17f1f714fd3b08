/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What SHMEM_CHECK finds in the heap: an address in no block, or data in more than one.
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

static struct {
	pthread_mutex_t lock; /* other threads may put during an allocation */
	struct block_table *table;
} heap_checks = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct block_finding find_block(size_t offset, size_t bytes)
{
	struct block_finding found;

	pthread_mutex_lock(&heap_checks.lock);
	found = block_table_find(heap_checks.table, offset, bytes);
	pthread_mutex_unlock(&heap_checks.lock);
	return found;
}

/* All PEs often make this mistake together. */
static _Noreturn void complain_of_place(const struct block_finding *found, size_t offset, size_t bytes,
					const char *text, const char *routine)
{
	const struct block_record *block = &found->block;
	const void *begin = comms_heap() + block->offset;
	size_t at = offset - block->offset;

	switch (found->place) {
	case BLOCK_FREED:
		rte_die_together(
			routine,
			"%s: this memory was freed: it is byte %zu of a block of %zu bytes that %s gave back; free a "
			"block after its last use",
			text, at, block->bytes, found->freed_by);
	case BLOCK_RUNS_OUT:
		rte_die_together(routine,
				 "%s: %zu bytes from there run past the end of the block of %zu bytes at %p, in which "
				 "it is byte %zu; check the count",
				 text, bytes, block->bytes, begin, at);
	case BLOCK_BEHIND:
		rte_die_together(
			routine,
			"%s: this memory is not allocated; it lies %zu bytes behind the end of the block of %zu bytes "
			"at %p; check the index",
			text, at - block->bytes, block->bytes, begin);
	default:
		rte_die_together(
			routine,
			"%s: this memory is not allocated, and no block lies before it; use an address inside of a "
			"block that shmem_malloc has returned",
			text);
	}
}

static void check_block(const void *address, size_t bytes, const char *argument, const char *routine)
{
	size_t offset = (size_t)((const char *)address - comms_heap());
	struct block_finding found = find_block(offset, bytes);
	char text[96];

	if (COMMS_LIKELY(found.place == BLOCK_INSIDE))
		return;
	snprintf(text, sizeof text, "%s=%p (offset %zu of the symmetric heap)", argument, address, offset);
	complain_of_place(&found, offset, bytes, text, routine);
}

void heap_checks_start(void)
{
	if (!comms.checks)
		return;
	heap_checks.table = block_table_create();
	if (!heap_checks.table)
		rte_die("shmem_init", "SHMEM_CHECK: no memory");
	comms.check_block = check_block;
}

void heap_checks_stop(void)
{
	comms.check_block = NULL;
	block_table_destroy(heap_checks.table);
	heap_checks.table = NULL;
}

void heap_checks_take(size_t offset, size_t bytes, const char *routine)
{
	bool added;

	if (!heap_checks.table)
		return;
	pthread_mutex_lock(&heap_checks.lock);
	added = block_table_add(heap_checks.table, offset, bytes);
	pthread_mutex_unlock(&heap_checks.lock);
	if (!added)
		rte_die(routine, "SHMEM_CHECK: no memory to note a block");
}

/* The name in the program's language, which only the stack of this call shows. */
void heap_checks_release(size_t offset, const char *routine)
{
	char name[128];

	if (!heap_checks.table)
		return;
	routine = caller_name(routine, name, sizeof name);
	pthread_mutex_lock(&heap_checks.lock);
	block_table_remove(heap_checks.table, offset, routine);
	pthread_mutex_unlock(&heap_checks.lock);
}

void heap_checks_resize(size_t offset, size_t bytes)
{
	if (!heap_checks.table)
		return;
	pthread_mutex_lock(&heap_checks.lock);
	block_table_resize(heap_checks.table, offset, bytes);
	pthread_mutex_unlock(&heap_checks.lock);
}
