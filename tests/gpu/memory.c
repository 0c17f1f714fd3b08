/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The heap on GPUs: allocation, shmem_ptr, teams, contexts, threads; and memory of the program's
 * own that comes and goes.
 */
#include <pthread.h>

#include "gpu.h"

/* Blocks do not overlap, are aligned, and lie at the same place on all PEs. */
static void allocate(void)
{
	enum { BLOCKS = 40 };
	char *blocks[BLOCKS];
	uint64_t found;

	NOTE("allocation");
	CHECK(shmemg_malloc(0) == NULL);
	CHECK(shmemg_calloc(0, 8) == NULL && shmemg_calloc(8, 0) == NULL);
	CHECK(shmemg_align(64, 0) == NULL);
	shmemg_free(NULL);
	for (size_t i = 0; i < BLOCKS; i++) {
		size_t bytes = noise(i) % 5000 + 1;

		if (i % 4 == 1)
			blocks[i] = shmemg_align((size_t)64 << (i % 4), bytes);
		else if (i % 4 == 2)
			blocks[i] = shmemg_calloc(bytes, 1);
		else
			blocks[i] = shmemg_malloc(bytes);
		CHECK(blocks[i] && device_owns(blocks[i]) && device_owns(blocks[i] + bytes - 1));
		CHECK((uintptr_t)blocks[i] % (i % 4 == 1 ? (size_t)64 << (i % 4) : 16) == 0);
		if (i % 4 == 2)
			CHECK_FILL(read_from(blocks[i], bytes), 0, bytes);
		device_fill(blocks[i], (int)i + 1, bytes);
	}
	for (size_t i = 0; i < BLOCKS; i++) {
		size_t bytes = noise(i) % 5000 + 1;

		CHECK_FILL(read_from(blocks[i], bytes), (int)i + 1, bytes);
	}
	shmem_barrier_all();
	/* What this PE's right neighbour gets from the block is this PE's number. */
	for (size_t i = 0; i < BLOCKS; i++) {
		found = noise((uint64_t)me * BLOCKS + i);
		write_to(blocks[i], &found, noise(i) % 5000 + 1 < 8 ? 1 : 8);
	}
	shmem_barrier_all();
	for (size_t i = 0; i < BLOCKS; i++) {
		size_t bytes = noise(i) % 5000 + 1 < 8 ? 1 : 8;
		uint64_t wanted = noise((uint64_t)left() * BLOCKS + i);

		shmem_getmem(&found, blocks[i], bytes, left());
		CHECK_BYTES(&found, &wanted, bytes);
	}
	for (size_t i = 0; i < BLOCKS; i += 2)
		shmemg_free(blocks[i]);
	for (size_t i = 1; i < BLOCKS; i += 2)
		shmemg_free(blocks[i]);
}

/* What is freed can be had again; what is not there is refused by all. */
static void allocate_all(void)
{
	char *first, *second;

	NOTE("allocation of much");
	CHECK(shmemg_malloc((size_t)1 << 50) == NULL);
	CHECK(shmemg_calloc((size_t)1 << 40, (size_t)1 << 40) == NULL);
	first = on_gpu(3 << 20);
	shmemg_free(first);
	second = on_gpu(3 << 20);
	CHECK(first == second);
	shmemg_free(second);
}

/* The address of another PE's memory is one that the driver copies from and to. */
static void use_ptr(void)
{
	char *block = on_gpu(1000), *mine;
	int reached = 0;

	NOTE("shmem_ptr");
	CHECK(shmem_ptr(block, me) == block);
	device_fill(block, 100 + me, 1000);
	shmem_barrier_all();
	for (int pe = 0; pe < npes; pe++) {
		char *there = shmem_ptr(block + 100, pe);

		if (!there)
			continue;
		reached++;
		CHECK(device_owns(there));
		CHECK_FILL(read_from(there, 900), 100 + pe, 900);
	}
	/* All members of the team are reached; so may be others. */
	CHECK(reached >= shmem_team_n_pes(SHMEM_DEVICE_TEAM_SHARED));
	for (int i = 0; i < shmem_team_n_pes(SHMEM_DEVICE_TEAM_SHARED); i++)
		CHECK(shmem_ptr(block, shmem_team_translate_pe(SHMEM_DEVICE_TEAM_SHARED, i, SHMEM_TEAM_WORLD)));
	/* What shmem_ptr gives can be the local argument of a put. */
	mine = on_gpu(1000);
	clear(mine, 1000);
	if (shmem_ptr(block, right())) {
		shmem_putmem(mine, shmem_ptr(block, right()), 1000, me);
		shmem_quiet();
		CHECK_FILL(read_from(mine, 1000), 100 + right(), 1000);
	}
	shmemg_free(mine);
	CHECK(shmem_ptr(sources[OWN_GPU], me) == NULL);
	CHECK(shmem_addr_accessible(block, right()));
	CHECK(!shmem_addr_accessible(sources[OWN_GPU], right()));
	shmemg_free(block);
}

static void use_teams(void)
{
	shmem_team_t odd = SHMEM_TEAM_INVALID;

	NOTE("teams");
	CHECK_EQUAL(shmem_team_n_pes(SHMEM_DEVICE_TEAM_WORLD), npes);
	CHECK_EQUAL(shmem_team_my_pe(SHMEM_DEVICE_TEAM_WORLD), me);
	CHECK(shmem_team_my_pe(SHMEM_DEVICE_TEAM_SHARED) >= 0);
	CHECK_EQUAL(shmem_team_translate_pe(SHMEM_DEVICE_TEAM_SHARED, shmem_team_my_pe(SHMEM_DEVICE_TEAM_SHARED),
					    SHMEM_TEAM_WORLD),
		    me);
	shmem_team_sync(SHMEM_DEVICE_TEAM_WORLD);
	shmem_team_sync(SHMEM_DEVICE_TEAM_SHARED);
	shmem_team_split_strided(SHMEM_DEVICE_TEAM_WORLD, 1, 2, npes / 2, NULL, 0, &odd);
	CHECK((odd != SHMEM_TEAM_INVALID) == (me % 2 == 1));
	if (odd != SHMEM_TEAM_INVALID) {
		shmem_ctx_t context;
		int n = shmem_team_n_pes(odd), next = (shmem_team_my_pe(odd) + 1) % n;
		int from = shmem_team_translate_pe(odd, (shmem_team_my_pe(odd) + n - 1) % n, SHMEM_TEAM_WORLD);

		CHECK_EQUAL(shmem_team_create_ctx(odd, 0, &context), 0);
		device_fill(sources[ON_GPU], me, 100);
		clear(dests[ON_GPU], 100);
		shmem_team_sync(odd);
		shmem_ctx_putmem(context, dests[ON_GPU], sources[ON_GPU], 100, next);
		shmem_ctx_quiet(context);
		shmem_team_sync(odd);
		CHECK_FILL(read_from(dests[ON_GPU], 100), from, 100);
		shmem_ctx_destroy(context);
		shmem_team_destroy(odd);
	}
	shmem_barrier_all();
}

/* Each kind of context, with work of its own in flight. */
static void use_contexts(void)
{
	static const long kinds[] = {0, SHMEM_CTX_SERIALIZED, SHMEM_CTX_PRIVATE, SHMEM_CTX_NOSTORE};
	shmem_ctx_t contexts[4], device_context = SHMEM_CTX_INVALID;
	size_t bytes = 50000;

	NOTE("contexts");
	for (int i = 0; i < 4; i++) {
		CHECK_EQUAL(shmem_ctx_create(kinds[i], &contexts[i]), 0);
		write_noise(sources[ON_GPU] + (size_t)i * bytes, bytes, (uint64_t)(10 * me + i));
	}
	CHECK(shmem_ctx_create(SHMEM_DEVICE_CTX, &device_context) != 0);
	clear(dests[ON_GPU], 4 * bytes);
	shmem_barrier_all();
	for (int i = 0; i < 4; i++)
		shmem_ctx_putmem_nbi(contexts[i], dests[ON_GPU] + (size_t)i * bytes,
				     sources[ON_GPU] + (size_t)i * bytes, bytes, right());
	for (int i = 0; i < 4; i++)
		shmem_ctx_quiet(contexts[i]);
	shmem_barrier_all();
	for (int i = 0; i < 4; i++) {
		fill_noise(sources[OWN_HOST], bytes, (uint64_t)(10 * left() + i));
		CHECK_BYTES(read_from(dests[ON_GPU] + (size_t)i * bytes, bytes), sources[OWN_HOST], bytes);
		shmem_ctx_destroy(contexts[i]);
	}
	shmem_barrier_all();
}

enum { THREADS = 4, TURNS = 30 };

/* A thread that has no context of the driver current: the library brings its own. */
static void *work(void *argument)
{
	int thread = *(int *)argument;
	size_t bytes = 3000 + (size_t)thread * 1000, at = (size_t)thread * 10000;
	char *mine = malloc(bytes), *got = malloc(bytes);
	long *counter = (long *)(void *)(dests[ON_GPU] + 100000);
	shmem_ctx_t context;

	CHECK_EQUAL(shmem_ctx_create(SHMEM_CTX_PRIVATE, &context), 0);
	for (int turn = 0; turn < TURNS; turn++) {
		fill_noise(mine, bytes, (uint64_t)(1000 * me + 100 * thread + turn));
		shmem_ctx_putmem(context, dests[ON_GPU] + at, mine, bytes, right());
		shmem_ctx_quiet(context);
		shmem_ctx_getmem(context, got, dests[ON_GPU] + at, bytes, right());
		CHECK_BYTES(got, mine, bytes);
		shmem_ctx_long_atomic_inc(context, counter, 0);
	}
	shmem_ctx_quiet(context);
	shmem_ctx_destroy(context);
	free(mine);
	free(got);
	return NULL;
}

static void use_threads(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];
	long none = 0;

	NOTE("threads");
	write_to(dests[ON_GPU] + 100000, &none, sizeof none);
	shmem_barrier_all();
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		CHECK_EQUAL(pthread_create(&threads[i], NULL, work, &numbers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	shmem_barrier_all();
	CHECK_EQUAL(shmem_long_g((long *)(void *)(dests[ON_GPU] + 100000), 0), (long)npes * THREADS * TURNS);
	shmem_barrier_all();
}

/* The library must not remember what an address was: the program's memory comes and goes. */
static void use_own_memory(void)
{
	NOTE("memory of the program's own");
	for (int turn = 0; turn < 20; turn++) {
		size_t bytes = 1000 + (size_t)turn * 100;
		char *source = device_alloc(bytes), *dest = device_alloc(bytes);

		write_noise(source, bytes, (uint64_t)(100 * me + turn));
		shmem_putmem(dests[ON_GPU], source, bytes, right());
		shmem_barrier_all();
		shmem_getmem(dest, dests[ON_GPU], bytes, right());
		fill_noise(sources[OWN_HOST], bytes, (uint64_t)(100 * me + turn));
		CHECK_BYTES(read_from(dest, bytes), sources[OWN_HOST], bytes);
		shmem_barrier_all();
		device_free(source);
		device_free(dest);
	}
}

/* Kernels, and here the driver's fill, reach the symmetric heap on the host. */
static void pin_heap(void)
{
	char *block = symmetric(4096);

	NOTE("the pinned heap");
	CHECK_EQUAL(shmemx_gpu_pin_heap(), 0);
	CHECK_EQUAL(shmemx_gpu_pin_heap(), 0);
	DEVICE(cuMemsetD8_v2(device_of(block), 7, 4096));
	DEVICE(cuCtxSynchronize());
	CHECK_FILL(block, 7, 4096);
	memset(block, 0, 4096);
	shmem_barrier_all();
	device_fill(sources[ON_GPU], 9, 4096);
	shmem_putmem(block, sources[ON_GPU], 4096, right());
	shmem_barrier_all();
	CHECK_FILL(block, 9, 4096);
	shmem_free(block);
}

int main(void)
{
	begin_gpu(SHMEM_THREAD_MULTIPLE);
	open_rooms((size_t)1 << 20);
	allocate();
	allocate_all();
	use_ptr();
	use_teams();
	use_contexts();
	use_threads();
	use_own_memory();
	pin_heap();
	close_rooms();
	return end();
}
