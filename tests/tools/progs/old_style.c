/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program as they were written for the first releases: no init, no finalize, names with
 * underscores, pSync and pWrk arrays that the program fills in, waits without a comparison. Every
 * PE adds up what the routines give it.
 */
#include <mpp/shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 10
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static long bSync[_SHMEM_BARRIER_SYNC_SIZE];
static long cSync[_SHMEM_BCAST_SYNC_SIZE];
static long fSync[_SHMEM_COLLECT_SYNC_SIZE];
static long rSync[2][_SHMEM_REDUCE_SYNC_SIZE];
static int iWrk[MAX(N / 2 + 1, _SHMEM_REDUCE_MIN_WRKDATA_SIZE)];
static double dWrk[MAX(N / 2 + 1, _SHMEM_REDUCE_MIN_WRKDATA_SIZE)];

static int isrc[N], isum[N], ticket, slots[4 * N];
static double dsrc[N], dmax[N];
static long flag, barrier_flag = 0, lock = 0, shared, word = 40;

static void fail(int pe, const char *what)
{
	printf("PE %d: %s is wrong\n", pe, what);
	exit(1);
}

static void init_sync(void)
{
	int i;

	for (i = 0; i < _SHMEM_BARRIER_SYNC_SIZE; i++)
		bSync[i] = _SHMEM_SYNC_VALUE;
	for (i = 0; i < _SHMEM_BCAST_SYNC_SIZE; i++)
		cSync[i] = _SHMEM_SYNC_VALUE;
	for (i = 0; i < _SHMEM_COLLECT_SYNC_SIZE; i++)
		fSync[i] = _SHMEM_SYNC_VALUE;
	for (i = 0; i < _SHMEM_REDUCE_SYNC_SIZE; i++)
		rSync[0][i] = rSync[1][i] = _SHMEM_SYNC_VALUE;
	shmem_barrier_all();
}

static void collectives(int me, int npes)
{
	long *table = (long *)shmalloc(npes * sizeof(long)), *copy = (long *)shmalloc(N * sizeof(long)), mine[N];
	int i;

	for (i = 0; i < N; i++) {
		isrc[i] = me + i;
		dsrc[i] = me == npes / 2 ? 1000.5 + i : -me;
		mine[i] = me * 100 + i;
	}
	shmem_int_sum_to_all(isum, isrc, N, 0, 0, npes, iWrk, rSync[0]);
	shmem_double_max_to_all(dmax, dsrc, N, 0, 0, npes, dWrk, rSync[1]);
	for (i = 0; i < N; i++) {
		if (isum[i] != npes * (npes - 1) / 2 + npes * i)
			fail(me, "shmem_int_sum_to_all");
		if (dmax[i] != 1000.5 + i)
			fail(me, "shmem_double_max_to_all");
	}

	memset(copy, 0, N * sizeof(long));
	shmem_barrier(0, 0, npes, bSync);
	if (me == npes - 1)
		for (i = 0; i < N; i++)
			copy[i] = mine[i];
	shmem_barrier_all();
	shmem_broadcast64(copy, copy, N, npes - 1, 0, 0, npes, cSync);
	for (i = 0; i < N; i++)
		if (copy[i] != (npes - 1) * 100 + i)
			fail(me, "shmem_broadcast64");

	shared = me * 7;
	shmem_fcollect64(table, &shared, 1, 0, 0, npes, fSync);
	for (i = 0; i < npes; i++)
		if (table[i] != i * 7)
			fail(me, "shmem_fcollect64");
	shmem_barrier_all();
	shfree(copy);
	shfree(table);
}

static void atomics(int me, int npes)
{
	int mine = shmem_int_fadd(&ticket, 2, 0);

	if (mine < 0 || mine % 2)
		fail(me, "shmem_int_fadd");
	shmem_barrier_all();
	shmem_int_finc(&ticket, 0);
	shmem_int_inc(&ticket, 0);
	shmem_int_add(&ticket, 3, 0);
	shmem_barrier_all();
	if (shmem_int_g(&ticket, 0) != 7 * npes)
		fail(me, "the ticket");
	if (shmem_long_cswap(&word, 40, 41, me) != 40 || shmem_long_swap(&word, 42, me) != 41 || word != 42)
		fail(me, "shmem_long_cswap and swap");
	shmem_set_lock(&lock);
	shmem_long_p(&shared, shmem_long_g(&shared, 0) + 1, 0);
	shmem_quiet();
	shmem_clear_lock(&lock);
	shmem_barrier_all();
	if (shmem_long_g(&shared, 0) != npes) /* it was 0 on PE 0 */
		fail(me, "what the lock protects");
}

static void neighbours(int me, int npes)
{
	int right = (me + 1) % npes, left = (me + npes - 1) % npes, i, back[N];

	for (i = 0; i < N; i++)
		isrc[i] = me * N + i;
	shmem_barrier_all();
	shmem_iput32(slots, isrc, 2, 1, N, right);
	shmem_put32(slots + 3 * N, isrc, N, right);
	shmem_fence();
	shmem_long_p(&flag, 1, right);
	shmem_long_wait(&flag, 0);
	shmem_getmem(back, slots, sizeof back, me);
	for (i = 0; i < N; i++)
		if (slots[2 * i] != left * N + i || slots[3 * N + i] != left * N + i || back[i] != slots[i])
			fail(me, "what the neighbour has put");
	if (me == 0)
		for (i = 0; i < npes; i++)
			shmem_long_inc(&barrier_flag, i);
	shmem_long_wait_until(&barrier_flag, _SHMEM_CMP_GT, 0);
	shmem_clear_cache_inv();
	if (!shmem_pe_accessible(right) || !shmem_addr_accessible(&barrier_flag, right))
		fail(me, "what is accessible");
}

int main(void)
{
	int me, npes;

	start_pes(0);
	me = _my_pe();
	npes = _num_pes();
	init_sync();
	collectives(me, npes);
	atomics(me, npes);
	neighbours(me, npes);
	shmem_barrier_all();
	if (me == 0)
		printf("old style: right on %d PEs\n", npes);
	return 0;
}
