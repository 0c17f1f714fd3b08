/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * neighbours REAL: comes up, connects to the PEs next to it among the REAL ones of a job that may
 * claim to be larger, and prints what that took: bytes allocated and microseconds.
 */
#include <malloc.h>
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long here[2], counted;

static size_t allocated(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	size_t before = allocated(), up, connected;
	double start = now_us(), init, contact;
	int real = argc > 1 ? atoi(argv[1]) : 1, me, next, previous;

	shmem_init();
	init = now_us() - start;
	up = allocated();
	me = shmem_my_pe();
	next = (me + 1) % real;
	previous = (me + real - 1) % real;

	start = now_us();
	shmem_long_p(&here[0], 1 + me, next);
	shmem_long_p(&here[1], 1 + me, previous);
	shmem_quiet();
	contact = now_us() - start;
	connected = allocated();
	shmem_long_wait_until(&here[0], SHMEM_CMP_EQ, 1 + previous);
	shmem_long_wait_until(&here[1], SHMEM_CMP_EQ, 1 + next);

	shmem_long_atomic_inc(&counted, 0);
	if (me == 0) {
		shmem_long_wait_until(&counted, SHMEM_CMP_EQ, real);
		printf("pes %d init_bytes %zu init_us %.0f contact_bytes %zu contact_us %.0f\n", shmem_n_pes(),
		       up - before, init, connected - up, contact);
		fflush(stdout);
		shmem_global_exit(0);
	}
	for (;;)
		shmem_long_wait_until(&counted, SHMEM_CMP_EQ, -1);
}
