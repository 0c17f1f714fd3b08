/* SPDX-License-Identifier: BSD-3-Clause */
/* run: ucx-tcp=4,6 ucx-shm=4 mixed=8 mixed3=7 cables-ring=6 paths=ucx-tcp,ucx-shm,mixed,mixed3,hosts time=120 */
/*
 * Reductions up and down the trees of a torus, and by its rings: shapes of as many nodes as there
 * are, both kinds of trees, elements of one to sixteen bytes, counts from one up, in place and not,
 * one after the other without a pause, with PEs that come late, mixed with broadcasts over the same
 * links.
 */
#include "tests/lib/check.h"
#include "tests/lib/boxes.h"

#include <shmemx.h>

#define LARGEST (900000UL + 16)

static const char *const algorithms[] = {"torus-both", "torus-up", "torus"}, *const rings[] = {"torus-rings",
											       "torus-lines"};
static unsigned char *dest, *source, *flood;

/* What PE i brings as its k-th element: small, so that sums are exact in every type. */
static long brought(int i, size_t k, uint64_t seed)
{
	return (long)(noise(seed * 1000003 + (uint64_t)i * 4099 + k % 4093) % 100 / (uint64_t)npes);
}

#define TYPED(NAME, TYPE)                                                                                           \
	static void sum_##NAME(size_t count, bool in_place, uint64_t seed)                                          \
	{                                                                                                           \
		TYPE *out = (TYPE *)dest, *in = in_place ? out : (TYPE *)source;                                    \
                                                                                                                    \
		NOTE("%s, %zu elements of " #NAME "%s", getenv("SHMEM_TORUS"), count, in_place ? " in place" : ""); \
		for (size_t k = 0; k < count; k++)                                                                  \
			in[k] = (TYPE)brought(me, k, seed);                                                         \
		shmem_sync_all();                                                                                   \
		if (noise(seed) % (uint64_t)npes == (uint64_t)me)                                                   \
			usleep((unsigned)(noise(seed + 1) % 3000));                                                 \
		CHECK_EQUAL(shmem_##NAME##_sum_reduce(SHMEM_TEAM_WORLD, out, in, count), 0);                        \
		for (size_t k = 0; k < count; k++) {                                                                \
			long sum = 0;                                                                               \
                                                                                                                    \
			for (int i = 0; i < npes; i++)                                                              \
				sum += brought(i, k, seed);                                                         \
			if (out[k] != (TYPE)sum)                                                                    \
				check_failed(__FILE__, __LINE__, "element %zu: got %g, expected %ld", k,            \
					     (double)out[k], sum);                                                  \
		}                                                                                                   \
	}
TYPED(char, char)
TYPED(int, int)
TYPED(double, double)
TYPED(longdouble, long double)

/* 16-bit numbers. What is averaged is a multiple of the number of PEs, so no division rounds. */
#define NARROW(NAME, TYPE)                                                                                          \
	static void add_##NAME(size_t count, bool in_place, bool average, uint64_t seed)                            \
	{                                                                                                           \
		TYPE *out = (TYPE *)dest, *in = in_place ? out : (TYPE *)source;                                    \
		float value;                                                                                        \
                                                                                                                    \
		NOTE("%s, %zu elements of " #NAME "%s", getenv("SHMEM_TORUS"), count, in_place ? " in place" : ""); \
		for (size_t k = 0; k < count; k++) {                                                                \
			value = (float)(brought(me, k, seed) * (average ? npes : 1));                               \
			shmemx_##NAME##_from_float(&in[k], &value, 1);                                              \
		}                                                                                                   \
		shmem_sync_all();                                                                                   \
		if (average)                                                                                        \
			shmemx_##NAME##_avg_reduce(SHMEM_TEAM_WORLD, out, in, count);                               \
		else                                                                                                \
			shmemx_##NAME##_sum_reduce(SHMEM_TEAM_WORLD, out, in, count);                               \
		for (size_t k = 0; k < count; k++) {                                                                \
			long sum = 0;                                                                               \
                                                                                                                    \
			for (int i = 0; i < npes; i++)                                                              \
				sum += brought(i, k, seed);                                                         \
			shmemx_##NAME##_to_float(&value, &out[k], 1);                                               \
			CHECK_EQUAL(value, (float)sum);                                                             \
		}                                                                                                   \
	}
NARROW(half, shmemx_half_t)
NARROW(bfloat16, shmemx_bfloat16_t)

static void reduce_in_a_row(uint64_t seed)
{
	static const size_t counts[] = {1, 3, 1025, 20001};

	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
		sum_char(counts[i], i % 2, seed++);
		sum_int(counts[i], i % 2 == 0, seed++);
		shmem_broadcastmem(SHMEM_TEAM_WORLD, flood, source, 70000, (int)(seed % (uint64_t)npes));
		sum_double(counts[i], i % 2, seed++);
		sum_longdouble(counts[i], i % 2 == 0, seed++);
	}
	add_half(3, false, true, seed++);
	add_half(20001, true, false, seed++);
	add_half(20001, false, true, seed++);
	add_bfloat16(20001, true, true, seed++);
	add_bfloat16(20001, false, false, seed++);
	sum_longdouble(LARGEST / sizeof(long double), false, seed++);
	sum_char(LARGEST, true, seed++);
}

/* The order of combining is fixed: equal calls give equal bits on all PEs, also if one is late. */
static void check_same_bits(size_t count, uint64_t seed)
{
	double *in = (double *)source, *out = (double *)dest, *first = (double *)flood;

	NOTE("%s, the same bits of %zu elements", getenv("SHMEM_TORUS"), count);
	for (int round = 0; round < 3; round++) {
		for (size_t k = 0; k < count; k++)
			in[k] = 1.0 / (double)(1 + noise(seed + (uint64_t)me * 5000 + k) % 1000003);
		if (noise(seed + (uint64_t)round) % (uint64_t)npes == (uint64_t)me)
			usleep(2000);
		shmem_double_sum_reduce(SHMEM_TEAM_WORLD, round ? out : first, in, count);
		if (round)
			CHECK_BYTES(out, first, count * sizeof *out);
	}
	shmem_barrier_all();
	shmem_getmem(in, first, count * sizeof *in, (me + 1) % npes);
	CHECK_BYTES(first, in, count * sizeof *in); /* as on the next PE */
	shmem_barrier_all();
}

/*
 * Along lines a PE is done while others still combine. A broadcast that follows at once may write
 * to the source, which they have read by then.
 */
static void broadcast_into_sources(long count, uint64_t seed)
{
	long *in = (long *)source, *out = (long *)dest;

	NOTE("%s, a broadcast into the sources of a sum of %ld", getenv("SHMEM_TORUS"), count);
	for (int round = 0; round < 3; round++) {
		for (long k = 0; k < count; k++)
			in[k] = me * 1000000L + k * 7 + round;
		shmem_barrier_all();
		if (noise(seed + (uint64_t)round) % (uint64_t)npes == (uint64_t)me)
			usleep(2000);
		shmem_long_sum_reduce(SHMEM_TEAM_WORLD, out, in, (size_t)count);
		shmem_long_broadcast(SHMEM_TEAM_WORLD, in, in, (size_t)count, (int)npes - 1);
		for (long k = 0; k < count; k++)
			CHECK_EQUAL(out[k], npes * (npes - 1) / 2 * 1000000L + npes * (k * 7 + round));
		shmem_barrier_all();
	}
}

static int live(const char *shape, int life, const char *algorithm)
{
	int nodes;

	if (shape && shape[0])
		setenv("SHMEM_TORUS", shape, 1);
	setenv("SHMEM_REDUCE_ALGORITHM", algorithm, 1);
	/* Along lines, one that puts straight into the others' dest. */
	setenv("SHMEM_BROADCAST_ALGORITHM", strcmp(algorithm, "torus-lines") ? "torus" : "tree", 1);
	begin();
	dest = symmetric(LARGEST);
	source = symmetric(LARGEST);
	flood = symmetric(LARGEST);
	nodes = count_nodes();
	if (shape) {
		reduce_in_a_row((uint64_t)life * 1000);
		check_same_bits(5000, (uint64_t)life * 1000 + 500);
		check_same_bits(300, (uint64_t)life * 1000 + 600);
		if (!strcmp(algorithm, "torus-lines"))
			broadcast_into_sources(3000, (uint64_t)life * 1000 + 700);
	}
	shmem_finalize();
	return nodes;
}

static uint64_t messages_sent(void)
{
	shmemx_stats_t stats;

	CHECK(shmemx_stats_read("inside", &stats) == 0);
	return stats.calls;
}

/* On a ring of four each node sends one message to each neighbour, whatever they sum. */
static void count_messages(void)
{
	uint64_t before;

	setenv("SHMEM_TORUS", "4", 1);
	setenv("SHMEM_REDUCE_ALGORITHM", "torus-lines", 1);
	setenv("SHMEM_STATS", "yes", 1);
	begin();
	dest = symmetric(LARGEST);
	source = symmetric(LARGEST);
	sum_int(1024, false, 1);
	before = messages_sent();
	shmem_int_sum_reduce(SHMEM_TEAM_WORLD, (int *)dest, (int *)source, 1024);
	shmem_int_sum_reduce(SHMEM_TEAM_WORLD, (int *)dest, (int *)dest, 1024);
	CHECK_EQUAL(messages_sent() - before, 4);
	shmem_finalize();
}

int main(void)
{
	char shape[64];
	int nodes;

	setenv("SHMEM_SYMMETRIC_SIZE", "32m", 1);
	nodes = live(NULL, 0, "auto");
	live("", 0, "doubling");
	live("", 0, "parts");
	for (int life = 0; write_shape(shape, nodes, life); life++) {
		live(shape, life, algorithms[life % 3]);
		live(shape, life, rings[life % 2]);
	}
	if (nodes == 4 && npes == 4)
		count_messages();
	return 0;
}
