/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SHMEM_BLOCKS_H
#define SHMEM_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Allocates parts of a heap. It works with offsets only and never touches the heap, so that a
 * program's stores cannot corrupt it, and the same calls give the same offsets on every PE.
 */

#define BLOCKS_NONE ((size_t)-1)
/* Sizes and offsets are multiples of this, so that no two blocks share a cache line. */
#define BLOCKS_UNIT 64

struct blocks;

struct blocks *blocks_create(size_t size);
void blocks_destroy(struct blocks *blocks);

/* The offset of a new block, or BLOCKS_NONE. alignment is a power of two. */
size_t blocks_allocate(struct blocks *blocks, size_t size, size_t alignment);

/* Returns false if no block begins at this offset. */
bool blocks_release(struct blocks *blocks, size_t offset);

/* Bytes of the block that begins at offset; BLOCKS_NONE if none does. */
size_t blocks_size(const struct blocks *blocks, size_t offset);

/* Resizes the block in place. Returns false if there is no room; nothing changed then. */
bool blocks_resize(struct blocks *blocks, size_t offset, size_t size);

size_t blocks_free_bytes(const struct blocks *blocks);
size_t blocks_largest(const struct blocks *blocks);

#endif
