/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thousand puts of a number, whose instructions are counted and compared with those of
 * putter.f90.
 */
#include <shmem.h>

void putter(int pe);
static double word, value = 3;

__attribute__((noinline)) void putter(int pe)
{
	for (int i = 0; i < 1000; i++)
		shmem_double_put(&word, &value, 1, pe);
}

int main(void)
{
	shmem_init();
	putter((shmem_my_pe() + 1) % shmem_n_pes());
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
