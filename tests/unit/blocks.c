/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The allocator of the symmetric heap against a model: blocks never overlap, what is free is found,
 * what is given back is whole again, and equal calls give equal offsets.
 */
#include "tests/lib/unit.h"

#include <stdint.h>
#include <string.h>

#include "shmem/blocks.h"

#define CHECK(condition) EXPECT(condition, "the allocator")
#define HEAP ((size_t)1 << 20)
#define LIVE 300

struct live {
	size_t offset, size;
};

static uint64_t noise = 88172645463325252;

static uint64_t next_noise(void)
{
	noise ^= noise << 13;
	noise ^= noise >> 7;
	noise ^= noise << 17;
	return noise;
}

static void check_apart(const struct live *live, int count, struct live candidate)
{
	for (int i = 0; i < count; i++)
		CHECK(candidate.offset + candidate.size <= live[i].offset ||
		      live[i].offset + live[i].size <= candidate.offset);
	CHECK(candidate.offset + candidate.size <= HEAP);
}

static void check_storm(void)
{
	struct blocks *blocks = blocks_create(HEAP), *twin = blocks_create(HEAP);
	struct live live[LIVE];
	int count = 0;

	for (int step = 0; step < 20000; step++) {
		uint64_t dice = next_noise();
		size_t alignment = (size_t)1 << (dice % 14);
		struct live l = {0, (dice >> 20) % ((dice >> 16) % 8 ? 3000 : 100000) + 1};

		if (count == LIVE || (count > 0 && dice % 3 == 0)) {
			int victim = (int)((dice >> 8) % (uint64_t)count);

			CHECK(blocks_release(blocks, live[victim].offset));
			CHECK(blocks_release(twin, live[victim].offset));
			CHECK(!blocks_release(blocks, live[victim].offset));
			live[victim] = live[--count];
			continue;
		}
		l.offset = blocks_allocate(blocks, l.size, alignment);
		CHECK(blocks_allocate(twin, l.size, alignment) == l.offset);
		if (l.offset == BLOCKS_NONE) {
			CHECK(blocks_largest(blocks) < l.size + 2 * alignment + BLOCKS_UNIT);
			continue;
		}
		CHECK(l.offset % alignment == 0 && l.offset % BLOCKS_UNIT == 0);
		CHECK(blocks_size(blocks, l.offset) >= l.size);
		check_apart(live, count, l);
		live[count++] = l;
	}
	while (count > 0)
		CHECK(blocks_release(blocks, live[--count].offset));
	CHECK(blocks_free_bytes(blocks) == HEAP && blocks_largest(blocks) == HEAP);
	blocks_destroy(blocks);
	blocks_destroy(twin);
}

/* The last byte can be had, in one piece or in many. */
static void check_exact_fit(void)
{
	struct blocks *blocks = blocks_create(HEAP);
	size_t count = 0;

	CHECK(blocks_allocate(blocks, HEAP, 1) == 0);
	CHECK(blocks_allocate(blocks, 1, 1) == BLOCKS_NONE);
	CHECK(blocks_release(blocks, 0));
	while (blocks_allocate(blocks, 1, 1) != BLOCKS_NONE)
		count++;
	CHECK(count == HEAP / BLOCKS_UNIT);
	for (size_t i = 0; i < count; i += 2)
		CHECK(blocks_release(blocks, i * BLOCKS_UNIT));
	CHECK(blocks_free_bytes(blocks) == HEAP / 2 && blocks_largest(blocks) == BLOCKS_UNIT);
	CHECK(blocks_allocate(blocks, BLOCKS_UNIT + 1, 1) == BLOCKS_NONE);
	blocks_destroy(blocks);
}

static void check_resize(void)
{
	struct blocks *blocks = blocks_create(HEAP);
	size_t a = blocks_allocate(blocks, 1000, 1), b = blocks_allocate(blocks, 1000, 1);

	CHECK(!blocks_resize(blocks, a, 5000)); /* b is in between */
	CHECK(blocks_resize(blocks, b, 5000) && blocks_size(blocks, b) >= 5000);
	CHECK(blocks_release(blocks, b));
	CHECK(blocks_resize(blocks, a, HEAP) && blocks_free_bytes(blocks) == 0);
	CHECK(blocks_resize(blocks, a, 1) && blocks_size(blocks, a) == BLOCKS_UNIT);
	CHECK(!blocks_resize(blocks, a, SIZE_MAX));
	CHECK(!blocks_resize(blocks, a + BLOCKS_UNIT, 1)); /* no block begins there */
	blocks_destroy(blocks);
}

static void check_extremes(void)
{
	struct blocks *blocks = blocks_create(0);

	CHECK(blocks_allocate(blocks, 1, 1) == BLOCKS_NONE && blocks_largest(blocks) == 0);
	blocks_destroy(blocks);
	blocks = blocks_create((size_t)1 << 46);
	CHECK(blocks_allocate(blocks, (size_t)1 << 45, (size_t)1 << 40) != BLOCKS_NONE);
	CHECK(blocks_allocate(blocks, SIZE_MAX, 1) == BLOCKS_NONE);
	CHECK(blocks_allocate(blocks, 1, (size_t)1 << 63) == BLOCKS_NONE);
	blocks_destroy(blocks);
}

int main(void)
{
	check_storm();
	check_exact_fit();
	check_resize();
	check_extremes();
	return unit_failures > 0;
}
