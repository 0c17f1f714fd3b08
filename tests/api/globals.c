/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Global and static variables are symmetric, whatever section they are in and however large; they
 * keep what they held before the library came up.
 */
#include "tests/lib/check.h"

#define LARGE (64UL << 20)

static char large[LARGE];			  /* .bss */
static long table[1000] = {1, 2, 3, [999] = 999}; /* .data */
long with_linkage = 42;
static const char *text = "a pointer that the loader had to relocate";
static int changed_before_init = 1;
static char in_bss_before_init[100000];

static __attribute__((constructor)) void before_main(void)
{
	changed_before_init = 2;
	memset(in_bss_before_init + 50000, 'b', 100);
}

static long *in_function(void)
{
	static long word = 17;

	return &word;
}

static void check_preserved(void)
{
	CHECK_EQUAL(table[0], 1);
	CHECK_EQUAL(table[2], 3);
	CHECK_EQUAL(table[999], 999);
	CHECK_EQUAL(with_linkage, 42);
	CHECK(!strncmp(text, "a pointer", 9));
	CHECK_EQUAL(*in_function(), 17);
	CHECK_EQUAL(changed_before_init, 3);
	CHECK_FILL(in_bss_before_init + 50000, 'b', 100);
	CHECK_FILL(in_bss_before_init, 0, 50000);
	CHECK_FILL(large + LARGE - 4096, 0, 4096);
}

static void check_large(void)
{
	static const size_t places[] = {0, 1, 4095, 4096, 1 << 20, (32UL << 20) + 3, LARGE - 1};
	int right = (me + 1) % npes, left = (me + npes - 1) % npes;
	size_t bytes = 3 << 20;
	char *sent = malloc(bytes), *expected = malloc(bytes);

	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		shmem_char_p(&large[places[i]], (char)(i + 10 * (size_t)me + 1), right);
	shmem_barrier_all();
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
		CHECK_EQUAL(large[places[i]], (char)(i + 10 * (size_t)left + 1));
	shmem_barrier_all();

	fill_noise(sent, bytes, (uint64_t)me);
	fill_noise(expected, bytes, (uint64_t)left);
	shmem_putmem(large + 12345, sent, bytes, right);
	shmem_barrier_all();
	CHECK_BYTES(large + 12345, expected, bytes);
	memset(sent, 0, bytes);
	fill_noise(expected, bytes, (uint64_t)me);
	shmem_getmem(sent, large + 12345, bytes, right);
	CHECK_BYTES(sent, expected, bytes);
	free(sent);
	free(expected);
}

static void check_words(void)
{
	int right = (me + 1) % npes, left = (me + npes - 1) % npes;

	shmem_long_p(&with_linkage, 1000 + me, right);
	shmem_long_p(in_function(), 2000 + me, right);
	shmem_long_p(&table[500], 3000 + me, right);
	for (int pe = 0; pe < npes; pe++)
		shmem_long_atomic_add(&table[501], me + 1, pe);
	shmem_barrier_all();
	CHECK_EQUAL(with_linkage, 1000 + left);
	CHECK_EQUAL(*in_function(), 2000 + left);
	CHECK_EQUAL(table[500], 3000 + left);
	CHECK_EQUAL(table[501], (long)npes * (npes + 1) / 2);
	CHECK_EQUAL(shmem_long_g(&table[500], right), (long)(3000 + me));
	CHECK_EQUAL(table[2], 3);
}

int main(void)
{
	changed_before_init++;
	begin();
	check_preserved();
	shmem_barrier_all();
	check_words();
	check_large();
	return end();
}
