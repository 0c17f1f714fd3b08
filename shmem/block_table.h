/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_BLOCK_TABLE_H
#define SHMEM_BLOCK_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * For SHMEM_CHECK: the bytes of the heap that the program may use. The allocator knows blocks only
 * by their starts, and rounds their sizes. This table finds the block around an offset, exact to
 * the byte, and remembers recently freed blocks.
 */

struct block_record {
	size_t offset, bytes;
};

enum block_place {
	BLOCK_INSIDE,	/* all bytes are in one block */
	BLOCK_RUNS_OUT, /* the bytes begin in this block and end behind it */
	BLOCK_FREED,	/* the bytes begin where this block was, which has been freed */
	BLOCK_BEHIND,	/* the bytes begin behind this block, and in none */
	BLOCK_NOWHERE	/* the bytes begin before all blocks */
};

struct block_finding {
	enum block_place place;
	struct block_record block;
	char freed_by[48]; /* the routine that freed it */
};

struct block_table;

/* Returns NULL if there is no memory. */
struct block_table *block_table_create(void);
void block_table_destroy(struct block_table *table);

/* Returns false if there is no memory. */
bool block_table_add(struct block_table *table, size_t offset, size_t bytes);
/* Both do nothing if no block begins at the offset. */
void block_table_remove(struct block_table *table, size_t offset, const char *routine);
void block_table_resize(struct block_table *table, size_t offset, size_t bytes);

struct block_finding block_table_find(const struct block_table *table, size_t offset, size_t bytes);

#endif
