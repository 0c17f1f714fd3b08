/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,4,8 */
/*
 * After the last finalize the library may be initialised again, with everything as at the first
 * time.
 */
#include "tests/lib/check.h"

static long inbox[64];
static long counter;

static void live(int life, int first_me, int first_npes)
{
	void *fresh;
	long *words;
	int up = 0;

	begin();
	shmem_query_initialized(&up);
	CHECK(up);
	if (life > 0) {
		CHECK_EQUAL(me, first_me);
		CHECK_EQUAL(npes, first_npes);
	}

	/* The heap is empty again: nearly all of it can be had in one piece. */
	fresh = shmem_malloc(24 << 20);
	CHECK(fresh != NULL);
	shmem_free(fresh);

	words = shmem_calloc((size_t)npes, sizeof *words);
	CHECK(words != NULL);
	for (int pe = 0; pe < npes; pe++) {
		shmem_long_p(&words[me], 1000 * life + me, pe);
		shmem_long_p(&inbox[me % 64], 2000 * life + me, pe);
		shmem_long_atomic_inc(&counter, pe);
	}
	shmem_barrier_all();
	for (int pe = 0; pe < npes; pe++)
		CHECK_EQUAL(words[pe], 1000 * life + pe);
	for (int pe = 0; pe < npes && pe < 64; pe++)
		CHECK_EQUAL(inbox[pe], 2000 * life + pe);
	CHECK_EQUAL(counter, (long)(life + 1) * npes); /* static data outlives the library */
	/* Without freeing: the heap goes as a whole. */
	shmem_finalize();
	shmem_query_initialized(&up);
	CHECK(!up);
}

/* Lives that are over at once: some PEs are back before others are quite gone. */
static void hurry(void)
{
	for (int life = 0; life < 20; life++) {
		begin();
		shmem_long_p(&inbox[0], 3000 * life + me, (me + 1) % npes);
		shmem_barrier_all();
		CHECK_EQUAL(inbox[0], 3000 * life + (me + npes - 1) % npes);
		shmem_finalize();
		sleep_for(me % 3 * 0.001);
	}
}

int main(void)
{
	int first_me = 0, first_npes = 0;

	setenv("SHMEM_SYMMETRIC_SIZE", "32m", 1);
	for (int life = 0; life < 4; life++) {
		live(life, first_me, first_npes);
		first_me = me;
		first_npes = npes;
	}
	hurry();
	return 0;
}
