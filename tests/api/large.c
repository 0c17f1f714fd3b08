/* SPDX-License-Identifier: BSD-3-Clause */
/* run: pes=2 paths=local,ucx-shm env=SHMEM_SYMMETRIC_SIZE=200m time=60 not=valgrind,tsan */
/*
 * Transfers too large for caches, which go past them on a node: around the size where that begins,
 * from and to every place in a line, right to the byte, and there before the flag that follows.
 */
#include "tests/lib/check.h"

#define BEGINS (32UL << 20)
#define SLACK 128

static unsigned char *area, *private;
static uint64_t *flag;

static void check_put(size_t bytes, size_t shift, uint64_t round)
{
	unsigned char *from = private + (shift * 5) % SLACK, *to = area + shift + 1;

	to[-1] = to[bytes] = 0x77;
	fill_noise(from, bytes, round);
	shmem_barrier_all();
	if (me == 0 && npes > 1)
		shmem_putmem_signal(to, from, bytes, flag, round, SHMEM_SIGNAL_SET, 1);
	if (me != 1)
		return;
	shmem_signal_wait_until(flag, SHMEM_CMP_EQ, round);
	CHECK_BYTES(to, from, bytes);
	CHECK_EQUAL(to[-1], 0x77);
	CHECK_EQUAL(to[bytes], 0x77);
}

static void check_get(size_t bytes, size_t shift, uint64_t round)
{
	unsigned char *to = private + (shift * 3) % SLACK + 1;

	if (me == 0 && npes > 1) {
		to[-1] = to[bytes] = 0x77;
		shmem_getmem(to, area + shift + 1, bytes, 1);
		shmem_putmem(area + shift + 1, to, bytes, 0);
		shmem_quiet();
		fill_noise(to, bytes, round);
		CHECK_BYTES(area + shift + 1, to, bytes);
		CHECK_EQUAL(to[-1], 0x77);
		CHECK_EQUAL(to[bytes], 0x77);
	}
}

int main(void)
{
	static const struct {
		size_t bytes, shift;
	} cases[] = {{BEGINS - 1, 0}, {BEGINS, 62}, {BEGINS, 63}, {BEGINS + 1, 1}, {BEGINS + 4099, 31}};

	begin();
	area = shmem_malloc(BEGINS + 3 * SLACK + 8192);
	private = malloc(BEGINS + 3 * SLACK + 8192);
	flag = shmem_calloc(1, sizeof *flag);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		NOTE("%zu bytes at %zu", cases[i].bytes, cases[i].shift);
		check_put(cases[i].bytes, cases[i].shift, i + 1);
		shmem_barrier_all();
		check_get(cases[i].bytes, cases[i].shift, i + 1);
		shmem_barrier_all();
	}
	free(private);
	return end();
}
