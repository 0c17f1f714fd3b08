/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of SHMEM_CHECK against a model: each byte of a small heap belongs to a block, to none,
 * or to one that was freed.
 */
#include "tests/lib/unit.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "shmem/block_table.h"
#include "shmem/blocks.h"

#define CHECK(condition) EXPECT(condition, "the table of blocks")
#define HEAP ((size_t)8192)
#define LIVE 40
#define ROUNDS 20000

/* For each byte, which block it is in; 0: none. The sizes are odd, so that blocks have padding. */
static int owner[HEAP];
static struct block_record live[LIVE + 1];

static bool all_owned(size_t offset, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (offset + i >= HEAP || owner[offset + i] != owner[offset])
			return false;
	return owner[offset] != 0;
}

static void paint(int block, int colour)
{
	for (size_t i = 0; i < live[block].bytes; i++)
		owner[live[block].offset + i] = colour;
}

static void compare_with_model(const struct block_table *table, size_t offset, size_t bytes)
{
	struct block_finding found = block_table_find(table, offset, bytes);

	CHECK((found.place == BLOCK_INSIDE) == all_owned(offset, bytes));
	CHECK((found.place == BLOCK_INSIDE || found.place == BLOCK_RUNS_OUT) == (owner[offset] != 0));
	if (owner[offset])
		CHECK(found.block.offset == live[owner[offset]].offset &&
		      found.block.bytes == live[owner[offset]].bytes);
	if (found.place == BLOCK_FREED)
		CHECK(offset - found.block.offset < found.block.bytes && !strcmp(found.freed_by, "shmem_free"));
	if (found.place == BLOCK_BEHIND)
		CHECK(offset >= found.block.offset + found.block.bytes);
}

static void change_at_random(struct blocks *blocks, struct block_table *table)
{
	int i = 1 + rand() % LIVE;
	size_t bytes = 1 + (size_t)rand() % 300, offset;

	if (live[i].bytes > 0) {
		paint(i, 0);
		block_table_remove(table, live[i].offset, "shmem_free");
		CHECK(blocks_release(blocks, live[i].offset));
		live[i].bytes = 0;
		return;
	}
	offset = blocks_allocate(blocks, bytes, BLOCKS_UNIT);
	if (offset == BLOCKS_NONE)
		return;
	CHECK(block_table_add(table, offset, bytes));
	live[i] = (struct block_record){offset, bytes};
	paint(i, i);
	if (rand() % 4 == 0 && bytes > 10) {
		paint(i, 0);
		live[i].bytes -= 10;
		block_table_resize(table, offset, live[i].bytes);
		paint(i, i);
	}
}

static void check_storm(void)
{
	struct blocks *blocks = blocks_create(HEAP);
	struct block_table *table = block_table_create();

	for (int round = 0; round < ROUNDS; round++) {
		change_at_random(blocks, table);
		for (int i = 0; i < 10; i++)
			compare_with_model(table, (size_t)rand() % HEAP, 1 + (size_t)rand() % 100);
	}
	block_table_destroy(table);
	blocks_destroy(blocks);
}

static void check_places(void)
{
	struct block_table *table = block_table_create();
	struct block_finding found;

	CHECK(block_table_find(table, 0, 1).place == BLOCK_NOWHERE);
	CHECK(block_table_add(table, 128, 100));
	CHECK(block_table_add(table, 256, 64));
	CHECK(block_table_find(table, 64, 1).place == BLOCK_NOWHERE);
	CHECK(block_table_find(table, 128, 100).place == BLOCK_INSIDE);
	CHECK(block_table_find(table, 128, 101).place == BLOCK_RUNS_OUT);
	CHECK(block_table_find(table, 227, SIZE_MAX).place == BLOCK_RUNS_OUT);
	CHECK(block_table_find(table, 228, 1).place == BLOCK_BEHIND);
	CHECK(block_table_find(table, 320, 1).place == BLOCK_BEHIND);
	block_table_remove(table, 256, "shmem_realloc");
	found = block_table_find(table, 300, 1);
	CHECK(found.place == BLOCK_FREED && found.block.offset == 256 && found.block.bytes == 64);
	CHECK(!strcmp(found.freed_by, "shmem_realloc"));
	block_table_remove(table, 256, "shmem_free");
	CHECK(block_table_add(table, 256, 32));
	CHECK(block_table_find(table, 290, 1).place == BLOCK_BEHIND);
	CHECK(block_table_find(table, 320, 1).place == BLOCK_BEHIND);
	block_table_destroy(table);
}

int main(void)
{
	check_places();
	check_storm();
	return unit_failures > 0;
}
