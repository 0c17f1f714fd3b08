/* SPDX-License-Identifier: BSD-3-Clause */
/* The least that a program does: for the time of starting and ending a job. */
#include <shmem.h>

int main(void)
{
	shmem_init();
	shmem_barrier_all();
	shmem_finalize();
	return 0;
}
