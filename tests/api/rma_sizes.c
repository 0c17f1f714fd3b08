/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sizes around each power of two up to a few MiB, where the method of a transfer changes; odd
 * addresses on both sides; sources and destinations in every kind of memory.
 */
#include "tests/lib/check.h"

#define LARGEST ((2UL << 20) + 1)
#define SLACK 64

static unsigned char in_globals[LARGEST + 2 * SLACK];
static unsigned char *in_heap, *source, *dest, *expected;

static void check_put(unsigned char *area, size_t bytes, size_t shift, bool nbi)
{
	int right = (me + 1) % npes, left = (me + npes - 1) % npes;
	unsigned char *from = source + (shift * 5) % SLACK;

	fill_noise(from, bytes, bytes * 8 + (uint64_t)me);
	fill_noise(expected, bytes, bytes * 8 + (uint64_t)left);
	area[shift] = area[shift + bytes + 1] = 0x77;
	shmem_barrier_all();
	if (nbi)
		shmem_putmem_nbi(area + shift + 1, from, bytes, right);
	else
		shmem_putmem(area + shift + 1, from, bytes, right);
	if (!nbi)
		memset(from, 0, bytes);
	shmem_barrier_all();
	CHECK_BYTES(area + shift + 1, expected, bytes);
	CHECK_EQUAL(area[shift], 0x77);
	CHECK_EQUAL(area[shift + bytes + 1], 0x77);
}

static void check_get(unsigned char *area, size_t bytes, size_t shift, bool nbi)
{
	int right = (me + 1) % npes;
	unsigned char *to = dest + (shift * 3) % SLACK + 1;

	fill_noise(area + shift + 1, bytes, bytes * 8 + 4 + (uint64_t)me);
	fill_noise(expected, bytes, bytes * 8 + 4 + (uint64_t)right);
	to[-1] = to[bytes] = 0x77;
	shmem_barrier_all();
	if (nbi)
		shmem_getmem_nbi(to, area + shift + 1, bytes, right);
	else
		shmem_getmem(to, area + shift + 1, bytes, right);
	if (nbi)
		shmem_quiet();
	CHECK_BYTES(to, expected, bytes);
	CHECK_EQUAL(to[-1], 0x77);
	CHECK_EQUAL(to[bytes], 0x77);
	shmem_barrier_all();
}

static void check_size(size_t bytes)
{
	static size_t shift;

	for (int nbi = 0; nbi < 2; nbi++) {
		unsigned char *area = (bytes + (size_t)nbi) % 2 ? in_heap : in_globals;

		NOTE("%zu bytes%s at %s + %zu", bytes, nbi ? ", nbi," : "", area == in_heap ? "heap" : "globals",
		     shift);
		check_put(area, bytes, shift, nbi);
		check_get(area, bytes, shift, nbi);
		shift = (shift + 1) % (SLACK - 2);
	}
}

/* A whole area to every other PE at once, from symmetric memory to symmetric memory. */
static void check_everybody(void)
{
	size_t bytes = LARGEST / (size_t)npes / 2;

	for (int pe = 0; pe < npes; pe++)
		fill_noise(in_globals + (size_t)pe * bytes, bytes, (uint64_t)(me * npes + pe));
	shmem_barrier_all();
	for (int i = 0; i < npes; i++) {
		int pe = (me + i) % npes;

		shmem_putmem(in_heap + (size_t)me * bytes, in_globals + (size_t)pe * bytes, bytes, pe);
	}
	shmem_barrier_all();
	for (int pe = 0; pe < npes; pe++) {
		fill_noise(expected, bytes, (uint64_t)(pe * npes + me));
		CHECK_BYTES(in_heap + (size_t)pe * bytes, expected, bytes);
	}
}

int main(void)
{
	begin();
	in_heap = symmetric(LARGEST + 2 * SLACK);
	source = malloc(LARGEST + 2 * SLACK);
	dest = malloc(LARGEST + 2 * SLACK);
	expected = malloc(LARGEST + 2 * SLACK);
	check_size(0);
	for (size_t power = 1; power < LARGEST; power *= 2)
		for (size_t bytes = power - 1; bytes <= power + 1; bytes++)
			check_size(bytes);
	check_size(3 * 4096);
	check_size(8192 - 64);
	check_size(1000003);
	check_note[0] = '\0';
	check_everybody();
	free(source);
	free(dest);
	free(expected);
	return end();
}
