/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7 ucx-tcp=2,3 ucx-shm=2 mixed=4,5 split=3 ofi=3 */
/*
 * Broadcasts of every type from every root, of nothing up to a MiB, one after the other without any
 * pause.
 */
#include "tests/lib/check.h"
#include "tests/lib/types.h"

#define LARGEST (1UL << 20)
#define UNTOUCHED 0x44

static _Alignas(16) unsigned char global_dest[LARGEST + 16], global_source[LARGEST + 16];

/* Fresh contents for each broadcast; the PEs that are not the root hold something else. */
static void try(int root, size_t bytes, size_t nelems, unsigned char *dest, unsigned char *source, uint64_t seed,
		int (*broadcast)(void *, const void *, size_t, int))
{
	unsigned char *expected = malloc(bytes + 16);

	fill_noise(source, bytes, seed * 64 + (uint64_t)me);
	fill_noise(expected, bytes, seed * 64 + (uint64_t)root);
	memset(dest, UNTOUCHED, bytes + 16);
	shmem_sync_all(); /* dest must be ready everywhere */
	CHECK_EQUAL(broadcast(dest, source, nelems, root), 0);
	memset(source, 0, bytes); /* ours again */
	CHECK_BYTES(dest, expected, bytes);
	CHECK_FILL(dest + bytes, UNTOUCHED, 16);
	free(expected);
}

#define TYPED(NAME, TYPE, LEAST, GREATEST)                                                     \
	static int broadcast_##NAME(void *dest, const void *source, size_t nelems, int root)   \
	{                                                                                      \
		return shmem_##NAME##_broadcast(SHMEM_TEAM_WORLD, dest, source, nelems, root); \
	}
RMA_TYPES(TYPED)

static int broadcast_mem(void *dest, const void *source, size_t bytes, int root)
{
	return shmem_broadcastmem(SHMEM_TEAM_WORLD, dest, source, bytes, root);
}

/* Many in a row, each to its own place: nothing between them but the calls. */
static void check_in_a_row(long count)
{
	long *all = symmetric((size_t)count * sizeof *all), *source = symmetric((size_t)count * sizeof *source);

	for (long i = 0; i < count; i++) {
		all[i] = -1;
		source[i] = i * 100 + me;
	}
	shmem_barrier_all();
	for (long i = 0; i < count; i++) {
		CHECK_EQUAL(shmem_long_broadcast(SHMEM_TEAM_WORLD, &all[i], &source[i], 1, (int)(i % npes)), 0);
		source[i] = -7;
	}
	for (long i = 0; i < count; i++)
		CHECK_EQUAL(all[i], i * 100 + i % npes);
	shmem_free(source);
	shmem_free(all);
}

int main(void)
{
	static const size_t lengths[] = {0, 1, 7, 100};
	static const size_t sizes[] = {1, 15, 4096, 8193, 65536, LARGEST - 1, LARGEST};
	unsigned char *heap_dest, *heap_source;
	uint64_t seed = 0;

	begin();
	heap_dest = shmem_align(16, LARGEST + 16);
	heap_source = shmem_align(16, LARGEST + 16);
	for (int root = 0; root < npes; root++) {
		for (size_t i = 0; i < 4; i++) {
			bool globals = (root + (int)i) % 2;

#define CALL(NAME, TYPE, LEAST, GREATEST)                                                   \
	NOTE("%s from PE %d, %zu elements", #NAME, root, lengths[i]);                       \
	try(root, lengths[i] * sizeof(TYPE), lengths[i], globals ? global_dest : heap_dest, \
	    globals ? global_source : heap_source, seed++, broadcast_##NAME);
			RMA_TYPES(CALL)
		}
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			NOTE("mem from PE %d, %zu bytes", root, sizes[i]);
			try(root, sizes[i], sizes[i], i % 2 ? global_dest : heap_dest,
			    i % 3 ? global_source : heap_source, seed++, broadcast_mem);
		}
	}
	NOTE("in a row");
	check_in_a_row(eased(2000));
	return end();
}
