/* SPDX-License-Identifier: BSD-3-Clause */
/* run: local=1,2,3,4,7,8 ucx-tcp=3 ucx-shm=2 mixed=5 split=3 */
/*
 * The deprecated collectives on active sets: every routine on all sets of these PEs; pSync is as
 * before when they return; sets with and without common members at once.
 */
#include "tests/lib/check.h"
#include "tests/lib/types.h"

#define MOST_PES 32
#define MOST 5
#define UNTOUCHED 0x66

static long sync_a[SHMEM_SYNC_SIZE], sync_b[SHMEM_SYNC_SIZE], barrier_sync[SHMEM_BARRIER_SYNC_SIZE];
static long *heap_sync;

/*
 * The set at work, and which of the two pSync arrays is next: one must not be used twice in a row.
 */
static struct {
	int start, log, size, me;
} set;
static bool flip;

static long *next_sync(void)
{
	flip = !flip;
	return flip ? sync_a : heap_sync;
}

static int pe_of(int i)
{
	return set.start + i * (1 << set.log);
}

static void check_sync(const long *psync)
{
	for (int i = 0; i < SHMEM_SYNC_SIZE; i++)
		CHECK_EQUAL(psync[i], SHMEM_SYNC_VALUE);
}

/* A pSync is as before for good only when nobody is in the call any more. */
static void check_after(void)
{
	shmem_barrier(set.start, set.log, set.size, barrier_sync);
	check_sync(sync_a);
	check_sync(heap_sync);
	shmem_barrier(set.start, set.log, set.size, barrier_sync); /* the same one, back to back */
}

#define ARGUMENTS set.start, set.log, set.size

#define MOVES(BITS, TYPE)                                                                                           \
	static void moves_##BITS(size_t n)                                                                          \
	{                                                                                                           \
		static TYPE source[MOST_PES * MOST * 2], dest[MOST_PES * MOST * 3], untouched[MOST_PES * MOST * 3]; \
		size_t all = (size_t)set.size * n, at = 0;                                                          \
		int root = set.size - 1;                                                                            \
                                                                                                                    \
		memset(untouched, UNTOUCHED, sizeof untouched);                                                     \
		for (size_t i = 0; i < MOST_PES * MOST * 2; i++)                                                    \
			source[i] = (TYPE)((TYPE)me * 1000 + (TYPE)i);                                              \
                                                                                                                    \
		NOTE("broadcast%d, %zu elements, PE %d + %d * 2^%d", BITS, n, set.start, set.size, set.log);        \
		memset(dest, UNTOUCHED, sizeof dest);                                                               \
		check_after();                                                                                      \
		shmem_broadcast##BITS(dest, source, n, root, ARGUMENTS, next_sync());                               \
		for (size_t i = 0; i < n && set.me != root; i++)                                                    \
			CHECK_EQUAL(dest[i], (TYPE)((TYPE)pe_of(root) * 1000 + (TYPE)i));                           \
		CHECK_BYTES(&dest[set.me == root ? 0 : n], untouched,                                               \
			    sizeof dest - (set.me == root ? 0 : n * sizeof(TYPE)));                                 \
                                                                                                                    \
		NOTE("fcollect%d, %zu elements, PE %d + %d * 2^%d", BITS, n, set.start, set.size, set.log);         \
		memset(dest, UNTOUCHED, sizeof dest);                                                               \
		check_after();                                                                                      \
		shmem_fcollect##BITS(dest, source, n, ARGUMENTS, next_sync());                                      \
		for (size_t i = 0; i < all; i++)                                                                    \
			CHECK_EQUAL(dest[i], (TYPE)((TYPE)pe_of((int)(i / n)) * 1000 + (TYPE)(i % n)));             \
		CHECK_BYTES(&dest[all], untouched, sizeof dest - all * sizeof(TYPE));                               \
                                                                                                                    \
		NOTE("collect%d, %zu elements, PE %d + %d * 2^%d", BITS, n, set.start, set.size, set.log);          \
		memset(dest, UNTOUCHED, sizeof dest);                                                               \
		check_after();                                                                                      \
		shmem_collect##BITS(dest, source, ((size_t)set.me + n) % MOST, ARGUMENTS, next_sync());             \
		for (int k = 0; k < set.size; k++)                                                                  \
			for (size_t i = 0; i < ((size_t)k + n) % MOST; i++)                                         \
				CHECK_EQUAL(dest[at++], (TYPE)((TYPE)pe_of(k) * 1000 + (TYPE)i));                   \
		CHECK_BYTES(&dest[at], untouched, sizeof dest - at * sizeof(TYPE));                                 \
                                                                                                                    \
		NOTE("alltoall%d, %zu elements, PE %d + %d * 2^%d", BITS, n, set.start, set.size, set.log);         \
		memset(dest, UNTOUCHED, sizeof dest);                                                               \
		check_after();                                                                                      \
		shmem_alltoall##BITS(dest, source, n, ARGUMENTS, next_sync());                                      \
		for (size_t i = 0; i < all; i++)                                                                    \
			CHECK_EQUAL(dest[i],                                                                        \
				    (TYPE)((TYPE)pe_of((int)(i / n)) * 1000 + (TYPE)((size_t)set.me * n + i % n))); \
		CHECK_BYTES(&dest[all], untouched, sizeof dest - all * sizeof(TYPE));                               \
                                                                                                                    \
		NOTE("alltoalls%d, %zu elements, PE %d + %d * 2^%d", BITS, n, set.start, set.size, set.log);        \
		memset(dest, UNTOUCHED, sizeof dest);                                                               \
		check_after();                                                                                      \
		shmem_alltoalls##BITS(dest, source, 3, 2, n, ARGUMENTS, next_sync());                               \
		for (size_t i = 0; i < all; i++) {                                                                  \
			CHECK_EQUAL(dest[3 * i], (TYPE)((TYPE)pe_of((int)(i / n)) * 1000 +                          \
							(TYPE)(((size_t)set.me * n + i % n) * 2)));                 \
			CHECK_BYTES(&dest[3 * i + 1], untouched, 2 * sizeof(TYPE));                                 \
		}                                                                                                   \
		check_after();                                                                                      \
	}
MOVES(32, uint32_t)
MOVES(64, uint64_t)

#define ADD(a, b) ((a) + (b))
#define MULTIPLY(a, b) ((a) * (b))
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))

static int value(int pe, size_t i)
{
	return (int)(noise((uint64_t)pe * 1000 + i) % 3) + 1;
}

/* Into another array, then in place. */
#define TO_ALL(NAME, TYPE, OP, STEP)                                                                              \
	static void OP##_##NAME(int n)                                                                            \
	{                                                                                                         \
		static TYPE source[2 * MOST], dest[2 * MOST + 1], work[2 * MOST + SHMEM_REDUCE_MIN_WRKDATA_SIZE]; \
                                                                                                                  \
		NOTE(#NAME "_" #OP "_to_all, %d elements, PE %d + %d * 2^%d", n, set.start, set.size, set.log);   \
		memset(dest, UNTOUCHED, sizeof dest);                                                             \
		for (int i = 0; i < n; i++)                                                                       \
			source[i] = (TYPE)value(me, (size_t)i);                                                   \
		check_after();                                                                                    \
		shmem_##NAME##_##OP##_to_all(dest, source, n, ARGUMENTS, work, next_sync());                      \
		shmem_##NAME##_##OP##_to_all(source, source, n, ARGUMENTS, work, next_sync());                    \
		for (int i = 0; i < n; i++) {                                                                     \
			TYPE expected = (TYPE)value(pe_of(0), (size_t)i);                                         \
                                                                                                                  \
			for (int k = 1; k < set.size; k++)                                                        \
				expected = (TYPE)STEP(expected, (TYPE)value(pe_of(k), (size_t)i));                \
			CHECK(dest[i] == expected);                                                               \
			CHECK(source[i] == expected);                                                             \
		}                                                                                                 \
		CHECK_FILL(&dest[n], UNTOUCHED, sizeof dest[n]);                                                  \
		check_after();                                                                                    \
	}

#define LOGIC_TYPES_OF_OLD(X) X(short, short) X(int, int) X(long, long) X(longlong, long long)
#define MINMAX_TYPES_OF_OLD(X) LOGIC_TYPES_OF_OLD(X) X(float, float) X(double, double) X(longdouble, long double)
#define SUM_TYPES_OF_OLD(X) MINMAX_TYPES_OF_OLD(X) X(complexd, double _Complex) X(complexf, float _Complex)
#define LOGIC(NAME, TYPE) TO_ALL(NAME, TYPE, and, AND) TO_ALL(NAME, TYPE, or, OR) TO_ALL(NAME, TYPE, xor, XOR)
#define MINMAX(NAME, TYPE) TO_ALL(NAME, TYPE, max, MAX) TO_ALL(NAME, TYPE, min, MIN)
#define SUM(NAME, TYPE) TO_ALL(NAME, TYPE, sum, ADD) TO_ALL(NAME, TYPE, prod, MULTIPLY)
LOGIC_TYPES_OF_OLD(LOGIC)
MINMAX_TYPES_OF_OLD(MINMAX)
SUM_TYPES_OF_OLD(SUM)

static void (*const reductions[])(int) = {
#define LOGIC_ROW(NAME, TYPE) and_##NAME, or_##NAME, xor_##NAME,
#define MINMAX_ROW(NAME, TYPE) max_##NAME, min_##NAME,
#define SUM_ROW(NAME, TYPE) sum_##NAME, prod_##NAME,
	LOGIC_TYPES_OF_OLD(LOGIC_ROW) MINMAX_TYPES_OF_OLD(MINMAX_ROW) SUM_TYPES_OF_OLD(SUM_ROW)};

static void on_this_set(void)
{
	for (size_t n = 0; n <= MOST; n += n ? 4 : 1) {
		moves_32(n);
		moves_64(n);
	}
	for (size_t r = 0; r < sizeof reductions / sizeof reductions[0]; r++)
		for (int n = 0; n <= 2 * MOST; n += n ? 2 * MOST - 1 : 1)
			if (is_selected(r + (size_t)n))
				reductions[r](n);
}

/*
 * The two halves by odd and even work at once, with the same arrays: they have no member in common.
 */
static void check_sets(void)
{
	for (int log = 0; log < 3; log++)
		for (int start = 0; start < 1 << log && start < npes; start++) {
			if ((me - start) % (1 << log) != 0 || me < start)
				continue;
			set.start = start;
			set.log = log;
			set.size = (npes - start + (1 << log) - 1) / (1 << log);
			set.me = (me - start) / (1 << log);
			on_this_set();
		}
	shmem_barrier_all();
}

/* Sets that overlap, each with its own array, one PE late in one of them. */
static void check_overlap(long rounds)
{
	static long mine, all, some, work[SHMEM_REDUCE_MIN_WRKDATA_SIZE + 1];

	NOTE("overlapping sets");
	for (long round = 0; round < rounds; round++) {
		long *psync = round % 2 ? sync_a : heap_sync;

		mine = me + round;
		if (me >= npes / 2) {
			int size = npes - npes / 2;

			shmem_long_sum_to_all(&some, &mine, 1, npes / 2, 0, size, work, sync_b);
			CHECK_EQUAL(some, (long)size * (npes / 2) + (long)size * (size - 1) / 2 + size * round);
		}
		shmem_long_sum_to_all(&all, &mine, 1, 0, 0, npes, work, psync);
		CHECK_EQUAL(all, (long)npes * (npes - 1) / 2 + npes * round);
		shmem_sync(0, 0, npes, barrier_sync);
	}
}

/* A barrier completes puts; a sync lets nobody go before all are there. */
static void check_barrier(long rounds)
{
	static long word, count;
	int right = (me + 1) % npes, left = (me + npes - 1) % npes;

	NOTE("barrier");
	for (long round = 1; round <= rounds; round++) {
		long value = round * 100 + me;

		shmem_long_put_nbi(&word, &value, 1, right);
		shmem_long_atomic_inc(&count, 0);
		shmem_barrier(0, 0, npes, barrier_sync);
		CHECK_EQUAL(word, round * 100 + left);
		CHECK_EQUAL(shmem_long_g(&count, 0), round * npes);
		shmem_sync(0, 0, npes, barrier_sync);
	}
	check_sync(barrier_sync);
}

int main(void)
{
	begin();
	CHECK(npes <= MOST_PES);
	heap_sync = shmem_calloc(SHMEM_SYNC_SIZE, sizeof *heap_sync);
	check_sets();
	check_overlap(eased(200));
	check_barrier(eased(200));
	shmem_free(heap_sync);
	return end();
}
