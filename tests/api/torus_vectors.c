/* SPDX-License-Identifier: BSD-3-Clause */
/* run: ucx-tcp=4,6 ucx-shm=4 mixed=8 mixed3=7 cables-ring=6 paths=ucx-tcp,ucx-shm,mixed,mixed3,hosts time=120 */
/*
 * Blocks that differ in size, and reduce-scatter, along the links of a torus: shapes of as many
 * nodes as there are, one call after the other without a pause, mixed with other collectives over
 * the same links, with PEs that come late, on the world and on its rows.
 */
#include "tests/lib/boxes.h"
#include "tests/lib/vectors.h"

#define LARGEST 20011 /* elements */

static void maybe_late(uint64_t seed)
{
	if (noise(seed) % (uint64_t)npes == (uint64_t)me)
		usleep((unsigned)(noise(seed + 1) % 3000));
}

/* Small, so that sums are exact in every type. */
static long brought(int pe, size_t k, uint64_t seed)
{
	return (long)(noise(seed * 1000003 + (uint64_t)pe * 4099 + k) % 4);
}

#define TYPED(NAME, TYPE, CODE, OP, BRING, SHOULD)                                              \
	static void scatter_##NAME(shmem_team_t team, size_t count, uint64_t seed)              \
	{                                                                                       \
		int n = shmem_team_n_pes(team), mine = shmem_team_my_pe(team);                  \
		TYPE *from = (TYPE *)(void *)source, *own = from + (size_t)mine * count;        \
		TYPE *to = seed % 2 ? own : (TYPE *)(void *)dest;                               \
                                                                                                \
		NOTE("%s, reduce_scatter of %zu " #NAME "%s", getenv("SHMEM_TORUS"), count,     \
		     seed % 2 ? " in place" : "");                                              \
		memset(dest, UNTOUCHED, (count + 1) * sizeof(TYPE));                            \
		for (size_t k = 0; k < count * (size_t)n; k++)                                  \
			from[k] = (TYPE)(BRING(brought(mine, k, seed), n));                     \
		maybe_late(seed);                                                               \
		CHECK_EQUAL(shmemx_reduce_scatter(team, to, from, count, CODE, OP), 0);         \
		for (size_t k = 0; k < count; k++) {                                            \
			long sum = 0;                                                           \
                                                                                                \
			for (int i = 0; i < n; i++)                                             \
				sum += brought(i, (size_t)mine * count + k, seed);              \
			CHECK_EQUAL(to[k], (TYPE)(SHOULD(sum)));                                \
		}                                                                               \
		for (size_t k = 0; k < count * (size_t)n; k++)                                  \
			if (to != own || k / (count ? count : 1) != (size_t)mine)               \
				CHECK_EQUAL(from[k], (TYPE)(BRING(brought(mine, k, seed), n))); \
		if (to != own)                                                                  \
			CHECK_FILL(to + count, UNTOUCHED, sizeof(TYPE));                        \
		memset(source, 0xff, count *(size_t)n * sizeof(TYPE));                          \
	}
#define PLAIN(value, n) (value)
#define TIMES(value, n) ((value) * (n))
#define SUM(sum) (sum)
/* The upper half of a float, whose lower half is 0 for small integers. */
static uint16_t bits(long value)
{
	float wide = (float)value;
	uint32_t word;

	memcpy(&word, &wide, sizeof word);
	return (uint16_t)(word >> 16);
}
#define NARROW(value, n) bits((value) * (n))
TYPED(uint8, uint8_t, SHMEMX_UINT8, SHMEMX_SUM, PLAIN, SUM)
TYPED(int, int, SHMEMX_INT, SHMEMX_SUM, PLAIN, SUM)
TYPED(double, double, SHMEMX_DOUBLE, SHMEMX_AVG, TIMES, SUM)
TYPED(complexd, double complex, SHMEMX_COMPLEXD, SHMEMX_SUM, PLAIN, SUM)
TYPED(bfloat16, uint16_t, SHMEMX_BFLOAT16, SHMEMX_AVG, NARROW, bits)

static void check_team(shmem_team_t team, size_t most, uint64_t seed)
{
	static const size_t counts[] = {0, 3, 500, 3001, LARGEST};

	for (size_t i = 0; i < sizeof counts / sizeof counts[0] && counts[i] <= most; i++) {
		const struct vector_type *type = &vector_types[(seed + i) % VECTOR_TYPES];
		size_t fits = counts[i] * sizeof(int) / type->size;

		check_allgatherv(team, type, fits, (int)(i % 3), ++seed);
		scatter_int(team, counts[i], ++seed);
		check_alltoallv(team, type, fits, (int)(i % 3), ++seed);
		scatter_bfloat16(team, counts[i], ++seed);
		shmem_team_sync(team);
		shmem_fcollectmem(team, dest, source, 3000);
		check_alltoallv(team, &vector_types[6], counts[i], (int)(i + 1) % 3, ++seed);
		scatter_double(team, counts[i] / 2, ++seed);
		shmem_team_sync(team);
		shmem_long_sum_reduce(team, (long *)(void *)dest, (long *)(void *)source, 2000);
		scatter_uint8(team, counts[i], ++seed);
		scatter_complexd(team, counts[i] / 4, ++seed);
		if (counts[i] == 500) { /* others between those along the links */
			way = seed % 4 < 2 ? NONBLOCKING : PLAN;
			check_alltoallv(team, type, fits, (int)i % 3, ++seed);
			check_allgatherv(team, type, fits, (int)(i + 1) % 3, ++seed);
			way = BLOCKING;
		}
		check_gather(team, type, fits, (int)i % shmem_team_n_pes(team), ++seed);
		check_scatter(team, type, fits, (int)i % shmem_team_n_pes(team), ++seed);
	}
}

static int live(const char *shape, int life)
{
	shmem_team_t row, column;
	int nodes;

	if (shape)
		setenv("SHMEM_TORUS", shape, 1);
	setenv("SHMEM_ALLTOALL_ALGORITHM", life % 3 ? "torus-links" : "torus", 1);
	setenv("SHMEM_COLLECT_ALGORITHM", life % 2 ? "torus-lines" : "torus", 1);
	setenv("SHMEM_REDUCE_ALGORITHM", life % 4 == 3 ? "auto" : "torus-rings", 1);
	begin();
	make_room((size_t)npes * (LARGEST + 4) * sizeof(int));
	nodes = count_nodes();
	if (shape) {
		check_team(SHMEM_TEAM_WORLD, life % 3 ? 3001 : LARGEST, (uint64_t)life * 1000);
		shmem_team_split_2d(SHMEM_TEAM_WORLD, npes % 3 ? 2 : 3, NULL, 0, &row, NULL, 0, &column);
		check_team(row, 500, (uint64_t)life * 1000 + 500);
		check_team(column, 3001, (uint64_t)life * 1000 + 700);
		shmem_team_destroy(row);
		shmem_team_destroy(column);
	}
	free(expected);
	shmem_finalize();
	return nodes;
}

static uint64_t bytes_of_run(shmemx_plan_t of)
{
	shmemx_stats_t before, after;

	shmem_barrier_all();
	CHECK(shmemx_stats_read("inside", &before) == 0);
	shmemx_plan_start(of);
	shmemx_plan_wait(of);
	CHECK(shmemx_stats_read("inside", &after) == 0);
	shmem_barrier_all();
	return after.bytes - before.bytes;
}

/* What PE 0 has for PE 2 goes by PEs 1 and 3, as in the collectives without a plan. */
static void count_forwarded(void)
{
	enum { BLOCK = 40000 };
	const size_t brings[4] = {BLOCK}, to[4] = {0, 0, me == 0 ? BLOCK : 0}, from[4] = {me == 2 ? BLOCK : 0};
	shmemx_plan_t gather, exchange;

	NOTE("a ring of four");
	make_room(BLOCK);
	memset(source, me + 1, BLOCK);
	CHECK_EQUAL(shmemx_allgatherv_init(SHMEM_TEAM_WORLD, dest, source, brings, NULL, SHMEMX_UINT8, SHMEMX_PLAN_AUTO,
					   &gather),
		    0);
	CHECK_EQUAL(shmemx_alltoallv_init(SHMEM_TEAM_WORLD, dest, source, from, NULL, to, NULL, SHMEMX_UINT8,
					  SHMEMX_PLAN_AUTO, &exchange),
		    0);
	for (int run = 0; run < 3; run++) {
		memset(dest, 0, BLOCK);
		CHECK((bytes_of_run(gather) >= BLOCK / 4) == (me != 2));
		CHECK_FILL(dest, 1, BLOCK);
		memset(dest, 0, BLOCK);
		CHECK(bytes_of_run(exchange) >= BLOCK);
		CHECK_FILL(dest, me == 2 ? 1 : 0, BLOCK);
	}
	shmemx_plan_free(exchange);
	shmemx_plan_free(gather);
}

int main(void)
{
	char shape[64];
	int nodes;

	setenv("SHMEM_SYMMETRIC_SIZE", "32m", 1);
	nodes = live(NULL, 0);
	for (int life = 0; write_shape(shape, nodes, life); life++)
		live(shape, life);
	if (nodes != 4 || npes != 4)
		return 0;
	setenv("SHMEM_TORUS", "4", 1);
	setenv("SHMEM_ALLTOALL_ALGORITHM", "torus-links", 1);
	setenv("SHMEM_COLLECT_ALGORITHM", "torus", 1);
	setenv("SHMEM_STATS", "yes", 1);
	begin();
	count_forwarded();
	free(expected);
	shmem_finalize();
	return 0;
}
