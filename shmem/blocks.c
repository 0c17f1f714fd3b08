/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two-level segregated fit, with the descriptors beside the heap instead of inside it.
 *
 * descriptor  a block, free or taken; all of them, in address order, tile the heap
 * class       sizes between two powers of two, cut into eight; each has a list of free blocks, and
 *             two levels of bit maps say which lists are not empty. A search takes constant time
 * index       taken blocks by offset, a hash table with chains
 *
 * Neighbouring free blocks are always merged, so a free block's neighbours are taken.
 */
#include "blocks.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FINE_BITS 3
#define FINE (1 << FINE_BITS)
#define COARSE 58
#define NIL UINT32_MAX

struct block {
	size_t offset, size;
	uint32_t before, after;	 /* in address order; after also chains unused descriptors */
	uint32_t previous, next; /* in a free list; next also chains the index */
	bool taken;
};

struct blocks {
	struct block *block;
	uint32_t capacity, unused;
	uint32_t list[COARSE][FINE];
	uint64_t coarse_map;
	uint8_t fine_map[COARSE];
	uint32_t *index;
	uint32_t index_size, taken;
	size_t free_bytes;
};

static size_t in_units(size_t bytes)
{
	return bytes / BLOCKS_UNIT;
}

static void class_of(size_t size, int *coarse, int *fine)
{
	size_t units = in_units(size);
	int top = 63 - __builtin_clzl(units);

	if (top < FINE_BITS) {
		*coarse = 0;
		*fine = (int)units;
	} else {
		*coarse = top - FINE_BITS + 1;
		*fine = (int)(units >> (top - FINE_BITS)) - FINE;
	}
}

/* The smallest size whose class has only blocks of at least `size`. */
static size_t round_to_class(size_t size)
{
	size_t units = in_units(size);
	int top = 63 - __builtin_clzl(units);

	if (top <= FINE_BITS)
		return size;
	return size + (((size_t)1 << (top - FINE_BITS)) - 1) * BLOCKS_UNIT;
}

static void list_add(struct blocks *b, uint32_t at)
{
	int c, f;

	class_of(b->block[at].size, &c, &f);
	b->block[at].previous = NIL;
	b->block[at].next = b->list[c][f];
	if (b->list[c][f] != NIL)
		b->block[b->list[c][f]].previous = at;
	b->list[c][f] = at;
	b->fine_map[c] |= (uint8_t)(1 << f);
	b->coarse_map |= (uint64_t)1 << c;
	b->free_bytes += b->block[at].size;
}

static void list_remove(struct blocks *b, uint32_t at)
{
	struct block *block = &b->block[at];
	int c, f;

	class_of(block->size, &c, &f);
	if (block->previous != NIL)
		b->block[block->previous].next = block->next;
	else
		b->list[c][f] = block->next;
	if (block->next != NIL)
		b->block[block->next].previous = block->previous;
	if (b->list[c][f] == NIL)
		b->fine_map[c] &= (uint8_t) ~(1 << f);
	if (!b->fine_map[c])
		b->coarse_map &= ~((uint64_t)1 << c);
	b->free_bytes -= block->size;
}

static uint32_t *index_slot(const struct blocks *b, size_t offset)
{
	uint64_t hash = in_units(offset) * 0x9e3779b97f4a7c15;

	return &b->index[(hash >> 32) & (b->index_size - 1)];
}

static void index_add(struct blocks *b, uint32_t at)
{
	uint32_t *slot = index_slot(b, b->block[at].offset);

	b->block[at].next = *slot;
	*slot = at;
	b->taken++;
}

static uint32_t index_find(const struct blocks *b, size_t offset)
{
	uint32_t at = *index_slot(b, offset);

	while (at != NIL && b->block[at].offset != offset)
		at = b->block[at].next;
	return at;
}

static void index_remove(struct blocks *b, uint32_t at)
{
	uint32_t *link = index_slot(b, b->block[at].offset);

	while (*link != at)
		link = &b->block[*link].next;
	*link = b->block[at].next;
	b->taken--;
}

/*
 * Makes room for two more descriptors (an allocation makes no more) and keeps the index from
 * filling up.
 */
static bool make_room_for_descriptors(struct blocks *b)
{
	uint32_t bigger = b->capacity * 2;
	struct block *block;
	uint32_t *index;

	if (b->unused != NIL && b->block[b->unused].after != NIL)
		return true;
	block = realloc(b->block, bigger * sizeof *block);
	if (!block)
		return false;
	b->block = block;
	for (uint32_t i = b->capacity; i < bigger; i++) {
		block[i].after = b->unused;
		b->unused = i;
	}
	b->capacity = bigger;
	index = malloc(bigger * sizeof *index);
	if (!index)
		return true; /* the chains just grow longer */
	memset(index, 0xff, bigger * sizeof *index);
	for (uint32_t slot = 0; slot < b->index_size; slot++)
		for (uint32_t at = b->index[slot], next; at != NIL; at = next) {
			uint64_t hash = in_units(block[at].offset) * 0x9e3779b97f4a7c15;

			next = block[at].next;
			block[at].next = index[(hash >> 32) & (bigger - 1)];
			index[(hash >> 32) & (bigger - 1)] = at;
		}
	free(b->index);
	b->index = index;
	b->index_size = bigger;
	return true;
}

static uint32_t take_descriptor(struct blocks *b)
{
	uint32_t at = b->unused;

	b->unused = b->block[at].after;
	return at;
}

/* Divides a block; the second part begins at `size` and is on no list. */
static uint32_t split_block(struct blocks *b, uint32_t at, size_t size)
{
	uint32_t rest = take_descriptor(b);
	struct block *first = &b->block[at], *second = &b->block[rest];

	*second = (struct block){first->offset + size, first->size - size, at, first->after, NIL, NIL, false};
	if (first->after != NIL)
		b->block[first->after].before = rest;
	first->size = size;
	first->after = rest;
	return rest;
}

/* Joins a block with the one behind it, which is on no list. */
static void merge_with_next(struct blocks *b, uint32_t at)
{
	uint32_t behind = b->block[at].after;

	b->block[at].size += b->block[behind].size;
	b->block[at].after = b->block[behind].after;
	if (b->block[at].after != NIL)
		b->block[b->block[at].after].before = at;
	b->block[behind].after = b->unused;
	b->unused = behind;
}

static bool is_free(const struct blocks *b, uint32_t at)
{
	return at != NIL && !b->block[at].taken;
}

/* Adds a block that is on no list to the free ones, merged with its neighbours. */
static void free_block(struct blocks *b, uint32_t at)
{
	b->block[at].taken = false;
	if (is_free(b, b->block[at].after)) {
		list_remove(b, b->block[at].after);
		merge_with_next(b, at);
	}
	if (is_free(b, b->block[at].before)) {
		at = b->block[at].before;
		list_remove(b, at);
		merge_with_next(b, at);
	}
	list_add(b, at);
}

struct blocks *blocks_create(size_t size)
{
	struct blocks *b = calloc(1, sizeof *b);

	if (!b)
		return NULL;
	b->capacity = b->index_size = 64;
	b->block = calloc(b->capacity, sizeof *b->block);
	b->index = malloc(b->index_size * sizeof *b->index);
	if (!b->block || !b->index) {
		blocks_destroy(b);
		return NULL;
	}
	memset(b->list, 0xff, sizeof b->list);
	memset(b->index, 0xff, b->index_size * sizeof *b->index);
	for (uint32_t i = 1; i < b->capacity; i++)
		b->block[i].after = i + 1 < b->capacity ? i + 1 : NIL;
	b->unused = 1;
	size -= size % BLOCKS_UNIT;
	b->block[0] = (struct block){0, size, NIL, NIL, NIL, NIL, size == 0};
	if (size > 0)
		list_add(b, 0);
	return b;
}

void blocks_destroy(struct blocks *b)
{
	if (!b)
		return;
	free(b->block);
	free(b->index);
	free(b);
}

/*
 * A free block of at least this size: any block of a class that guarantees it, otherwise the first
 * that fits in the size's own class.
 */
static uint32_t find_free(const struct blocks *b, size_t size)
{
	uint32_t at;
	int c, f;

	class_of(round_to_class(size), &c, &f);
	if (c < COARSE) {
		uint8_t fine = b->fine_map[c] & (uint8_t)(0xff << f);
		uint64_t coarse = b->coarse_map & ~(((uint64_t)2 << c) - 1);

		if (fine)
			return b->list[c][__builtin_ctz(fine)];
		if (coarse) {
			c = __builtin_ctzl(coarse);
			return b->list[c][__builtin_ctz(b->fine_map[c])];
		}
	}
	class_of(size, &c, &f);
	for (at = b->list[c][f]; at != NIL && b->block[at].size < size; at = b->block[at].next)
		;
	return at;
}

static size_t padding(const struct block *block, size_t alignment)
{
	return -block->offset & (alignment - 1);
}

/* Aligned offsets are rare: checks every free block that could be just large enough. */
static uint32_t find_aligned(const struct blocks *b, size_t size, size_t alignment)
{
	uint32_t at = find_free(b, size + alignment - BLOCKS_UNIT);

	for (int c = 0; at == NIL && c < COARSE; c++)
		for (int f = 0; at == NIL && f < FINE; f++)
			for (at = b->list[c][f]; at != NIL; at = b->block[at].next) {
				const struct block *block = &b->block[at];

				if (block->size >= size && block->size - size >= padding(block, alignment))
					break;
			}
	return at;
}

size_t blocks_allocate(struct blocks *b, size_t size, size_t alignment)
{
	uint32_t at, rest;
	size_t pad;

	if (size > b->free_bytes || alignment > ((size_t)1 << 62) || !make_room_for_descriptors(b))
		return BLOCKS_NONE;
	size = (size + BLOCKS_UNIT - 1) / BLOCKS_UNIT * BLOCKS_UNIT;
	if (size == 0)
		size = BLOCKS_UNIT;
	if (alignment < BLOCKS_UNIT)
		alignment = BLOCKS_UNIT;
	at = alignment == BLOCKS_UNIT ? find_free(b, size) : find_aligned(b, size, alignment);
	if (at == NIL)
		return BLOCKS_NONE;
	list_remove(b, at);
	pad = padding(&b->block[at], alignment);
	if (pad > 0) {
		rest = split_block(b, at, pad);
		list_add(b, at);
		at = rest;
	}
	if (b->block[at].size > size)
		list_add(b, split_block(b, at, size));
	b->block[at].taken = true;
	index_add(b, at);
	return b->block[at].offset;
}

bool blocks_release(struct blocks *b, size_t offset)
{
	uint32_t at = index_find(b, offset);

	if (at == NIL)
		return false;
	index_remove(b, at);
	free_block(b, at);
	return true;
}

size_t blocks_size(const struct blocks *b, size_t offset)
{
	uint32_t at = index_find(b, offset);

	return at == NIL ? BLOCKS_NONE : b->block[at].size;
}

bool blocks_resize(struct blocks *b, size_t offset, size_t size)
{
	uint32_t at = index_find(b, offset), behind;

	if (at == NIL || size > SIZE_MAX - BLOCKS_UNIT || !make_room_for_descriptors(b))
		return false;
	size = (size + BLOCKS_UNIT - 1) / BLOCKS_UNIT * BLOCKS_UNIT;
	behind = b->block[at].after;
	if (size > b->block[at].size) {
		if (!is_free(b, behind) || b->block[at].size + b->block[behind].size < size)
			return false;
		list_remove(b, behind);
		merge_with_next(b, at);
	}
	if (size > 0 && b->block[at].size > size)
		free_block(b, split_block(b, at, size));
	return true;
}

size_t blocks_free_bytes(const struct blocks *b)
{
	return b->free_bytes;
}

size_t blocks_largest(const struct blocks *b)
{
	size_t largest = 0;
	int c, f;

	if (!b->coarse_map)
		return 0;
	c = 63 - __builtin_clzl(b->coarse_map);
	f = 31 - __builtin_clz(b->fine_map[c]);
	for (uint32_t at = b->list[c][f]; at != NIL; at = b->block[at].next)
		if (b->block[at].size > largest)
			largest = b->block[at].size;
	return largest;
}
