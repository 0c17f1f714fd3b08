/* SPDX-License-Identifier: BSD-3-Clause */
/* run: env=SHMEM_SYMMETRIC_SIZE=64m */
/* The symmetric heap: what each routine promises, and that a failure changes nothing. */
#include "tests/lib/check.h"

#define MANY 1024

static uintptr_t offsets[64][MANY];

static int left(void)
{
	return (me + npes - 1) % npes;
}

static int right(void)
{
	return (me + 1) % npes;
}

/* A block is symmetric if what others put to it from its two ends arrives there. */
static void check_symmetric(void *block, size_t bytes, uint64_t seed)
{
	unsigned char first = (unsigned char)noise(seed + (uint64_t)me),
		      last = (unsigned char)noise(seed + 99 + (uint64_t)me);
	unsigned char *b = block;

	shmem_barrier_all(); /* the others may still be looking at what is in it */
	shmem_uchar_p(b, first, right());
	if (bytes > 1)
		shmem_uchar_p(b + bytes - 1, last, right());
	shmem_barrier_all();
	CHECK_EQUAL(b[0], (unsigned char)noise(seed + (uint64_t)left()));
	if (bytes > 1)
		CHECK_EQUAL(b[bytes - 1], (unsigned char)noise(seed + 99 + (uint64_t)left()));
	shmem_barrier_all();
}

static void check_alignment(void)
{
	static const size_t sizes[] = {1, 3, 8, 24, 100, 4095, 4096, 4097, 70000};

	/* One below a pointer's counts as that. */
	for (size_t alignment = 1; alignment <= 256 << 20; alignment *= 2) {
		size_t bytes = sizes[alignment % 9];
		void *block;

		NOTE("alignment %zu, %zu bytes", alignment, bytes);
		block = shmem_align(alignment, bytes);
		CHECK(block != NULL);
		CHECK((uintptr_t)block % alignment == 0);
		check_symmetric(block, bytes, alignment);
		shmem_free(block);
	}
	CHECK(shmem_align(512 << 20, 8) == NULL); /* no PE can promise it for the others */
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		void *block = shmem_malloc(sizes[i]);

		NOTE("%zu bytes", sizes[i]);
		CHECK(block != NULL);
		CHECK((uintptr_t)block % _Alignof(max_align_t) == 0);
		check_symmetric(block, sizes[i], i);
		shmem_free(block);
	}
	check_note[0] = '\0';
}

/*
 * Only PE 0 calls: no barrier is hidden in calls that have nothing to do. That is more than the
 * standard promises, so where the library checks that the rule is obeyed, all call.
 */
static void check_nothing_to_do(void)
{
	if (me == 0 || getenv("SHMEM_CHECK")) {
		CHECK(shmem_malloc(0) == NULL);
		CHECK(shmem_calloc(0, 8) == NULL);
		CHECK(shmem_calloc(8, 0) == NULL);
		CHECK(shmem_align(64, 0) == NULL);
		CHECK(shmem_malloc_with_hints(0, SHMEM_MALLOC_ATOMICS_REMOTE) == NULL);
		shmem_free(NULL);
	}
	shmem_barrier_all();
}

/* All bits zero, also where there was something before; and zeroed before anybody may put. */
static void check_calloc(void)
{
	for (long round = 0; round < eased(50); round++) {
		size_t bytes = 1000 + (size_t)noise((uint64_t)round) % 50000;
		unsigned char *block = shmem_malloc(bytes);

		CHECK(block != NULL);
		memset(block, 0xa5, bytes);
		shmem_free(block);
		block = shmem_calloc(bytes, 1);
		CHECK(block != NULL);
		shmem_uchar_p(block + bytes / 2, 7, right()); /* at once */
		shmem_barrier_all();
		CHECK_EQUAL(block[bytes / 2], 7);
		CHECK_FILL(block, 0, bytes / 2);
		CHECK_FILL(block + bytes / 2 + 1, 0, bytes - bytes / 2 - 1);
		shmem_free(block);
	}
	CHECK(shmem_calloc(SIZE_MAX / 2, 3) == NULL); /* the product does not fit */
}

static void check_realloc(void)
{
	unsigned char expected[200000];
	unsigned char *block = shmem_realloc(NULL, 1000), *wall;

	CHECK(block != NULL);
	/* What others have put must move with the block, without a barrier by the user. */
	fill_noise(expected, sizeof expected, (uint64_t)me);
	shmem_putmem(block, expected, 1000, right());
	wall = shmem_malloc(64); /* prevents growing in place */
	fill_noise(expected, sizeof expected, (uint64_t)left());
	block = shmem_realloc(block, sizeof expected);
	CHECK(block != NULL);
	CHECK_BYTES(block, expected, 1000);
	check_symmetric(block + 1000, sizeof expected - 1000, 5);

	block = shmem_realloc(block, 500);
	CHECK(block != NULL);
	CHECK_BYTES(block, expected, 500);

	/* A failure leaves the old block where it is, and what is in it. */
	CHECK(shmem_realloc(block, (size_t)1 << 40) == NULL);
	CHECK_BYTES(block, expected, 500);
	check_symmetric(block, 500, 6);

	CHECK(shmem_realloc(block, 0) == NULL);
	shmem_free(wall);
}

static void check_hints_and_old_names(void)
{
	static const long hints[] = {0, SHMEM_MALLOC_ATOMICS_REMOTE, SHMEM_MALLOC_SIGNAL_REMOTE,
				     SHMEM_MALLOC_ATOMICS_REMOTE | SHMEM_MALLOC_SIGNAL_REMOTE};
	unsigned char *block;

	for (size_t i = 0; i < 4; i++) {
		block = shmem_malloc_with_hints(100 + i, hints[i]);
		CHECK(block != NULL);
		check_symmetric(block, 100 + i, 20 + i);
		shmem_free(block);
	}
	block = shmalloc(100);
	CHECK(block != NULL);
	memset(block, me, 100);
	block = shrealloc(block, 5000);
	CHECK(block != NULL);
	CHECK_FILL(block, me, 100);
	check_symmetric(block, 5000, 30);
	shfree(block);
	block = shmemalign(4096, 10);
	CHECK(block != NULL && (uintptr_t)block % 4096 == 0);
	shfree(block);
}

/* Fill the heap to the last block, fail on all PEs alike, and have all of it back afterwards. */
static void check_exhaustion(void)
{
	static void *blocks[MANY];
	long counts[2] = {0, 0}, *largest = symmetric(sizeof *largest);

	for (int round = 0; round < 2; round++) {
		long count = 0;

		while (count < MANY && (blocks[count] = shmem_malloc(1 << 20)) != NULL) {
			memset(blocks[count], (int)count, 64);
			count++;
		}
		CHECK(count >= 40 && count <= 64);
		shmem_long_p(largest, count, right());
		shmem_barrier_all();
		CHECK_EQUAL(*largest, count); /* on all PEs after the same number */
		CHECK(shmem_malloc((size_t)1 << 62) == NULL);
		CHECK(shmem_align(4096, 1 << 20) == NULL);
		CHECK(shmem_calloc(1 << 20, 1) == NULL);
		for (long i = 0; i < count; i++)
			CHECK_FILL(blocks[i], (int)i, 64);
		counts[round] = count;
		/* Every other block first: the pieces must grow together again. */
		for (long i = 0; i < count; i += 2)
			shmem_free(blocks[i]);
		for (long i = 1; i < count; i += 2)
			shmem_free(blocks[i]);
	}
	CHECK_EQUAL(counts[1], counts[0]);
	shmem_free(largest);
	blocks[0] = shmem_malloc(56 << 20);
	CHECK(blocks[0] != NULL);
	shmem_free(blocks[0]);
}

/*
 * A long row of random calls, the same on all PEs. Blocks hold a pattern that nobody else's block
 * may disturb, and lie at the same place on all PEs.
 */
static void check_storm(void)
{
	static unsigned char *blocks[MANY];
	static size_t sizes[MANY];
	unsigned char *base = shmem_malloc(16);
	long calls = eased(1500) < MANY ? eased(1500) : MANY;

	for (long call = 0; call < calls; call++) {
		uint64_t dice = noise(4711 + (uint64_t)call);
		size_t slot = dice % 100, bytes = 1 + (dice >> 8) % (dice & 64 ? 200 : 40000);

		if (blocks[slot] && dice & 128) {
			CHECK_FILL(blocks[slot], (int)slot, sizes[slot]);
			shmem_free(blocks[slot]);
			blocks[slot] = NULL;
		} else if (blocks[slot]) {
			size_t preserved = bytes < sizes[slot] ? bytes : sizes[slot];

			blocks[slot] = shmem_realloc(blocks[slot], bytes);
			CHECK(blocks[slot] != NULL);
			CHECK_FILL(blocks[slot], (int)slot, preserved);
		} else {
			size_t alignment = (size_t)16 << (dice >> 40) % 9;

			blocks[slot] = dice & 32 ? shmem_malloc(bytes) : shmem_align(alignment, bytes);
			CHECK(blocks[slot] != NULL);
		}
		if (blocks[slot]) {
			sizes[slot] = bytes;
			memset(blocks[slot], (int)slot, bytes);
		}
		if (me < 64)
			offsets[me][call] = blocks[slot] ? (uintptr_t)blocks[slot] - (uintptr_t)base : 0;
	}
	shmem_barrier_all();
	if (me > 0 && me < 64) {
		static uintptr_t other[MANY];

		shmem_getmem(other, offsets[0], sizeof other, 0);
		CHECK_BYTES(offsets[me], other, sizeof other);
	}
	for (size_t slot = 0; slot < 100; slot++) {
		if (blocks[slot])
			CHECK_FILL(blocks[slot], (int)slot, sizes[slot]);
		shmem_free(blocks[slot]);
	}
	shmem_free(base);
}

int main(void)
{
	begin();
	check_alignment();
	check_nothing_to_do();
	check_calloc();
	check_realloc();
	check_hints_and_old_names();
	check_storm();
	check_exhaustion();
	return end();
}
