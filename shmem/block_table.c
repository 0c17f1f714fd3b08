/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks in a sorted array: a binary search finds one, and a change moves the rest, in a call that
 * has a barrier anyway.
 */
#include "block_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "blocks.h"

enum { REMEMBERED = 256 }; /* freed blocks */

struct block_table {
	struct block_record *block; /* sorted by offset */
	size_t count, room;
	struct block_finding freed[REMEMBERED];
	size_t frees;
};

struct block_table *block_table_create(void)
{
	return calloc(1, sizeof(struct block_table));
}

void block_table_destroy(struct block_table *table)
{
	if (!table)
		return;
	free(table->block);
	free(table);
}

/* Number of blocks that begin at or before the offset. */
static size_t count_up_to(const struct block_table *table, size_t offset)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->block[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_room_for_block(struct block_table *table)
{
	size_t room = table->room ? table->room * 2 : 64;
	struct block_record *block;

	if (table->count < table->room)
		return true;
	block = realloc(table->block, room * sizeof *block);
	if (!block)
		return false;
	table->block = block;
	table->room = room;
	return true;
}

bool block_table_add(struct block_table *table, size_t offset, size_t bytes)
{
	size_t at = count_up_to(table, offset);

	if (!make_room_for_block(table))
		return false;
	memmove(&table->block[at + 1], &table->block[at], (table->count - at) * sizeof *table->block);
	table->block[at] = (struct block_record){offset, bytes};
	table->count++;
	return true;
}

/* The block that begins at the offset; NULL: none. */
static struct block_record *find_begin(const struct block_table *table, size_t offset)
{
	size_t n = count_up_to(table, offset);

	return n > 0 && table->block[n - 1].offset == offset ? &table->block[n - 1] : NULL;
}

void block_table_remove(struct block_table *table, size_t offset, const char *routine)
{
	struct block_record *block = find_begin(table, offset);
	struct block_finding *freed;
	size_t at;

	if (!block)
		return;
	at = (size_t)(block - table->block);
	freed = &table->freed[table->frees++ % REMEMBERED];
	*freed = (struct block_finding){.place = BLOCK_FREED, .block = *block};
	snprintf(freed->freed_by, sizeof freed->freed_by, "%s", routine);
	table->count--;
	memmove(block, block + 1, (table->count - at) * sizeof *block);
}

void block_table_resize(struct block_table *table, size_t offset, size_t bytes)
{
	struct block_record *block = find_begin(table, offset);

	if (block)
		block->bytes = bytes;
}

/* The most recently freed block with this offset. */
static const struct block_finding *find_freed(const struct block_table *table, size_t offset)
{
	size_t known = table->frees < REMEMBERED ? table->frees : REMEMBERED;

	for (size_t i = 1; i <= known; i++) {
		const struct block_finding *freed = &table->freed[(table->frees - i) % REMEMBERED];

		if (offset - freed->block.offset < freed->block.bytes)
			return freed;
	}
	return NULL;
}

/* Is it behind a block and before the next unit, in memory that rounding added to the block? */
static bool is_padding(const struct block_record *block, size_t offset)
{
	return (offset - block->offset) / BLOCKS_UNIT == (block->bytes - 1) / BLOCKS_UNIT;
}

struct block_finding block_table_find(const struct block_table *table, size_t offset, size_t bytes)
{
	size_t n = count_up_to(table, offset);
	const struct block_record *before = n > 0 ? &table->block[n - 1] : NULL;
	const struct block_finding *freed;

	if (before && offset - before->offset < before->bytes) {
		bool inside = bytes <= before->bytes - (offset - before->offset);

		return (struct block_finding){.place = inside ? BLOCK_INSIDE : BLOCK_RUNS_OUT, .block = *before};
	}
	freed = before && is_padding(before, offset) ? NULL : find_freed(table, offset);
	if (freed)
		return *freed;
	if (before)
		return (struct block_finding){.place = BLOCK_BEHIND, .block = *before};
	return (struct block_finding){.place = BLOCK_NOWHERE};
}
