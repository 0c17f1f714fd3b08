/* SPDX-License-Identifier: BSD-3-Clause */
/* run: env=SHMEM_SYMMETRIC_SIZE=32m */
/* shmem_ptr: where it gives a pointer, loads and stores through it are as good as get and put. */
#include "tests/lib/check.h"

static long in_globals[10] = {1, 2, 3};
static long in_bss[5000];

/* The runner says on which path we are; then we know who must be reachable. */
static void check_who(const void *object, int pe)
{
	bool reachable = shmem_ptr(object, pe) != NULL;

	CHECK((shmem_team_ptr(SHMEM_TEAM_WORLD, object, pe) != NULL) == reachable);
	CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, object, pe) == NULL);
	if (pe == me)
		CHECK(shmem_ptr(object, pe) == object);
	if (on_path("local"))
		CHECK(reachable);
	if (on_path("ucx-tcp") || on_path("ucx-shm"))
		CHECK(reachable == (pe == me));
	if (on_path("mixed"))
		CHECK(reachable == (pe / 2 == me / 2));
}

static void check_object(long *object, size_t words)
{
	size_t last = words - 1;
	bool pointed[64] = {false};

	for (int pe = 0; pe < npes; pe++) {
		long *there = shmem_ptr(object, pe), *end_there = shmem_ptr(&object[last], pe);

		check_who(object, pe);
		CHECK((there == NULL) == (end_there == NULL));
		if (!there || pe == me)
			continue;
		pointed[pe % 64] = true;
		CHECK(end_there == there + last); /* an object is in one piece */
	}
	object[0] = object[last] = -1;
	shmem_barrier_all();
	/* Stores through the pointer are what the owner and third PEs read. */
	for (int pe = 0; pe < npes; pe++) {
		long *there = shmem_ptr(object, pe);

		if (there && pe == (me + 1) % npes)
			there[0] = 500 + me;
		if (there && pe == (me + 1) % npes)
			there[last] = 600 + me;
	}
	shmem_barrier_all();
	if (shmem_ptr(object, (me + npes - 1) % npes)) {
		CHECK_EQUAL(object[0], 500 + (me + npes - 1) % npes);
		CHECK_EQUAL(object[last], 600 + (me + npes - 1) % npes);
	}
	for (int pe = 0; pe < npes; pe++) {
		long *there = shmem_ptr(object, pe);

		if (there) {
			CHECK_EQUAL(shmem_long_g(object, pe), there[0]);
			CHECK_EQUAL(shmem_long_g(&object[last], pe), there[last]);
		}
	}
	shmem_barrier_all();
	/* What is put is what loads through the pointer see. */
	shmem_long_p(&object[last], 700 + me, (me + 1) % npes);
	shmem_barrier_all();
	for (int pe = 0; pe < npes; pe++)
		if (pointed[pe % 64])
			CHECK_EQUAL(((long *)shmem_ptr(object, pe))[last], 700 + (pe + npes - 1) % npes);
	shmem_barrier_all();
}

int main(void)
{
	long on_stack = 0, *from_malloc = malloc(64), *in_heap;

	begin();
	in_heap = symmetric(3000 * sizeof *in_heap);
	check_object(in_heap, 3000);
	check_object(in_bss, 5000);
	check_object(in_globals, 10);
	shmem_free(in_heap);
	in_heap = symmetric(20 << 20);
	check_object(in_heap, (20 << 20) / sizeof *in_heap);
	for (int pe = 0; pe < npes; pe++) {
		CHECK(shmem_ptr(&on_stack, pe) == NULL);
		CHECK(shmem_ptr(from_malloc, pe) == NULL);
		CHECK(shmem_ptr(NULL, pe) == NULL);
	}
	free(from_malloc);
	return end();
}
