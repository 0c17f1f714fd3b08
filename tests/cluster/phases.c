/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job on hosts spends its time on: coming up, barriers (100, or as many as the argument
 * says), an exchange of all with all, going down. PE 0 prints the milliseconds, and how long it had
 * a processor until it was up.
 */
#include <shmem.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WORDS 16

static double ms(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static double now(void)
{
	return ms(CLOCK_MONOTONIC);
}

static void exchange(int me, int npes)
{
	long *dest = shmem_malloc((size_t)npes * WORDS * sizeof *dest);
	long *source = shmem_malloc((size_t)npes * WORDS * sizeof *source);

	if (!dest || !source)
		shmem_global_exit(1);
	for (int i = 0; i < npes * WORDS; i++)
		source[i] = (long)me * npes * WORDS + i;
	shmem_long_alltoall(SHMEM_TEAM_WORLD, dest, source, WORDS);
	for (int i = 0; i < npes * WORDS; i++)
		if (dest[i] != (long)(i / WORDS) * npes * WORDS + me * WORDS + i % WORDS) {
			fprintf(stderr, "phases: PE %d: word %d is wrong\n", me, i);
			shmem_global_exit(1);
		}
}

int main(int argc, char **argv)
{
	double start = now(), up, worked, synchronised, exchanged;
	int barriers = argc > 1 ? atoi(argv[1]) : 100;
	int me;

	shmem_init();
	up = now();
	worked = ms(CLOCK_PROCESS_CPUTIME_ID);
	me = shmem_my_pe();
	for (int i = 0; i < barriers; i++)
		shmem_barrier_all();
	synchronised = now();
	exchange(me, shmem_n_pes());
	exchanged = now();
	shmem_finalize();
	if (me == 0)
		printf("init %.1f ms, of the processor %.1f ms, %d barriers %.1f ms, alltoall %.1f ms, finalize %.1f ms\n",
		       up - start, worked, barriers, synchronised - up, exchanged - synchronised, now() - exchanged);
	return 0;
}
