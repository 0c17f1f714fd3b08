/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=2 ucx-tcp=2 ucx-shm=2 mixed=3 */
/*
 * Routines that the standard has removed: programs that still call them run, and what they have in
 * memory stays.
 */
#include "tests/lib/check.h"

int main(void)
{
	static long word = 5, other = 5;
	int right;

	begin();
	right = (me + 1) % npes;
	shmem_barrier_all();
	shmem_set_cache_inv();
	shmem_set_cache_line_inv(&word);
	CHECK_EQUAL((shmem_swap)(&word, 7 + me, right), 5);
	shmem_udcflush();
	shmem_udcflush_line(&word);
	shmem_barrier_all();
	shmem_clear_cache_line_inv(&word);
	shmem_clear_cache_inv();
	CHECK_EQUAL(word, 7 + (me + npes - 1) % npes);
	CHECK_EQUAL(other, 5);
	return end();
}
