/* SPDX-License-Identifier: BSD-3-Clause */
/* run: pes=16,64 paths=local,ucx-tcp,hosts time=120 not=valgrind,tsan */
/* Many more PEs than processors: they start, synchronise, add up, and end. */
#include "tests/lib/check.h"

static long mine, sum, arrived;

int main(void)
{
	begin();
	for (int i = 0; i < 10; i++)
		shmem_barrier_all();
	mine = me;
	CHECK_EQUAL(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1), 0);
	CHECK_EQUAL(sum, (long)npes * (npes - 1) / 2);
	shmem_long_atomic_inc(&arrived, (me * 7 + 3) % npes);
	shmem_long_atomic_inc(&arrived, 0);
	shmem_barrier_all();
	mine = arrived;
	CHECK_EQUAL(shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &mine, 1), 0);
	CHECK_EQUAL(sum, 2L * npes);
	return end();
}
