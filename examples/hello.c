/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teaches how a program starts: the smallest OpenSHMEM program.
 *
 *     oshcc hello.c -o hello && oshrun -n 4 ./hello
 *
 * oshrun starts the same program several times. Each running copy is a PE (a processing element)
 * with a number of its own, from 0 up.
 */
#include <shmem.h>
#include <stdio.h>

int main(void)
{
	shmem_init();
	printf("Hello from PE %d of %d\n", shmem_my_pe(), shmem_n_pes());
	shmem_finalize();
	return 0;
}
