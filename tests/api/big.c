/* SPDX-License-Identifier: BSD-3-Clause */
/* run: long pes=2 paths=local,ucx-tcp,ucx-shm time=600 env=SHMEM_SYMMETRIC_SIZE=5200m not=asan,ubsan,tsan,valgrind */
/*
 * Transfers of 1 GiB and of 5 GiB, right to the byte: more than 2^31 and more than 2^32 bytes in
 * one call.
 *
 * The source is a window of little memory mapped again and again. Its length is no power of two,
 * nor divides one: a part that lands a round number of bytes beside its place shows.
 */
#include <sys/mman.h>

#include "tests/lib/check.h"

#define GIB (1UL << 30)
#define LARGEST (5 * GIB + 12345)
#define WINDOW ((16UL << 20) + 4096)

static unsigned char *window_again_and_again(size_t bytes)
{
	size_t windows = bytes / WINDOW + 1;
	int file = memfd_create("window", 0);
	unsigned char *base;

	CHECK(file >= 0 && ftruncate(file, (off_t)WINDOW) == 0);
	base = mmap(NULL, windows * WINDOW, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CHECK(base != MAP_FAILED);
	for (size_t i = 0; i < windows; i++)
		CHECK(mmap(base + i * WINDOW, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) !=
		      MAP_FAILED);
	close(file);
	return base;
}

static void check_pattern(const unsigned char *area, const unsigned char *window, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += WINDOW) {
		size_t part = bytes - at < WINDOW ? bytes - at : WINDOW;

		NOTE("within the window at %zu of %zu", at, bytes);
		CHECK_BYTES(area + at, window, part);
	}
	check_note[0] = '\0';
}

int main(void)
{
	static const size_t sizes[] = {GIB, LARGEST};
	unsigned char *area, *source;

	begin();
	CHECK(npes == 2);
	area = symmetric(LARGEST + 2);
	source = window_again_and_again(LARGEST);
	for (size_t i = 0; i < 2; i++) {
		size_t bytes = sizes[i];
		double start;

		fill_noise(source, WINDOW, 77 + i); /* the same on both */
		if (me == 1)
			area[0] = area[bytes + 1] = 0x99;
		shmem_barrier_all();
		start = seconds();
		if (me == 0) {
			shmem_char_put((char *)area + 1, (char *)source, bytes, 1);
			shmem_quiet();
			printf("put of %zu bytes: %.1f GB/s\n", bytes, (double)bytes / 1e9 / (seconds() - start));
		}
		shmem_barrier_all();
		if (me == 1) {
			check_pattern(area + 1, source, bytes);
			CHECK(area[0] == 0x99 && area[bytes + 1] == 0x99);
		}
		shmem_barrier_all();
		if (me == 0) {
			area[0] = area[bytes + 1] = 0x66;
			start = seconds();
			shmem_char_get((char *)area + 1, (char *)area + 1, bytes, 1);
			printf("get of %zu bytes: %.1f GB/s\n", bytes, (double)bytes / 1e9 / (seconds() - start));
			check_pattern(area + 1, source, bytes);
			CHECK(area[0] == 0x66 && area[bytes + 1] == 0x66);
		}
		shmem_barrier_all();
	}
	return end();
}
