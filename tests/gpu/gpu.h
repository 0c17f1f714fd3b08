/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_GPU_GPU_H
#define TESTS_GPU_GPU_H

/*
 * For the tests of memory on GPUs. They fill and read it by the driver (device.h), not by the
 * library, and compare it with what they compute on the host.
 */
#include <shmemg.h>

#include "device.h"
#include "tests/lib/check.h"
#include "tests/lib/types.h"

#define UNTOUCHED 0x5a

/* Where memory lies. The first three kinds are symmetric. */
enum where { ON_GPU, ON_HOST, IN_GLOBALS, OWN_GPU, OWN_HOST, WHERES };
#define SYMMETRIC 3
__attribute__((unused)) static const char *const where_names[WHERES] = {"GPU's heap", "host's heap", "globals",
									"private GPU memory", "private host memory"};

/* One piece of memory of each kind, of ROOM bytes, for dests, and one for sources. */
#define MOST_ROOM ((size_t)3 << 20)
__attribute__((unused)) static char *dests[WHERES], *sources[WHERES], *scratch;
__attribute__((unused)) static size_t room;
static _Alignas(64) char globals[2][MOST_ROOM];

__attribute__((unused)) static bool is_gpu(enum where where)
{
	return where == ON_GPU || where == OWN_GPU;
}

/* Is there anything in it for these tests? */
__attribute__((unused)) static bool is_pair(enum where one, enum where other)
{
	return is_gpu(one) || is_gpu(other);
}

__attribute__((unused)) static void *on_gpu(size_t bytes)
{
	void *memory = shmemg_malloc(bytes);

	if (!memory)
		check_failed(__FILE__, __LINE__, "shmemg_malloc(%zu) returned NULL", bytes);
	return memory;
}

__attribute__((unused)) static void begin_gpu(int level)
{
	int provided = 0;

	device_start();
	CHECK_EQUAL(shmem_init_thread(level | SHMEM_DEVICE_HOST_INIT, &provided), 0);
	me = shmem_my_pe();
	npes = shmem_n_pes();
	CHECK(provided & SHMEM_DEVICE_HOST_INIT);
	CHECK(!(provided & SHMEM_DEVICE_KERNEL_INIT));
	CHECK_EQUAL(provided & 0xff, level);
	/* The library leaves the program's context current. */
	DEVICE(cuCtxSetCurrent(device.context));
}

__attribute__((unused)) static void open_rooms(size_t bytes)
{
	room = bytes;
	CHECK(room <= MOST_ROOM);
	for (int i = 0; i < 2; i++) {
		char **rooms = i ? sources : dests;

		rooms[ON_GPU] = on_gpu(bytes);
		rooms[ON_HOST] = symmetric(bytes);
		rooms[IN_GLOBALS] = globals[i];
		rooms[OWN_GPU] = device_alloc(bytes);
		rooms[OWN_HOST] = malloc(bytes);
	}
	scratch = malloc(bytes);
}

__attribute__((unused)) static void close_rooms(void)
{
	shmem_barrier_all();
	for (int i = 0; i < 2; i++) {
		char **rooms = i ? sources : dests;

		shmemg_free(rooms[ON_GPU]);
		shmem_free(rooms[ON_HOST]);
		device_free(rooms[OWN_GPU]);
		free(rooms[OWN_HOST]);
	}
	free(scratch);
}

__attribute__((unused)) static void write_to(void *dest, const void *source, size_t bytes)
{
	if (bytes > 0 && device_owns(dest))
		device_copy(dest, source, bytes);
	else
		memcpy(dest, source, bytes);
}

__attribute__((unused)) static const char *read_from(const void *source, size_t bytes)
{
	CHECK(bytes <= room);
	if (bytes > 0 && device_owns(source))
		device_copy(scratch, source, bytes);
	else
		memcpy(scratch, source, bytes);
	return scratch;
}

__attribute__((unused)) static void clear(void *dest, size_t bytes)
{
	if (device_owns(dest))
		device_fill(dest, UNTOUCHED, bytes);
	else
		memset(dest, UNTOUCHED, bytes);
}

__attribute__((unused)) static void write_noise(void *dest, size_t bytes, uint64_t seed)
{
	fill_noise(scratch, bytes, seed);
	write_to(dest, scratch, bytes);
}

__attribute__((unused)) static int right(void)
{
	return (me + 1) % npes;
}

__attribute__((unused)) static int left(void)
{
	return (me + npes - 1) % npes;
}

#endif
